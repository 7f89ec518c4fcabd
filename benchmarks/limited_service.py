"""The limited service against the same model in SimPy and as a plain heap, in one run.

    python benchmarks/limited_service.py [clients ...]

Every client calls at time 0; the service takes clients / 200 requests per 100 ms; up to 14
retries with full jitter, base 500 ms, cap 30 s. All three get the same waits and must agree
on the number of calls. Only the ratios mean anything on another machine.
"""

import gc
import heapq
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from lessons_lib.retries.jitter import FullJitter
from lessons_lib.retries.limited import limited_burst
from lessons_lib.retries.schedules import Exponential

RETRIES, BUCKET_MS = 14, 100
SCHEDULE = Exponential(base_ms=500, cap_ms=30_000)


def with_library(clients: int, capacity: int) -> int:
    """Return the calls made, by the library, its draws included."""
    rng = np.random.default_rng(7)
    return limited_burst(SCHEDULE, FullJitter(), clients, capacity, RETRIES, rng).total_calls


def _waits(clients: int) -> list[list[int]]:
    return FullJitter().waits(SCHEDULE, clients, RETRIES, np.random.default_rng(7)).tolist()


def with_heap(clients: int, capacity: int) -> int:
    """Return the calls made, by a tuned loop over a heap in plain Python."""
    waits = _waits(clients)
    heap = [(0, client, 0) for client in range(clients)]
    served: dict[int, int] = {}
    calls = 0
    while heap:
        at_ms, client, retry = heap[0]
        calls += 1
        bucket = at_ms // BUCKET_MS
        taken = served.get(bucket, 0)
        if taken < capacity:
            served[bucket] = taken + 1
            heapq.heappop(heap)
        elif retry < RETRIES:
            heapq.heapreplace(heap, (at_ms + waits[client][retry], client, retry + 1))
        else:
            heapq.heappop(heap)
    return calls


def with_simpy(clients: int, capacity: int) -> int:
    """Return the calls made, by one SimPy process per client."""
    import simpy

    waits = _waits(clients)
    served: dict[int, int] = {}
    calls = 0
    env = simpy.Environment()

    def client(number: int):
        nonlocal calls
        for wait in (*waits[number], None):
            calls += 1
            bucket = int(env.now) // BUCKET_MS
            if served.get(bucket, 0) < capacity:
                served[bucket] = served.get(bucket, 0) + 1
                return
            if wait is not None:
                yield env.timeout(wait)

    for number in range(clients):
        env.process(client(number))
    env.run()
    return calls


def seconds(run: Callable[[int, int], int], clients: int) -> tuple[float, int]:
    """Return how long one run took, and the calls it counted."""
    gc.collect()
    began = time.perf_counter()
    calls = run(clients, clients // 200)
    return time.perf_counter() - began, calls


def added_megabytes(clients: int) -> float:
    """Return the most memory one run holds at once, NumPy's arrays included."""
    tracemalloc.start()
    try:
        with_library(clients, clients // 200)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def main(sizes: list[int]) -> None:
    """Print one line per fleet size."""
    print(f"{'clients':>9} {'calls':>9} {'SimPy':>7} {'heap':>6} {'library':>8} {'MB added':>9}")
    for clients in sizes:
        # A shared machine changes its speed from minute to minute: ours runs before, between
        # and after the others.
        times, calls = zip(*(seconds(with_library, clients) for _ in range(5)), strict=True)
        heap, heap_calls = seconds(with_heap, clients)
        times += tuple(seconds(with_library, clients)[0] for _ in range(5))
        simpy, _ = seconds(with_simpy, clients)
        times += tuple(seconds(with_library, clients)[0] for _ in range(5))
        ours, calls = statistics.median(times), calls[0]
        # SimPy breaks ties by the order of its events, so its count may differ a little.
        assert calls == heap_calls, (calls, heap_calls)
        ratios = f"{simpy / ours:6.0f}x {heap / ours:5.0f}x {1:7d}x"
        print(f"{clients:9d} {calls:9d} {ratios} {added_megabytes(clients):9.1f}", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000, 10_000, 100_000])
