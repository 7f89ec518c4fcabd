"""The retry burst: when a whole fleet's retries arrive, counted in buckets of time."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from lessons_lib.errors import whole_number
from lessons_lib.retries.jitter import Jitter
from lessons_lib.retries.schedules import Schedule

__all__ = ["Burst", "burst_of_moments", "retry_burst"]

DRAWS_PER_CHUNK = 2**15  # a quarter MiB of doubles: a chunk stays in the processor's cache
MOST_BUCKETS = 20_000_000


@dataclass(frozen=True)
class Burst:
    """When the retries of a fleet arrive.

    Args:
        counts: retries per bucket, int64, from time 0 to the last filled bucket.
        bucket_ms: width of a bucket in milliseconds.
        consumers: size of the fleet, or None where it is not known.
        mean_last_ms: when a consumer's last retry happens, averaged over the fleet, or None.
    """

    counts: np.ndarray
    bucket_ms: int
    consumers: int | None = None
    mean_last_ms: float | None = field(default=None, compare=False)

    @property
    def requests(self) -> int:
        """All retries together."""
        return int(self.counts.sum())

    @property
    def peak(self) -> int:
        """Retries in the busiest bucket."""
        return int(self.counts.max(initial=0))

    @property
    def peak_bucket(self) -> int:
        """Number of the busiest bucket (the first, if several are), from 0."""
        return int(self.counts.argmax()) if len(self.counts) else 0

    @property
    def filled_buckets(self) -> int:
        """Buckets with at least one retry."""
        return int(np.count_nonzero(self.counts))

    @property
    def last_bucket(self) -> int:
        """Number of the last filled bucket, from 0; -1 if there is none."""
        return len(self.counts) - 1

    def to_frame(self) -> pd.DataFrame:
        """Return one row a bucket: bucket, from_ms, requests."""
        bucket = np.arange(len(self.counts))
        return pd.DataFrame(
            {"bucket": bucket, "from_ms": bucket * self.bucket_ms, "requests": self.counts}
        )


def _add(total: np.ndarray, part: np.ndarray) -> np.ndarray:
    if len(part) > len(total):
        total, part = part.copy(), total
    total[: len(part)] += part
    return total


def _bucket_counts(moments_ms: np.ndarray, bucket_ms: int) -> np.ndarray:
    last = int(moments_ms.max(initial=0))
    if last // bucket_ms >= MOST_BUCKETS:
        raise ValueError(
            f"the last retry comes after {last} ms: in buckets of {bucket_ms} ms that is more than "
            f"{MOST_BUCKETS} buckets. Set a cap, make fewer attempts or widen bucket_ms"
        )
    return np.bincount((moments_ms // bucket_ms).ravel())


def burst_of_moments(moments_ms: Any, *, bucket_ms: int = 100) -> Burst:
    """Count moments that are already known, such as those of a log.

    Args:
        moments_ms: whole milliseconds since the failure, at least 0, any shape.
        bucket_ms: width of a bucket in milliseconds, at least 1.
    """
    bucket_ms = whole_number("bucket_ms", bucket_ms, low=1)
    moments = np.asarray(moments_ms)
    if moments.size and moments.dtype.kind not in "iu":
        raise TypeError(f"moments_ms must be whole numbers, got {moments.dtype} values")
    if moments.size and moments.min() < 0:
        raise ValueError(f"moments_ms must be at least 0, got {moments.min()}")
    counts = _bucket_counts(moments.astype(np.int64), bucket_ms) if moments.size else []
    return Burst(np.asarray(counts, dtype=np.int64), bucket_ms)


def retry_burst(
    schedule: Schedule,
    jitter: Jitter,
    consumers: int,
    attempts: int,
    rng: Any,
    bucket_ms: int = 100,
) -> Burst:
    """Let a fleet fail at time 0 and count its retries per bucket.

    A retry's moment is the running sum of its consumer's waits; work takes no time. The
    fleet is computed in chunks, so memory does not grow with the number of consumers, and
    the counts do not depend on the chunks: numbers are drawn consumer by consumer.

    Args:
        schedule: the waits without randomness.
        jitter: what randomness does to them.
        consumers: how many fail together, at least 1.
        attempts: retries of each, at least 1.
        rng: anything with `.random(size)`: a NumPy `Generator`, or the `LessonStream`.
        bucket_ms: width of a bucket in milliseconds, at least 1.

    Raises:
        ValueError: a value is out of range, or the retries spread over too many buckets.
    """
    consumers = whole_number("consumers", consumers, low=1)
    attempts = whole_number("attempts", attempts, low=1)
    bucket_ms = whole_number("bucket_ms", bucket_ms, low=1)
    per_chunk = max(1, DRAWS_PER_CHUNK // attempts)
    counts = np.zeros(0, dtype=np.int64)
    last_sum = 0
    for done in range(0, consumers, per_chunk):
        size = min(per_chunk, consumers - done)
        moment = np.zeros(size, dtype=np.int64)
        for waits in jitter.waits(schedule, size, attempts, rng).T:
            moment += waits
            counts = _add(counts, _bucket_counts(moment, bucket_ms))
        last_sum += int(moment.sum())
    return Burst(counts.astype(np.int64), bucket_ms, consumers, last_sum / consumers)
