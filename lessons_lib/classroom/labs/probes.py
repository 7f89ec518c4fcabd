"""The lab on probes: one outage, the right liveness probe and another one side by side."""

from functools import partial

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.probes import ProbesPair
from lessons_lib.classroom.controls import Try, choice, slider, switch
from lessons_lib.classroom.lab import Lab
from lessons_lib.processes.probe_result import ProbeRun
from lessons_lib.processes.probes import Probes, simulate_probes

__all__ = ["probe_pair", "probes_lab", "seconds"]

TITLES = ("liveness looks at its own state", "the liveness probe of your choice")


def probe_pair(
    liveness: str = "dependency",
    outage_s: int = 45,
    period_s: int = 10,
    threshold: int = 3,
    startup_s: int = 60,
    replicas: int = 10,
    wedged: int = 0,
    needs: bool = False,
    seed: int = 0,
) -> tuple[ProbeRun, ProbeRun]:
    """Let the same outage meet the right liveness probe and another one.

    Args:
        liveness: what the second one looks at.
        outage_s: how long the dependency is away, in seconds.
        period_s: time between two liveness probes, in seconds.
        threshold: failures in a row until a replica is killed.
        startup_s: how long a start-up takes, in seconds.
        replicas: how many.
        wedged: how many of them the outage leaves stuck in their own state.
        needs: whether a start-up crashes while the dependency is away.
        seed: of the moments at which the replicas are probed.
    """
    return tuple(
        simulate_probes(
            Probes(
                looks_at, period_s * 1000, threshold,
                startup_ms=startup_s * 1000, startup_needs_dependency=needs,
            ),
            rng=np.random.default_rng(seed),
            replicas=replicas,
            outage_ms=outage_s * 1000,
            wedged=min(wedged, replicas),
        )
        for looks_at in ("own state", liveness)
    )  # fmt: skip


def seconds(ms: int | None) -> str:
    """Write a time in seconds, or "never"."""
    return "never" if ms is None else f"{ms / 1000:.1f} s"


def _say(pair: tuple[ProbeRun, ProbeRun]) -> str:
    right, other = pair
    return (
        f"Own state: {right.restarts} restarts, all ready {seconds(right.last_ms)} after the "
        f"outage. Your choice: {other.restarts} restarts, all ready {seconds(other.last_ms)}."
    ).replace("ready never", "ready: never")


def _table(pair: tuple[ProbeRun, ProbeRun]) -> pd.DataFrame:
    rows = [
        {
            "restarts": run.restarts,
            "first ready after": seconds(run.first_ms),
            "all ready after": seconds(run.last_ms),
            "nothing answered for": seconds(run.unavailable_ms),
        }
        for run in pair
    ]
    return pd.DataFrame(rows, pd.Index(["own state", "your choice"], name="liveness"))


def probes_lab() -> Lab:
    """Build the lab of notebook 08."""
    return Lab(
        "An outage, and what the liveness probe makes of it",
        [
            choice("liveness", "Your choice", {"the dependency": "dependency", "always ok": "always ok", "own state": "own state"}, "dependency"),
            slider("outage_s", "Outage", [0, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600], 45, "s"),
            slider("period_s", "Probe period", [1, 2, 5, 10, 15, 20, 30, 60], 10, "s"),
            slider("threshold", "Failure threshold", range(1, 11), 3),
            slider("startup_s", "Start-up", [0, 1, 2, 5, 10, 20, 30, 60, 90, 120], 60, "s"),
            slider("replicas", "Replicas", range(1, 21), 10),
            slider("wedged", "Wedged by it", range(0, 11), 0),
            switch("needs", "Start-up needs the dependency"),
            slider("seed", "Seed", range(0, 11), 0),
        ],
        probe_pair,
        partial(ProbesPair, titles=TITLES),
        _say,
        table=_table,
        tries=[
            Try("Long outage", {"outage_s": 300, "startup_s": 20}, "The restarts come later and later. How long after the outage is the last replica still waiting for its turn?"),
            Try("Patient", {"threshold": 10}, "A high threshold hides the mistake for outages this short. How long may an outage be until it shows?"),
            Try("Quick start", {"startup_s": 1}, "The start-up is over in a second. Compare the moment when all are ready, and the number of restarts."),
            Try("Wedged, always ok", {"liveness": "always ok", "wedged": 4}, "Four replicas never come back. What would the dashboard of their liveness say?"),
        ],
        height_px=480,
    )  # fmt: skip
