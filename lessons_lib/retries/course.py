"""The whole course of one message: every attempt, every verdict, until it succeeds or is isolated."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lessons_lib.errors import whole_number
from lessons_lib.events import Event, event_table
from lessons_lib.retries.budgets import Budget, DeadLetter, RetryAt
from lessons_lib.retries.schedules import Schedule

__all__ = ["Course", "Step", "course_of"]

MOST_STEPS = 10_000


@dataclass(frozen=True)
class Step:
    """One attempt: when it started, when it ended, and the verdict (None: it succeeded)."""

    attempt: int
    at_ms: int
    ended_ms: int
    verdict: RetryAt | DeadLetter | None


@dataclass(frozen=True)
class Course:
    """What became of one message.

    Args:
        steps: its attempts in order.
        because: why it was dead-lettered, or None if it succeeded.
    """

    steps: tuple[Step, ...]
    because: str | None

    @property
    def attempts(self) -> int:
        """How many attempts were made, the first included."""
        return len(self.steps)

    @property
    def ended_ms(self) -> int:
        """When the last attempt ended."""
        return self.steps[-1].ended_ms

    @property
    def succeeded(self) -> bool:
        """Whether the last attempt succeeded."""
        return self.because is None

    def to_frame(self) -> pd.DataFrame:
        """Return one row an attempt: attempt, at_ms, ended_ms, verdict (text)."""
        rows = [
            (step.attempt, step.at_ms, step.ended_ms, str(step.verdict or "succeeded"))
            for step in self.steps
        ]
        return pd.DataFrame(rows, columns=["attempt", "at_ms", "ended_ms", "verdict"])

    def events(self, message: int = 1, actor: str = "consumer") -> pd.DataFrame:
        """Return the same as an event table: delivered, failed, then succeeded or dead-lettered."""
        told = []
        for step in self.steps:
            told.append(Event(step.at_ms, actor, "delivered", message, step.attempt))
            end = "succeeded" if step.verdict is None else "failed"
            told.append(Event(step.ended_ms, actor, end, message, step.attempt))
        if self.because is not None:
            told.append(Event(self.ended_ms, "queue", "dead-lettered", message, self.attempts))
        return event_table(told)


def course_of(
    schedule: Schedule | Sequence[int],
    budget: Budget,
    *,
    work_ms: int = 0,
    outage_ms: int | None = None,
) -> Course:
    """Follow one message, first delivered at 0, under a schedule and a budget.

    Args:
        schedule: the waits; or the waits themselves in milliseconds (one row of a jitter's
            `waits`), which must be as many as the budget lets happen.
        budget: what ends it.
        work_ms: how long each attempt takes, in milliseconds.
        outage_ms: attempts that start before this moment fail; None: all fail.

    Raises:
        ValueError: nothing ever ends the message, or there are too few waits.
    """
    work_ms = whole_number("work_ms", work_ms, low=0)
    at_ms, steps = 0, []
    for attempt in range(1, MOST_STEPS + 1):
        ended_ms = at_ms + work_ms
        if outage_ms is not None and at_ms >= outage_ms:
            return Course((*steps, Step(attempt, at_ms, ended_ms, None)), None)
        if budget.attempts is not None and attempt >= budget.attempts:
            wait_ms = 0  # no wait follows the last attempt, so a row of waits need not hold one
        elif hasattr(schedule, "wait"):
            wait_ms = schedule.wait(attempt)
        elif attempt <= len(schedule):
            wait_ms = int(schedule[attempt - 1])
        else:
            raise ValueError(f"only {len(schedule)} waits were given and the budget allows more")
        verdict = budget.verdict(attempt=attempt, now_ms=ended_ms, wait_ms=wait_ms, work_ms=work_ms)
        steps.append(Step(attempt, at_ms, ended_ms, verdict))
        if isinstance(verdict, DeadLetter):
            return Course(tuple(steps), verdict.because)
        at_ms = verdict.at_ms
    raise ValueError(
        f"{MOST_STEPS} attempts and no end: {schedule!r} with {budget!r} never stops this message"
    )
