"""The clients of a limited service: who calls now, and what becomes of a failed attempt."""

from typing import Any

import numpy as np

from lessons_lib.retries.arrivals import ClosedArrivals, OpenArrivals
from lessons_lib.retries.breaker import Ticket
from lessons_lib.retries.policy import Policy

__all__ = ["ClientSide"]

ROWS = 1024  # waits are drawn for this many calls at a time


class ClientSide:
    """All clients together: calls, waits, tokens and the breaker.

    A call is a number; its begin, its attempts and its waits are looked up in arrays. Calls
    that wait for their retry are one list, searched in every bucket.
    """

    def __init__(
        self,
        arrivals: OpenArrivals | ClosedArrivals,
        policy: Policy,
        buckets: int,
        bucket_ms: int,
        timeout_ms: int,
        rng: Any,
    ) -> None:
        self._policy, self._rng = policy, rng
        self._bucket_ms, self._timeout_ms = bucket_ms, timeout_ms
        self._new = arrivals.counts(buckets, bucket_ms, rng).tolist()
        self._think_ms = arrivals.think_ms if isinstance(arrivals, ClosedArrivals) else None
        self._tokens = policy.tokens.fresh() if policy.tokens else None
        self._breaker = policy.breaker.fresh() if policy.breaker else None
        self._tickets: dict[int, Ticket] = {}
        self._calls = 0
        self._begin_ms = np.zeros(0, dtype=np.int64)
        self._attempt = np.zeros(0, dtype=np.int64)
        self._waits = np.zeros((0, policy.retries), dtype=np.int64)
        self._due_ms = self._waiting = np.zeros(0, dtype=np.int64)
        self._failed: list[np.ndarray] = []

    @property
    def backing_off(self) -> int:
        """Calls that wait for their next attempt."""
        return len(self._waiting)

    def send(self, bucket: int) -> tuple[int, np.ndarray, int]:
        """Return how many calls begin, the calls whose requests go out, how many are refused."""
        now_ms = bucket * self._bucket_ms
        due = self._due_ms < now_ms + self._bucket_ms
        new = self._new[bucket]
        calls = np.concatenate([self._waiting[due], self._begin(new, now_ms)])
        if due.any():
            self._due_ms, self._waiting = self._due_ms[~due], self._waiting[~due]
        self._attempt[calls] += 1
        if self._tokens and new:
            self._tokens.started(now_ms, new)
        if not self._breaker:
            return new, calls, 0
        let = self._ask(calls, now_ms)
        self._failed.append(calls[~let])  # an attempt all the same, but no load
        return new, calls[let], int(np.count_nonzero(~let))

    def _ask(self, calls: np.ndarray, now_ms: int) -> np.ndarray:
        let = np.zeros(len(calls), dtype=bool)
        state = self._breaker.state(now_ms)
        if state == "open":
            return let  # asking one by one would refuse every one
        if state == "closed" and len(calls):  # …and here let every one through
            self._tickets.update(dict.fromkeys(calls.tolist(), self._breaker.ask(now_ms)))
            return ~let
        for index, call in enumerate(calls.tolist()):
            ticket = self._breaker.ask(now_ms)
            if ticket is None:
                break  # half-open and out of permits: the rest is refused too
            let[index] = True
            self._tickets[call] = ticket
        return let

    def failed(self, calls: np.ndarray, now_ms: int) -> None:
        """Take note of requests that failed."""
        if len(calls):
            self._failed.append(calls)
            self._report(calls, now_ms, "failure")
            if self._tokens:
                for _ in calls:
                    self._tokens.failed(now_ms)

    def succeeded(self, calls: np.ndarray, end_ms: int) -> np.ndarray:
        """Take note of calls that succeeded, and return their latencies in milliseconds."""
        self._report(calls, end_ms, "success")
        if self._tokens:
            for attempt in self._attempt[calls].tolist():
                self._tokens.succeeded(end_ms, attempt)
        self._think(len(calls), end_ms)
        return end_ms - self._begin_ms[calls]

    def decide(self, end_ms: int) -> int:
        """Send failed calls to wait for a retry, or give them up; return how many give up."""
        if not self._failed:
            return 0
        calls = np.concatenate(self._failed)
        self._failed = []
        attempt = self._attempt[calls]
        again = attempt < self._policy.budget.attempts
        calls, attempt, count = calls[again], attempt[again], len(calls)
        due_ms = end_ms + self._waits[calls, attempt - 1]
        latest_ms = self._policy.budget.latest_start(0, self._timeout_ms)
        if latest_ms is not None:
            in_time = due_ms <= self._begin_ms[calls] + latest_ms
            calls, due_ms = calls[in_time], due_ms[in_time]
        if self._tokens:
            paid = np.array([self._tokens.may_retry(end_ms) for _ in calls], dtype=bool)
            calls, due_ms = calls[paid], due_ms[paid]
        self._waiting = np.concatenate([self._waiting, calls])
        self._due_ms = np.concatenate([self._due_ms, due_ms])
        self._think(count - len(calls), end_ms)
        return count - len(calls)

    def _report(self, calls: np.ndarray, now_ms: int, outcome: str) -> None:
        if self._breaker:
            for call in calls.tolist():
                self._breaker.report(self._tickets.pop(call), now_ms, outcome)

    def _think(self, ended: int, end_ms: int) -> None:
        if self._think_ms is not None:  # a closed population calls again after thinking
            bucket = (end_ms + self._think_ms) // self._bucket_ms
            if bucket < len(self._new):
                self._new[bucket] += ended

    def _begin(self, new: int, now_ms: int) -> np.ndarray:
        first, self._calls = self._calls, self._calls + new
        if self._calls > len(self._begin_ms):
            rows = max(ROWS, new, len(self._begin_ms))
            more = np.zeros(rows, dtype=np.int64)
            self._begin_ms = np.concatenate([self._begin_ms, more])
            self._attempt = np.concatenate([self._attempt, more])
            self._waits = np.concatenate([self._waits, self._policy.waits(rows, self._rng)])
        self._begin_ms[first : self._calls] = now_ms
        return np.arange(first, self._calls)
