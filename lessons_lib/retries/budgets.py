"""Two budgets for one message: how many attempts, and how much time, before it is dead-lettered."""

from dataclasses import dataclass

from lessons_lib.errors import one_of, whole_number
from lessons_lib.retries.time_budget import STOP_RULES

__all__ = ["ASK_AFTER", "Budget", "DeadLetter", "RetryAt"]

ASK_AFTER = "ask after the attempt"
"""The rule that overruns: time is only looked at after an attempt, never before a sleep."""


@dataclass(frozen=True)
class RetryAt:
    """The verdict "give it back, visible again at `at_ms`"."""

    at_ms: int

    def __str__(self) -> str:
        return f"retry at {self.at_ms} ms"


@dataclass(frozen=True)
class DeadLetter:
    """The verdict "no further attempt", with the reason in words."""

    because: str

    def __str__(self) -> str:
        return f"dead letter because {self.because}"


@dataclass(frozen=True)
class Budget:
    """Bound a message's attempts and its time together; the first bound reached ends it.

    Args:
        attempts: most attempts, the first one included: 3 means one delivery and two retries.
            None: only time ends it. Libraries that count retries instead: `of_retries`.
        time_ms: time after the first delivery, in milliseconds, or None.
        rule: what must lie within `time_ms`. "start at or before", "start before" and
            "finish by" look at the next attempt, so no sleep crosses the deadline.
            "ask after the attempt" (tenacity's stop_after_delay) looks only at the attempt that
            has just failed and overruns by a whole wait; it is here to be compared with.

    Raises:
        ValueError: both bounds are None, a number is out of range, or the rule is unknown.
    """

    attempts: int | None = None
    time_ms: int | None = None
    rule: str = "start at or before"

    def __post_init__(self) -> None:
        if self.attempts is None and self.time_ms is None:
            raise ValueError("a budget needs attempts, time_ms or both, got neither")
        if self.attempts is not None:
            whole_number("attempts", self.attempts, low=1)
        if self.time_ms is not None:
            whole_number("time_ms", self.time_ms, low=0)
        one_of("rule", self.rule, (*STOP_RULES, ASK_AFTER))

    @classmethod
    def of_retries(
        cls, retries: int, time_ms: int | None = None, rule: str = "start at or before"
    ) -> "Budget":
        """Return the budget of a library that counts retries: 3 retries are 4 attempts."""
        return cls(whole_number("retries", retries, low=0) + 1, time_ms, rule)

    def latest_start(self, first_ms: int = 0, work_ms: int = 0) -> int | None:
        """Return the last millisecond at which an attempt may start, or None for no bound.

        Args:
            first_ms: when the message was first delivered.
            work_ms: how long the attempt would take; only "finish by" asks.
        """
        if self.time_ms is None or self.rule == ASK_AFTER:
            return None
        return first_ms + self.time_ms - {"start before": 1, "finish by": work_ms}.get(self.rule, 0)

    def verdict(
        self, *, attempt: int, now_ms: int, wait_ms: int, first_ms: int = 0, work_ms: int = 0
    ) -> RetryAt | DeadLetter:
        """Decide what becomes of a message whose attempt has just failed.

        Args:
            attempt: the number of the failed attempt, from 1.
            now_ms: when it failed. The time the call took has passed by then and counts.
            wait_ms: the wait the schedule asks for before the next attempt.
            first_ms: when the message was first delivered.
            work_ms: how long the next attempt may take, for the rule "finish by".
        """
        attempt = whole_number("attempt", attempt, low=1)
        first_ms = whole_number("first_ms", first_ms)
        now_ms = whole_number("now_ms", now_ms, low=first_ms)
        wait_ms = whole_number("wait_ms", wait_ms, low=0)
        work_ms = whole_number("work_ms", work_ms, low=0)

        if self.attempts is not None and attempt >= self.attempts:
            return DeadLetter(f"attempt {attempt} of {self.attempts} failed")
        if self.time_ms is None:
            return RetryAt(now_ms + wait_ms)
        if self.rule == ASK_AFTER:
            if now_ms - first_ms >= self.time_ms:
                return DeadLetter(f"{now_ms - first_ms} ms of {self.time_ms} ms had passed")
            return RetryAt(now_ms + wait_ms)

        retry_ms = now_ms + wait_ms
        if retry_ms <= self.latest_start(first_ms, work_ms):
            return RetryAt(retry_ms)
        if attempt == 1 and wait_ms > self.time_ms:
            # Without this sentence the setting looks as if retries were switched off.
            return DeadLetter(
                f"the first wait of {wait_ms} ms is longer than the whole time budget of "
                f"{self.time_ms} ms, so this schedule never retries"
            )
        return DeadLetter(
            f"the next attempt would start at {retry_ms} ms; with a time budget of "
            f'{self.time_ms} ms and the rule "{self.rule}" the latest start is '
            f"{self.latest_start(first_ms, work_ms)} ms"
        )
