"""A client's whole retry policy: schedule, jitter, budgets and breaker as one value."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.budgets import ASK_AFTER, Budget
from lessons_lib.retries.jitter import Jitter, NoJitter
from lessons_lib.retries.schedules import Immediate, Schedule
from lessons_lib.retries.token_run import RetryBudget

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """What clients do when a call fails.

    Args:
        schedule: the waits before retries, without randomness.
        jitter: what randomness does to them.
        budget: most attempts and most time of one call. It must name attempts, so that no
            call goes on for ever.
        tokens: a retry budget shared by all clients, or None. A simulation works on a fresh
            copy, so the same policy can be run again.
        breaker: a circuit breaker shared by all clients, or None; copied likewise.
    """

    schedule: Schedule = Immediate()  # noqa: RUF009 - frozen
    jitter: Jitter = NoJitter()  # noqa: RUF009 - frozen
    budget: Budget = Budget(attempts=4)  # noqa: RUF009 - frozen
    tokens: RetryBudget | None = None
    breaker: Breaker | None = None

    def __post_init__(self) -> None:
        if self.budget.attempts is None:
            raise ValueError(
                f"a policy's budget must name attempts, got {self.budget!r}; a large number will do"
            )
        if self.budget.rule == ASK_AFTER:
            raise ValueError(f"a policy asks before it waits; the rule {ASK_AFTER!r} does not")

    @property
    def retries(self) -> int:
        """Most retries of a call."""
        return self.budget.attempts - 1

    def waits(self, calls: int, rng: Any) -> np.ndarray:
        """Return the waits of `calls` calls, int64 milliseconds, shape (calls, retries)."""
        if not self.retries or not calls:
            return np.zeros((calls, self.retries), dtype=np.int64)
        return self.jitter.waits(self.schedule, calls, self.retries, rng)
