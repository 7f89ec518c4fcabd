"""The AWS contention study in lockstep against one event after another, in one run.

    python benchmarks/contention.py [trials]  (400, four times the study's own)

Both compute every kind of backoff for 50, 100 and 190 clients. The plain program goes message
by message over a heap; it does a few trials only and is compared per write call.
"""

import heapq
import random
import sys
import time

import numpy as np

from lessons_lib.retries.contention import BACKOFFS, contention_study

BASE_MS, CAP_MS = 5, 2000
CLIENTS = (50, 100, 190)
PLAIN_TRIALS = 3


def plain_trial(backoff: str, clients: int, rng: random.Random) -> int:
    """Return the write calls of one trial, message by message."""

    def message() -> float:
        return abs(rng.normalvariate(10, 2))

    def wait(failures: int, previous: float) -> float:
        full = min(CAP_MS, BASE_MS * 2**failures)
        if backoff == "none":
            return 0
        if backoff == "exponential":
            return full
        if backoff == "decorrelated":
            return min(CAP_MS, rng.uniform(BASE_MS, 3 * previous))
        return rng.uniform(full / 2 if backoff == "equal" else 0, full)

    version = calls = 0
    heap = [(message(), client, "read", 0, 0, BASE_MS) for client in range(clients)]
    heapq.heapify(heap)
    while heap:
        now, client, what, seen, failures, previous = heapq.heappop(heap)
        if what == "read":
            event = (now + message(), client, "value", version, failures, previous)
        elif what == "value":
            event = (now + message(), client, "write", seen, failures, previous)
        elif what == "write":
            calls += 1
            won = seen == version
            version += won
            event = (now + message(), client, "won" if won else "lost", 0, failures, previous)
        elif what == "lost":
            previous = wait(failures + 1, previous)
            event = (now + message() + previous, client, "read", 0, failures + 1, previous)
        else:
            continue
        heapq.heappush(heap, event)
    return calls


def main(trials: int) -> None:
    """Print the time per write call of both, and their ratio."""
    rng = random.Random(1)
    began = time.perf_counter()
    plain_calls = sum(
        plain_trial(backoff, clients, rng)
        for clients in CLIENTS
        for backoff in BACKOFFS
        for _ in range(PLAIN_TRIALS)
    )
    plain_s = time.perf_counter() - began

    began = time.perf_counter()
    our_calls = sum(
        int(contention_study(backoff, clients, np.random.default_rng(1), trials=trials).calls.sum())
        for clients in CLIENTS
        for backoff in BACKOFFS
    )
    our_s = time.perf_counter() - began

    plain, ours = plain_s / plain_calls, our_s / our_calls
    per_trial = our_calls / trials / (plain_calls / PLAIN_TRIALS)
    print(f"{'':12} {'calls':>9} {'µs a call':>10} {'ratio':>6}")
    print(f"{'plain':12} {plain_calls:9d} {1e6 * plain:10.2f} {plain / ours:5.0f}x")
    print(f"{'lockstep':12} {our_calls:9d} {1e6 * ours:10.2f} {1:5d}x")
    print(f"calls a trial, lockstep over plain: {per_trial:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
