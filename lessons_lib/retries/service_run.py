"""What a run of the limited service yields: load, successes, latency, queue depth per bucket."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["COUNTED", "ServiceRun"]

COUNTED = (
    "new",  # calls that begin
    "sent",  # requests that reach the service, first ones and retries: the load
    "refused",  # attempts the breaker held back
    "rejected",  # requests turned away: outage, collapse, full queue
    "timed_out",  # requests whose client stopped waiting
    "served",  # requests the service worked on
    "wasted",  # of those, requests nobody waited for any more
    "succeeded",  # calls that ended well
    "gave_up",  # calls that ended for good without success
    "queue",  # requests in the queue at the end of the bucket
    "backing_off",  # calls between two attempts at the end of the bucket
    "in_progress",  # calls that have begun and not ended, at the end of the bucket
)


@dataclass(frozen=True)
class ServiceRun:
    """A run of the limited service.

    Args:
        counts: one column for each word of `COUNTED`, int64, shape (buckets, columns).
        latency_ms: from the begin of a call to its success, retries included, for every
            success in order of time, int64, shape (successes,).
        mean_latency_ms: the same averaged per bucket, NaN where nothing succeeded.
        bucket_ms: width of a bucket in milliseconds.
    """

    counts: np.ndarray
    latency_ms: np.ndarray
    mean_latency_ms: np.ndarray
    bucket_ms: int

    def column(self, name: str) -> np.ndarray:
        """Return one of `COUNTED` per bucket."""
        return self.counts[:, COUNTED.index(name)]

    def total(self, name: str) -> int:
        """Return the sum of one of `COUNTED` over all buckets."""
        return int(self.column(name).sum())

    @property
    def in_progress(self) -> int:
        """Calls that had neither succeeded nor been given up when the run ended."""
        return int(self.column("in_progress")[-1])

    @property
    def load(self) -> float:
        """Requests per call: 1.0 without any retry."""
        return self.total("sent") / max(1, self.total("new"))

    def late(self, than_ms: int) -> int:
        """Return how many successes took longer than `than_ms` from the begin of their call."""
        return int(np.count_nonzero(self.latency_ms > than_ms))

    def recovered_ms(self, since_ms: int, share: float = 0.9, over_ms: int = 2000) -> int | None:
        """Return how long after `since_ms` calls succeed as fast as they come, for good.

        Looks at the last stretch of `over_ms` with fewer successes than `share` of its new
        calls. None: there was one at the very end, so the service had not recovered.

        Args:
            since_ms: when the trigger (outage, spike) was gone.
            share: successes per new call that count as recovered.
            over_ms: length of a stretch, in milliseconds.
        """
        width = max(1, over_ms // self.bucket_ms)
        window = np.ones(width, dtype=np.int64)
        good = np.convolve(self.column("succeeded"), window, mode="valid")
        new = np.convolve(self.column("new"), window, mode="valid")
        bad = np.flatnonzero(good < share * new)
        bad = bad[bad * self.bucket_ms >= since_ms]
        if not len(bad):
            return 0
        if bad[-1] >= len(good) - 1:
            return None
        return int((bad[-1] + 1) * self.bucket_ms - since_ms)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a bucket: from_ms, the columns of `COUNTED`, mean_latency_ms."""
        frame = pd.DataFrame(self.counts, columns=list(COUNTED))
        frame.insert(0, "from_ms", np.arange(len(frame)) * self.bucket_ms)
        frame["mean_latency_ms"] = self.mean_latency_ms
        return frame
