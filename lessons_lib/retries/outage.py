"""One client and one outage: how many attempts are wasted, how late the recovery is noticed."""

from dataclasses import dataclass

from lessons_lib.errors import whole_number
from lessons_lib.retries.schedules import Schedule
from lessons_lib.retries.time_budget import attempts_within

__all__ = ["ThroughOutage", "through_outage"]


@dataclass(frozen=True)
class ThroughOutage:
    """How one client came through one outage.

    Args:
        outage_ms: how long the outage lasted.
        wasted: attempts that met the outage, or None where they have no end.
        success_ms: when the first attempt after the outage starts.
    """

    outage_ms: int
    wasted: int | None
    success_ms: int

    @property
    def late_ms(self) -> int:
        """Milliseconds between the end of the outage and the attempt that succeeds."""
        return self.success_ms - self.outage_ms


def through_outage(schedule: Schedule, outage_ms: int, *, work_ms: int = 0) -> ThroughOutage:
    """Follow one client through an outage that begins with its first failure.

    An attempt that starts on the last millisecond of the outage still fails.

    Args:
        schedule: the waits between attempts.
        outage_ms: length of the outage in milliseconds, at least 0.
        work_ms: how long a failing call takes, in milliseconds. With 0 ms of work and no
            wait, attempts have no end: `wasted` is None then and the client is never late.
    """
    outage_ms = whole_number("outage_ms", outage_ms, low=0)
    during = attempts_within(schedule, outage_ms, work_ms=work_ms)
    if during.attempts is None:
        return ThroughOutage(outage_ms, None, outage_ms)
    step = whole_number("work_ms", work_ms, low=0) + schedule.wait(during.attempts + 1)
    return ThroughOutage(outage_ms, during.attempts, during.elapsed_ms + step)
