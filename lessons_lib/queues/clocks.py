"""Where a queue's time comes from: the wall, the machine's uptime, or the lesson itself."""

import time

from lessons_lib.errors import whole_number

__all__ = ["VirtualClock", "monotonic_ms", "wall_ms"]


def wall_ms() -> int:
    """Return the wall clock in milliseconds since 1970.

    The only one that still means something after a reboot, so a queue's default. It can be set
    back or forward; then visibility timeouts last longer or end early.
    """
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Return milliseconds on a clock that never jumps and is the same in every process.

    It starts anew when the machine does: for experiments, not for queues that stay.
    """
    return time.monotonic_ns() // 1_000_000


class VirtualClock:
    """A clock that moves when it is told to, so that thirty seconds take no time.

    Args:
        now_ms: the time it starts at, in milliseconds.
    """

    def __init__(self, now_ms: int = 0) -> None:
        self.now_ms = whole_number("now_ms", now_ms, low=0)

    def __call__(self) -> int:
        """Return the time in milliseconds."""
        return self.now_ms

    def advance(self, ms: int) -> int:
        """Let this many milliseconds pass, and return the new time."""
        self.now_ms += whole_number("ms", ms, low=0)
        return self.now_ms

    def until(self, at_ms: int) -> int:
        """Let time pass until `at_ms`; it never goes back."""
        self.now_ms = whole_number("at_ms", at_ms, low=self.now_ms)
        return self.now_ms
