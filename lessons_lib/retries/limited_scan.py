"""The limited service bucket by bucket: the whole fleet in a few NumPy steps per bucket."""

import numpy as np

__all__ = ["count_by_scan"]

GONE = np.iinfo(np.int32).max  # the clock of a client that calls no more
BLOCK = 8  # buckets worked through between two scans of the whole fleet


def count_by_scan(
    waits: np.ndarray, capacity: int, bucket_ms: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return calls and served per bucket, and when the last client was served.

    Each client has one clock: when it calls next. The whole fleet is scanned for those that
    call within the next block of buckets; only these are looked at bucket by bucket, and
    their clocks are then written back. Clients that are served or gave up are dropped whenever
    they are the greater part, so the scan shortens with the fleet.

    Args:
        waits: milliseconds before each retry, int32, shape (retries, clients).
        capacity: requests served per bucket.
        bucket_ms: width of a bucket in milliseconds, at most 256: an offset fits into a byte.
    """
    clients = waits.shape[1]
    clock = np.zeros(clients, dtype=np.int32)
    used = np.zeros(clients, dtype=np.uint8)  # retries a client has used
    client = np.arange(clients, dtype=np.int32)
    rows: list[tuple[int, int, int]] = []
    last_served_ms = 0
    left = clients  # clients that are neither served nor out of retries
    while left:
        first = int(clock.min()) // bucket_ms  # jumps over buckets in which nobody calls
        near = np.flatnonzero(clock < (first + BLOCK) * bucket_ms)
        block = clock[near], used[near], client[near]
        for bucket in range(first, first + BLOCK):
            start_ms = bucket * bucket_ms
            calls, served, at_ms = _one_bucket(*block, waits, capacity, start_ms, bucket_ms)
            if calls:
                rows.append((bucket, calls, served))
                last_served_ms = at_ms
        clock[near], used[near] = block[:2]
        left -= np.count_nonzero(block[0] == GONE)
        if left < len(clock) // 2:
            stay = np.flatnonzero(clock != GONE)
            clock, used, client = clock[stay], used[stay], client[stay]

    buckets, calls_of, served_of = np.array(rows, dtype=np.int64).T
    dense = np.zeros((2, buckets[-1] + 1), dtype=np.int64)
    dense[:, buckets] = calls_of, served_of
    return dense[0], dense[1], last_served_ms


def _one_bucket(
    clock: np.ndarray,
    used: np.ndarray,
    client: np.ndarray,
    waits: np.ndarray,
    capacity: int,
    start_ms: int,
    bucket_ms: int,
) -> tuple[int, int, int]:
    """Serve one bucket, set the clocks of the others on; return calls, served, the last moment."""
    end_ms = start_ms + bucket_ms
    due = np.flatnonzero(clock < end_ms)
    if not len(due):
        return 0, 0, 0
    offset = (clock[due] - start_ms).astype(np.uint8)
    won = _earliest(offset, capacity)
    winners, due = due[won], due[~won]
    last_ms = start_ms + int(offset[won].max())
    clock[winners] = GONE
    calls = served = len(winners)
    while len(due):  # the rejected, then those whose retry falls into this full bucket again
        calls += len(due)
        turn = used[due]
        spent = turn >= len(waits)
        if spent.any():
            clock[due[spent]] = GONE
            due, turn = due[~spent], turn[~spent]
        next_ms = clock[due] + waits[turn, client[due]]
        clock[due] = next_ms
        used[due] = turn + 1
        due = due[next_ms < end_ms]
    return calls, served, last_ms


def _earliest(offset: np.ndarray, capacity: int) -> np.ndarray:
    """Mark the `capacity` smallest offsets; of equal ones the first, which is the lower client.

    No sorting is needed: counting tells the millisecond in which the bucket fills up. All
    before it win, and of those on it as many as still fit.
    """
    if len(offset) <= capacity:
        return np.ones(len(offset), dtype=bool)
    up_to = np.cumsum(np.bincount(offset))
    full_at = int(np.searchsorted(up_to, capacity))
    won = offset < full_at
    free = capacity - (int(up_to[full_at - 1]) if full_at else 0)
    won[np.flatnonzero(offset == full_at)[:free]] = True
    return won
