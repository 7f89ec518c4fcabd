"""A sign of life while something takes longer than a second; nothing at all before that."""

import time
from collections.abc import Callable

__all__ = ["Patience"]

QUIET_S = 1.0
BETWEEN_S = 0.2


class Patience:
    """Tell a waiting person what is waited for, in one line that is cleared at the end.

    Args:
        progress: called with the line, and with "" when the wait is over if it was ever called.
            None: nothing is told. It should replace what it showed before; what it shows must
            not stay in a notebook's stored output.
        clock: seconds that only grow.
    """

    def __init__(
        self, progress: Callable[[str], None] | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._progress = progress
        self._clock = clock
        self._began_s = clock()
        self._next_s = self._began_s + QUIET_S
        self._told = False

    def __enter__(self) -> "Patience":
        return self

    def __exit__(self, *_: object) -> None:
        if self._told:
            self._progress("")

    @property
    def waited_s(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began_s

    def tick(self, words: str) -> None:
        """Tell `words` and the seconds so far, if it is time to."""
        if self._progress is None or self._clock() < self._next_s:
            return
        self._next_s = self._clock() + BETWEEN_S
        self._told = True
        self._progress(f"{words}, {self.waited_s:.1f} s")
