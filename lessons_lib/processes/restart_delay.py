"""How long a supervisor waits before it starts a crashed process again."""

from dataclasses import dataclass

from lessons_lib.errors import real_number, whole_number

__all__ = ["KUBERNETES", "RestartDelay"]


@dataclass(frozen=True)
class RestartDelay:
    """A delay that grows with each crash in a row, up to a cap, and begins anew after health.

    No delay is `RestartDelay(0)`, a fixed one `RestartDelay(1000, factor=1)`.

    Args:
        first_ms: the first wait, in milliseconds.
        factor: each wait is this many times the one before.
        cap_ms: the longest wait.
        reset_after_ms: a process that has lived this long counts as healthy: its next crash is
            the first one again. It must be longer than a crash takes, or the delay never grows.
        at_once: how many restarts are made without any wait before that.
    """

    first_ms: int = 100
    factor: float = 2
    cap_ms: int = 60_000
    reset_after_ms: int = 10_000
    at_once: int = 0

    def __post_init__(self) -> None:
        whole_number("first_ms", self.first_ms, low=0)
        real_number("factor", self.factor, low=1)
        whole_number("cap_ms", self.cap_ms, low=0)
        whole_number("reset_after_ms", self.reset_after_ms, low=1)
        whole_number("at_once", self.at_once, low=0)

    def wait_ms(self, crashes: int) -> int:
        """Return the wait after so many crashes in a row, at least 1, in milliseconds."""
        growing = whole_number("crashes", crashes, low=1) - self.at_once
        if growing < 1 or self.first_ms == 0:
            return 0
        wait = self.first_ms
        for _ in range(growing - 1):
            if wait >= self.cap_ms or self.factor == 1:
                break
            wait *= self.factor
        return int(min(wait, self.cap_ms))


KUBERNETES = RestartDelay(10_000, 2, 300_000, 600_000, at_once=1)
"""0, 10, 20, 40, … 300 seconds; begins anew after ten minutes. (Its own documentation, 2025.)"""
