"""The limited service event by event: a heap of requests, the earliest one first."""

import heapq

import numpy as np

__all__ = ["count_by_heap"]


def count_by_heap(
    waits: np.ndarray, capacity: int, bucket_ms: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return calls and served per bucket, and when the last client was served.

    Args:
        waits: milliseconds before each retry, whole numbers, shape (retries, clients).
        capacity: requests served per bucket.
        bucket_ms: width of a bucket in milliseconds.
    """
    retries, clients = waits.shape
    wait_of = waits.T.tolist()
    heap = [(0, client, 0) for client in range(clients)]  # sorted already, so already a heap
    calls: dict[int, int] = {}
    served: dict[int, int] = {}
    last_served_ms = 0
    while heap:
        at_ms, client, retry = heap[0]
        bucket = at_ms // bucket_ms
        calls[bucket] = calls.get(bucket, 0) + 1
        if served.get(bucket, 0) < capacity:
            served[bucket] = served.get(bucket, 0) + 1
            last_served_ms = at_ms
            heapq.heappop(heap)
        elif retry < retries:
            heapq.heapreplace(heap, (at_ms + wait_of[client][retry], client, retry + 1))
        else:
            heapq.heappop(heap)
    buckets = max(calls) + 1
    return _dense(calls, buckets), _dense(served, buckets), last_served_ms


def _dense(counts: dict[int, int], buckets: int) -> np.ndarray:
    dense = np.zeros(buckets, dtype=np.int64)
    dense[list(counts)] = list(counts.values())
    return dense
