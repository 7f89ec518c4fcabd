"""Calls that fail at random, retried only as a retry budget allows: its load and its successes."""

from dataclasses import dataclass
from typing import Any, Protocol

from lessons_lib.errors import real_number, whole_number

__all__ = ["RetryBudget", "TokenRun", "run_with_budget"]


class RetryBudget(Protocol):
    """What `TokenBucket`, `Throttle` and `RetryQuota` all answer to."""

    def started(self, now_ms: int, calls: int = 1) -> None: ...  # noqa: D102
    def failed(self, now_ms: int) -> None: ...  # noqa: D102
    def succeeded(self, now_ms: int, attempts: int = 1) -> None: ...  # noqa: D102
    def may_retry(self, now_ms: int) -> bool: ...  # noqa: D102
    def fresh(self) -> "RetryBudget": ...  # noqa: D102


@dataclass(frozen=True)
class TokenRun:
    """What the calls came to.

    Args:
        calls: calls made by all clients.
        requests: attempts sent, first ones and retries.
        succeeded: calls that succeeded in the end.
    """

    calls: int
    requests: int
    succeeded: int

    @property
    def load(self) -> float:
        """Requests per call: 1.0 without any retry."""
        return self.requests / self.calls

    @property
    def success(self) -> float:
        """Share of calls that succeeded."""
        return self.succeeded / self.calls


def run_with_budget(
    budget: RetryBudget,
    rng: Any,
    *,
    failure_rate: float,
    clients: int = 100,
    calls: int = 1000,
    attempts: int = 4,
    shared: bool = False,
    every_ms: int = 100,
) -> TokenRun:
    """Let every client make `calls` calls, each attempt failing with the same probability.

    Args:
        budget: the settings; each client (or all together) gets a fresh one.
        rng: random numbers with `.random(size)`.
        failure_rate: probability that an attempt fails, 0 to 1.
        clients: how many clients.
        calls: calls each client makes, one every `every_ms` milliseconds.
        attempts: most attempts a call makes, the first included.
        shared: True gives all clients one budget.
        every_ms: pace of each client, in milliseconds.
    """
    failure_rate = real_number("failure_rate", failure_rate, low=0, high=1)
    clients = whole_number("clients", clients, low=1)
    attempts = whole_number("attempts", attempts, low=1)
    budgets = [budget.fresh()] * clients if shared else [budget.fresh() for _ in range(clients)]
    requests = succeeded = 0
    for now_ms in range(0, whole_number("calls", calls, low=1) * every_ms, every_ms):
        failing = rng.random((clients, attempts)) < failure_rate
        for own, fails in zip(budgets, failing.tolist(), strict=True):
            own.started(now_ms)
            for attempt, fail in enumerate(fails, start=1):
                requests += 1
                if not fail:
                    succeeded += 1
                    own.succeeded(now_ms, attempt)
                    break
                own.failed(now_ms)
                if attempt < attempts and not own.may_retry(now_ms):
                    break
    return TokenRun(clients * calls, requests, succeeded)
