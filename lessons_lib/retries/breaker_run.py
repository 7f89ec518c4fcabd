"""Calls through an outage, with a circuit breaker, a token bucket, both or neither."""

import heapq
from typing import Any

import numpy as np

from lessons_lib.errors import whole_number
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.breaker_result import FATES, BreakerRun, states_of
from lessons_lib.retries.schedules import Immediate, Schedule
from lessons_lib.retries.token_run import RetryBudget

__all__ = ["run_through_outage"]


def run_through_outage(
    breaker: Breaker | None = None,
    *,
    tokens: RetryBudget | None = None,
    schedule: Schedule = Immediate(),  # noqa: B008 - frozen
    attempts: int = 1,
    outage_ms: tuple[int, int] = (10_000, 40_000),
    until_ms: int = 60_000,
    every_ms: int = 20,
    answer_ms: int = 50,
    shards: int = 1,
    bad_shards: int = 1,
    per_shard: bool = False,
    rng: Any = None,
) -> BreakerRun:
    """Make one call every `every_ms` milliseconds while a service, or a part of it, is down.

    Args:
        breaker: the settings of the breaker, or None. It is asked before every request.
        tokens: the settings of a retry budget that every retry needs, or None.
        schedule: waits before retries.
        attempts: most attempts of a call, the first included.
        outage_ms: from when to when the bad shards fail.
        until_ms: when the last call starts.
        every_ms: time between two calls.
        answer_ms: time until a call's result is known, good or bad.
        shards: parts of the service; each call needs one.
        bad_shards: how many of them fail in the outage.
        per_shard: True gives every shard its own breaker, False one breaker to all.
        rng: `.random(size)` chooses each call's shard; None takes the shards in turn.
    """
    shards = whole_number("shards", shards, low=1)
    bad_shards = whole_number("bad_shards", bad_shards, low=0, high=shards)
    attempts = whole_number("attempts", attempts, low=1)
    starts = range(0, whole_number("until_ms", until_ms, low=1), every_ms)
    down_from, down_to = outage_ms
    shard_of = np.arange(len(starts)) % shards
    if rng is not None:
        shard_of = (rng.random(len(starts)) * shards).astype(int)
    guards = [breaker.fresh()] * shards if breaker else []
    if per_shard:
        guards = [guard.fresh() for guard in guards]
    tokens = tokens.fresh() if tokens else None

    told: list[tuple[int, str]] = []
    wasted = refused_healthy = 0
    late_ms = None
    # The earliest first; at the same moment results before new requests, then in order.
    heap = [(at_ms, 1, call, 1, None) for call, at_ms in enumerate(starts)]
    while heap:
        at_ms, is_request, call, attempt, ticket = heapq.heappop(heap)
        shard = shard_of[call]
        guard = guards[shard] if guards else None
        if is_request:
            if tokens and attempt == 1:
                tokens.started(at_ms)
            if guard and (ticket := guard.ask(at_ms)) is None:
                told.append((at_ms, "refused"))
                refused_healthy += not (shard < bad_shards and down_from <= at_ms < down_to)
                continue
            told.append((at_ms, "sent"))
            heapq.heappush(heap, (at_ms + answer_ms, 0, call, attempt, ticket))
            continue
        sent_ms = at_ms - answer_ms
        failed = bool(shard < bad_shards and down_from <= sent_ms < down_to)
        if guard:
            guard.report(ticket, at_ms, "failure" if failed else "success")
        told.append((at_ms, "failed" if failed else "succeeded"))
        if not failed:
            if tokens:
                tokens.succeeded(at_ms, attempt)
            if late_ms is None and shard < bad_shards and sent_ms >= down_to:
                late_ms = sent_ms - down_to
            continue
        wasted += 1
        if tokens:
            tokens.failed(at_ms)
        if attempt < attempts and (tokens is None or tokens.may_retry(at_ms)):
            heapq.heappush(heap, (at_ms + schedule.wait(attempt), 1, call, attempt + 1, None))

    counts = np.zeros((max(at_ms for at_ms, _ in told) // 1000 + 1, len(FATES)), dtype=np.int64)
    for at_ms, fate in told:
        counts[at_ms // 1000, FATES.index(fate)] += 1
    return BreakerRun(
        calls=len(starts),
        wasted=wasted,
        refused=int(counts[:, FATES.index("refused")].sum()),
        refused_healthy=refused_healthy,
        succeeded=int(counts[:, FATES.index("succeeded")].sum()),
        late_ms=late_ms,
        counts=counts,
        states=states_of(guards),
    )
