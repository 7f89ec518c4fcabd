"""The counting while a limited service runs, apart from the model so that both stay readable."""

import numpy as np

from lessons_lib.retries.service_run import COUNTED, ServiceRun

__all__ = ["Tally"]


class Tally:
    """Counts per bucket, made into a `ServiceRun` at the end."""

    def __init__(self, buckets: int, bucket_ms: int) -> None:
        self._bucket_ms = bucket_ms
        self._columns = {name: [0] * buckets for name in COUNTED}
        self._latencies: list[np.ndarray] = []
        self._latency_sum = np.zeros(buckets)

    def add(self, bucket: int, name: str, count: int) -> None:
        """Add to one of `COUNTED` in one bucket."""
        self._columns[name][bucket] += count

    def success(self, bucket: int, latency_ms: np.ndarray) -> None:
        """Add calls that succeeded in one bucket, with their latencies."""
        if len(latency_ms):
            self.add(bucket, "succeeded", len(latency_ms))
            self._latencies.append(latency_ms)
            self._latency_sum[bucket] = latency_ms.sum()

    def result(self) -> ServiceRun:
        """Return all that was counted."""
        counts = np.array([self._columns[name] for name in COUNTED], dtype=np.int64).T
        successes = counts[:, COUNTED.index("succeeded")]
        mean = np.full(len(successes), np.nan)
        np.divide(self._latency_sum, successes, out=mean, where=successes > 0)
        latency_ms = np.concatenate([*self._latencies, np.zeros(0, dtype=np.int64)])
        return ServiceRun(counts, latency_ms, mean, self._bucket_ms)
