"""How many attempts fit into a time budget, under three stop rules."""

from dataclasses import dataclass

from lessons_lib.errors import one_of, whole_number
from lessons_lib.retries.schedules import Schedule

__all__ = ["STOP_RULES", "AttemptsWithin", "attempts_within"]

STOP_RULES = ("start at or before", "start before", "finish by")


@dataclass(frozen=True)
class AttemptsWithin:
    """What fits into a time budget.

    Args:
        attempts: how many attempts fit, or None where time alone never stops them.
        elapsed_ms: when the last attempt that fits starts; 0 if none fits.
    """

    attempts: int | None
    elapsed_ms: int


def attempts_within(
    schedule: Schedule, budget_ms: int, *, rule: str = "start at or before", work_ms: int = 0
) -> AttemptsWithin:
    """Count the attempts that fit into `budget_ms` after the first failure.

    The first call starts at 0 and fails after `work_ms`; it is not counted. Attempt n
    waits its own wait, then works. With `work_ms=0` and the default rule an attempt fits
    if the sum of the waits up to and including its own is at most the budget.

    Args:
        schedule: the waits.
        budget_ms: the time budget in milliseconds, at least 0.
        rule: when an attempt still counts. "start at or before" the end of the budget,
            "start before" it (an attempt on the very millisecond is refused), or
            "finish by" it (the work must be done too).
        work_ms: how long each call takes, in milliseconds.
    """
    budget_ms = whole_number("budget_ms", budget_ms, low=0)
    work_ms = whole_number("work_ms", work_ms, low=0)
    one_of("rule", rule, STOP_RULES)
    latest_start = budget_ms - {"start before": 1, "finish by": work_ms}.get(rule, 0)

    settled = schedule.settles_at()
    attempts = elapsed = 0
    while attempts + 1 < settled:
        start = elapsed + work_ms + schedule.wait(attempts + 1)
        if start > latest_start:
            return AttemptsWithin(attempts, elapsed)
        attempts, elapsed = attempts + 1, start

    step = work_ms + schedule.wait(settled)  # from here on every attempt costs the same
    if step == 0:
        return AttemptsWithin(None if elapsed <= latest_start else attempts, elapsed)
    more = max(0, (latest_start - elapsed) // step)
    return AttemptsWithin(attempts + more, elapsed + more * step)
