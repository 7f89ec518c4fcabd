"""The table of outages and liveness probes: means of many runs, each with random moments."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from lessons_lib.processes.probes import Probes, simulate_probes

__all__ = ["OUTAGES", "mean_of_probes", "probe_table"]


def _asks(period_s: int, threshold: int, startup_s: int = 20, **more: Any) -> Probes:
    return Probes("dependency", period_s * 1000, threshold, startup_ms=startup_s * 1000, **more)


_NEEDS = {"startup_needs_dependency": True}

OUTAGES: dict[tuple[int, str], Probes] = {
    (20, "own state"): Probes(),
    (20, "dependency, 10 s × 3"): _asks(10, 3),
    (20, "dependency, 10 s × 1"): _asks(10, 1),
    (45, "own state"): Probes(),
    (45, "dependency, 10 s × 3"): _asks(10, 3),
    (45, "dependency, 10 s × 3, start-up 60 s"): _asks(10, 3, 60),
    (45, "dependency, 5 s × 2"): _asks(5, 2),
    (45, "dependency, and start-up needs it"): _asks(10, 3, **_NEEDS),
    (120, "own state"): Probes(),
    (120, "dependency, 10 s × 3"): _asks(10, 3),
    (120, "dependency, 10 s × 3, start-up 60 s"): _asks(10, 3, 60),
    (120, "dependency, and start-up needs it"): _asks(10, 3, **_NEEDS),
    (300, "own state"): Probes(),
    (300, "dependency, 10 s × 3"): _asks(10, 3),
    (300, "dependency, 10 s × 1"): _asks(10, 1),
    (300, "dependency, 30 s × 3"): _asks(30, 3),
}
"""Outage in seconds, and the liveness probe in words: what it asks, period × threshold."""


def mean_of_probes(probes: Probes, outage_ms: int, *, seeds: int = 30, replicas: int = 10) -> dict:
    """Return the means of `seeds` runs: "restarts", and "first s", "last s" after the outage.

    Args:
        probes: what is asked.
        outage_ms: how long the dependency is away.
        seeds: how many runs, with the seeds 0, 1, 2, …
        replicas: how many.
    """
    runs = [
        simulate_probes(
            probes, rng=np.random.default_rng(seed), replicas=replicas, outage_ms=outage_ms
        )
        for seed in range(seeds)
    ]
    return {
        "restarts": round(fmean(run.restarts for run in runs), 1),
        "first s": round(fmean(run.first_ms for run in runs) / 1000, 1),
        "last s": round(fmean(run.last_ms for run in runs) / 1000, 1),
    }


def probe_table(
    outages: Mapping[tuple[int, str], Probes] = OUTAGES, *, seeds: int = 30, replicas: int = 10
) -> pd.DataFrame:
    """Return one row an outage and probe: restarts, and seconds until ready again.

    Columns: "restarts", "first s" and "last s", means over the seeds.
    """
    rows = [
        mean_of_probes(probes, outage_s * 1000, seeds=seeds, replicas=replicas)
        for (outage_s, _), probes in outages.items()
    ]
    index = pd.MultiIndex.from_tuples(list(outages), names=["outage s", "liveness"])
    return pd.DataFrame(rows, index=index)
