"""Brooker's study: retries of a flaky service, bounded by nothing, a token bucket or a breaker."""

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lessons_lib.errors import one_of, real_number, whole_number

__all__ = ["STRATEGIES", "token_study"]

STRATEGIES = ("no retry", "3 retries", "token bucket", "breaker")


class _Retries:
    """A client's rule with a fixed number of retries."""

    def __init__(self, retries: int) -> None:
        self._retries = retries

    def started(self) -> None:
        pass

    def may_retry(self, attempt: int) -> bool:
        return attempt <= self._retries


@dataclass
class _Tokens:
    """A client's bucket as in the study: a retry needs *more than* one token and takes one."""

    fill: float
    size: float

    def __post_init__(self) -> None:
        self._held = self.size

    def started(self) -> None:
        self._held = min(self.size, self._held + self.fill)

    def may_retry(self, attempt: int) -> bool:
        if self._held <= 1:
            return False
        self._held -= 1
        return True


@dataclass
class _RateBreaker:
    """A client's breaker as in the study: it never pauses calls, it only stops retries.

    It does so while the failures so far are more than `share` of the calls so far.
    """

    share: float
    calls: int = 0
    failures: int = 0

    def started(self) -> None:
        self.calls += 1

    def may_retry(self, attempt: int) -> bool:
        self.failures += 1
        return self.failures <= self.share * self.calls and attempt <= 3


def _rule(strategy: str, fill: float, size: float, share: float) -> Any:
    if strategy == "token bucket":
        return _Tokens(fill, size)
    if strategy == "breaker":
        return _RateBreaker(share)
    return _Retries(3 if strategy == "3 retries" else 0)


def _exponential(rng: Any, mean_ms: float, count: int) -> np.ndarray:
    return -mean_ms * np.log1p(-rng.random(count))


def token_study(
    failure_rate: float,
    strategy: str,
    rng: Any,
    *,
    clients: int = 100,
    per_second: float = 10,
    seconds: float = 30,
    rtt_ms: float = 10,
    fill: float = 0.1,
    size: float = 5,
    share: float = 0.1,
) -> pd.Series:
    """Run the study for one failure rate and one strategy; the defaults are its own.

    Clients are independent, each with its own bucket or breaker. Each calls at once, then at
    random (Poisson), and never waits for an answer; every attempt fails with the same probability,
    so load does no harm here: the study is about how much of it there is. A request and its
    answer each take an exponential time of mean `rtt_ms`. Times are real numbers.

    Args:
        failure_rate: probability that an attempt fails, 0 to 1.
        strategy: one of `STRATEGIES`.
        rng: random numbers with `.random(size)`.
        clients: how many clients.
        per_second: calls each client begins a second.
        seconds: for how long they begin calls.
        rtt_ms: mean time of one way, in milliseconds.
        fill: tokens a call deposits.
        size: tokens a bucket holds, and holds at the beginning.
        share: failures per call above which the breaker allows no retry.

    Returns:
        calls, requests, success and load (both as shares of the calls).

    Source: M. Brooker, "Fixing retries with token buckets and circuit breakers" (2022), and
    its simulator, github.com/mbrooker/simulator_example, folder retry_sim.
    """
    failure_rate = real_number("failure_rate", failure_rate, low=0, high=1)
    one_of("strategy", strategy, STRATEGIES)
    calls = requests = succeeded = 0
    for _ in range(whole_number("clients", clients, low=1)):
        expected = per_second * seconds
        gaps = _exponential(rng, 1000 / per_second, int(expected + 6 * expected**0.5 + 10))
        starts = np.append(0, np.cumsum(gaps))
        starts = starts[starts < seconds * 1000].tolist()
        calls += len(starts)
        one = _one_client(starts, failure_rate, _rule(strategy, fill, size, share), rtt_ms, rng)
        requests, succeeded = requests + one[0], succeeded + one[1]
    return pd.Series(
        {
            "failure_rate": failure_rate,
            "strategy": strategy,
            "calls": calls,
            "requests": requests,
            "success": succeeded / calls,
            "load": requests / calls,
        }
    )


def _one_client(
    starts: list[float], failure_rate: float, rule: Any, rtt_ms: float, rng: Any
) -> tuple[int, int]:
    """Return requests sent and calls succeeded; failures are answered in order of time."""
    requests = succeeded = 0
    luck = rng.random(len(starts)).tolist()
    way = (_exponential(rng, rtt_ms, len(starts)) + _exponential(rng, rtt_ms, len(starts))).tolist()
    # (time, attempt): attempt 0 is the start of a call, n > 0 the failure of its n-th attempt.
    heap = [(start, 0) for start in starts]
    while heap:
        now, attempt = heapq.heappop(heap)
        if attempt == 0:
            rule.started()
        elif not rule.may_retry(attempt):
            continue
        requests += 1
        if not luck:
            luck = rng.random(256).tolist()
            way = (_exponential(rng, rtt_ms, 256) + _exponential(rng, rtt_ms, 256)).tolist()
        if luck.pop() < failure_rate:
            heapq.heappush(heap, (now + way.pop(), attempt + 1))
        else:
            way.pop()
            succeeded += 1
    return requests, succeeded
