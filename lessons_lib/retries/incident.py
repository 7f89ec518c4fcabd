"""An incident to play through: a service fails for a while, and a policy must get it over."""

from dataclasses import dataclass

import numpy as np

from lessons_lib.errors import real_number, whole_number
from lessons_lib.retries.arrivals import OpenArrivals
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.service import Service, run_service
from lessons_lib.retries.service_run import ServiceRun

__all__ = ["AFTER_MS", "BEFORE_MS", "Incident", "random_incident", "run_incident"]

BEFORE_MS = 3000
"""How long the service works before the outage, in milliseconds."""
AFTER_MS = 60_000
"""How long the run goes on after the outage, in milliseconds."""


@dataclass(frozen=True)
class Incident:
    """An outage of a service whose messages keep coming.

    Args:
        outage_ms: how long the service is down.
        capacity_per_second: messages it can work on.
        arrivals_per_second: new messages, spread at random; below the capacity, or the queue
            would grow without any outage.
        collapse_at: queue length that brings the service down again for 3 s, or None.
        seed: chooses the random arrivals and waits, so that two policies meet the same luck.
    """

    outage_ms: int = 15_000
    capacity_per_second: int = 100
    arrivals_per_second: float = 50
    collapse_at: int | None = 300
    seed: int = 1

    def __post_init__(self) -> None:
        whole_number("outage_ms", self.outage_ms, low=0)
        whole_number("capacity_per_second", self.capacity_per_second, low=10)
        real_number("arrivals_per_second", self.arrivals_per_second, low=0)
        if self.arrivals_per_second >= self.capacity_per_second:
            raise ValueError(
                f"arrivals_per_second must be below the capacity of {self.capacity_per_second}, "
                f"got {self.arrivals_per_second!r}"
            )
        if self.collapse_at is not None:
            whole_number("collapse_at", self.collapse_at, low=1)

    @property
    def over_ms(self) -> int:
        """When the outage is over."""
        return BEFORE_MS + self.outage_ms


def run_incident(incident: Incident, policy: Policy) -> ServiceRun:
    """Run the incident under a policy, in steps of 200 ms; clients wait 1 s for an answer."""
    service = Service(
        capacity=incident.capacity_per_second // 5,
        bucket_ms=200,
        collapse_at=incident.collapse_at,
        restart_ms=3000,
        outage_ms=(BEFORE_MS, incident.over_ms),
    )
    arrivals = OpenArrivals(incident.arrivals_per_second, "poisson")
    rng = np.random.default_rng(incident.seed)
    return run_service(
        service, arrivals, policy, rng, timeout_ms=1000, until_ms=incident.over_ms + AFTER_MS
    )


def random_incident(seed: int) -> Incident:
    """Return an incident drawn from the seed: outage 2 to 30 s, load 30 to 80 % of the capacity."""
    rng = np.random.default_rng(whole_number("seed", seed, low=0))
    capacity = 10 * int(rng.integers(4, 11))
    return Incident(
        outage_ms=1000 * int(rng.integers(2, 31)),
        capacity_per_second=capacity,
        arrivals_per_second=int(capacity * rng.uniform(0.3, 0.8)),
        collapse_at=int(capacity * rng.integers(2, 6)) if rng.random() < 0.7 else None,
        seed=seed,
    )
