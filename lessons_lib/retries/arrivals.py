"""How calls arrive: an open world that never waits for answers, or a closed one that does."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons_lib.errors import one_of, real_number, whole_number

__all__ = ["ClosedArrivals", "OpenArrivals"]


@dataclass(frozen=True)
class OpenArrivals:
    """New calls come at a rate of their own, however the earlier ones fare: users, events.

    Args:
        per_second: new calls a second.
        pattern: "regular" (evenly spread) or "poisson" (independent of each other).
        spike_ms: from when to when the rate is multiplied by `spike_factor`.
        spike_factor: 1 for no spike.
    """

    per_second: float = 280
    pattern: str = "regular"
    spike_ms: tuple[int, int] = (0, 0)
    spike_factor: float = 1

    def __post_init__(self) -> None:
        real_number("per_second", self.per_second, low=0)
        real_number("spike_factor", self.spike_factor, low=0)
        one_of("pattern", self.pattern, ("regular", "poisson"))

    def counts(self, buckets: int, bucket_ms: int, rng: Any) -> np.ndarray:
        """Return new calls per bucket, int64, shape (buckets,).

        Args:
            buckets: how many buckets.
            bucket_ms: their width in milliseconds.
            rng: a NumPy `Generator`; only the pattern "poisson" draws from it.
        """
        from_ms = np.arange(buckets) * bucket_ms
        rate = np.full(buckets, self.per_second * bucket_ms / 1000)
        rate[(from_ms >= self.spike_ms[0]) & (from_ms < self.spike_ms[1])] *= self.spike_factor
        if self.pattern == "poisson":
            return rng.poisson(rate)
        # The tiny addition keeps 0.1 + 0.1 + … from ending just below a whole number.
        return np.diff(np.floor(np.cumsum(rate) + 1e-9), prepend=0).astype(np.int64)


@dataclass(frozen=True)
class ClosedArrivals:
    """Each client makes its next call only after the last one ended: workers, consumers.

    Such a population slows down by itself when the service does.

    Args:
        clients: how many.
        think_ms: time a client spends between two calls, in milliseconds. All begin at
            moments spread evenly over one think time.
    """

    clients: int = 100
    think_ms: int = 1000

    def __post_init__(self) -> None:
        whole_number("clients", self.clients, low=1)
        whole_number("think_ms", self.think_ms, low=0)

    def counts(self, buckets: int, bucket_ms: int, rng: Any) -> np.ndarray:
        """Return every client's first call per bucket; later ones follow from the run."""
        first_ms = np.arange(self.clients) * self.think_ms // self.clients
        return np.bincount(first_ms // bucket_ms, minlength=buckets)[:buckets]
