"""A fleet against a service with limited capacity: who gets through, after how many calls."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lessons_lib.errors import one_of, whole_number
from lessons_lib.retries.jitter import Jitter
from lessons_lib.retries.limited_heap import count_by_heap
from lessons_lib.retries.limited_scan import count_by_scan
from lessons_lib.retries.schedules import Schedule

__all__ = ["LimitedBurst", "limited_burst"]

LATEST_MS = 2**31 - 1  # the clock is a 32-bit whole number: half the memory, twice the speed
SCAN_FROM = 1000  # clients; below, a heap is quicker than NumPy's cost per call
ROWS_PER_CHUNK = 4096


@dataclass(frozen=True)
class LimitedBurst:
    """How a fleet came through a service with limited capacity.

    Args:
        calls: requests per bucket, int64, shape (buckets,).
        served: requests per bucket that got through, int64, shape (buckets,).
        clients: size of the fleet.
        capacity: requests the service takes per bucket.
        bucket_ms: width of a bucket in milliseconds.
        last_served_ms: when the last served client got through.
    """

    calls: np.ndarray
    served: np.ndarray
    clients: int
    capacity: int
    bucket_ms: int
    last_served_ms: int

    @property
    def total_calls(self) -> int:
        """All requests, first ones and retries."""
        return int(self.calls.sum())

    @property
    def total_served(self) -> int:
        """Clients that got through."""
        return int(self.served.sum())

    @property
    def gave_up(self) -> int:
        """Clients whose attempts ran out."""
        return self.clients - self.total_served

    @property
    def calls_per_client(self) -> float:
        """Requests a client made on average."""
        return self.total_calls / self.clients

    @property
    def times_ideal(self) -> float:
        """Buckets until the last success over the buckets a full service would have needed."""
        needed = -(-self.total_served // self.capacity)
        return (self.last_served_ms // self.bucket_ms + 1) / needed

    def to_frame(self) -> pd.DataFrame:
        """Return one row a bucket: from_ms, calls, served, rejected, waiting (not served yet)."""
        return pd.DataFrame(
            {
                "from_ms": np.arange(len(self.calls)) * self.bucket_ms,
                "calls": self.calls,
                "served": self.served,
                "rejected": self.calls - self.served,
                "waiting": self.clients - np.cumsum(self.served),
            }
        )


def _all_waits(
    schedule: Schedule, jitter: Jitter, clients: int, retries: int, rng: Any
) -> np.ndarray:
    """Return the waits of the fleet as int32, shape (retries, clients), drawn client by client."""
    waits = np.empty((retries, clients), dtype=np.int32)
    for first in range(0, clients if retries else 0, ROWS_PER_CHUNK):
        rows = min(ROWS_PER_CHUNK, clients - first)
        drawn = jitter.waits(schedule, rows, retries, rng)
        latest = float(drawn.max()) * retries  # the quick look; the exact sum only if it matters
        if latest > LATEST_MS - 2**16:
            latest = drawn.sum(axis=1, dtype=np.float64).max()  # doubles cannot wrap round
        if latest > LATEST_MS - 2**16:
            raise ValueError(
                f"{retries} waits add up to {latest:.0f} ms and this clock ends after "
                f"{LATEST_MS} ms (24 days): set a cap or allow fewer retries"
            )
        waits[:, first : first + rows] = drawn.T
    return waits


def limited_burst(
    schedule: Schedule,
    jitter: Jitter,
    clients: int,
    capacity: int,
    retries: int,
    rng: Any,
    bucket_ms: int = 100,
    method: str = "auto",
) -> LimitedBurst:
    """Let a fleet call at time 0 and retry against a service that takes few calls per bucket.

    In each bucket of time the earliest `capacity` requests are served (ties: the lower client
    number); all later ones are rejected, and so is a retry that lands in the same full
    bucket. A client leaves when it is served or when its retries are used up.

    Args:
        schedule: the waits without randomness.
        jitter: what randomness does to them.
        clients: size of the fleet, at least 1.
        capacity: requests the service takes per bucket, at least 1.
        retries: most retries of a client; with its first call it makes one call more.
        rng: random numbers with `.random(size)`, drawn client by client as in `retry_burst`.
        bucket_ms: width of a bucket in milliseconds, 1 to 256.
        method: "heap" goes event by event, "scan" bucket by bucket in NumPy, "auto" takes
            the quicker one. The results are the same.

    Raises:
        ValueError: a value is out of range, or the waits exceed the model's clock.
    """
    clients = whole_number("clients", clients, low=1)
    capacity = whole_number("capacity", capacity, low=1)
    retries = whole_number("retries", retries, low=0, high=254)
    bucket_ms = whole_number("bucket_ms", bucket_ms, low=1, high=256)
    if one_of("method", method, ("auto", "heap", "scan")) == "auto":
        method = "scan" if clients >= SCAN_FROM else "heap"
    waits = _all_waits(schedule, jitter, clients, retries, rng)
    count = count_by_scan if method == "scan" else count_by_heap
    calls, served, last_served_ms = count(waits, capacity, bucket_ms)
    return LimitedBurst(calls, served, clients, capacity, bucket_ms, last_served_ms)
