"""Brooker's study: retries of a flaky service, bounded by nothing, a token bucket or a breaker."""

import heapq
from typing import Any

import numpy as np
import pandas as pd

from lessons_lib.errors import real_number, whole_number
from lessons_lib.retries.study_clients import StudyClient, client_of

__all__ = ["token_study"]


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
        strategy: one of `study_clients.STRATEGIES`.
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
    calls = requests = succeeded = 0
    for _ in range(whole_number("clients", clients, low=1)):
        expected = per_second * seconds
        gaps = _exponential(rng, 1000 / per_second, int(expected + 6 * expected**0.5 + 10))
        starts = np.append(0, np.cumsum(gaps))
        starts = starts[starts < seconds * 1000].tolist()
        calls += len(starts)
        one = _one_client(starts, failure_rate, client_of(strategy, fill, size, share), rtt_ms, rng)
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
    starts: list[float], failure_rate: float, client: StudyClient, rtt_ms: float, rng: Any
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
            client.started()
        elif not client.may_retry(attempt):
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
