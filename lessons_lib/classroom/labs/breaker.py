"""The second breaker lab: a breaker taken through an outage, beside a client without one."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.breaker_timeline import BreakerChart
from lessons_lib.classroom.controls import Try, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.breaker_result import BreakerRun
from lessons_lib.retries.breaker_run import run_through_outage
from lessons_lib.retries.trip import InARow

__all__ = ["OutageView", "breaker_lab", "outage_table", "outage_view"]

BEFORE_MS, AFTER_MS, EVERY_MS = 10_000, 10_000, 100


@dataclass(frozen=True)
class OutageView:
    """One outage with a breaker, and the same without.

    Args:
        run: with the breaker.
        plain: without.
        outage_ms: from when to when the service, or a part of it, fails.
        until_ms: end of the picture.
        closed_ms: time from the end of the outage to the breaker's closing, or None if it
            does not close.
    """

    run: BreakerRun
    plain: BreakerRun
    outage_ms: tuple[int, int]
    until_ms: int
    closed_ms: int | None


@lru_cache(maxsize=64)
def _plain(outage_ms: tuple[int, int], until_ms: int, answer_ms: int, bad: int) -> BreakerRun:
    return _run(None, outage_ms, until_ms, answer_ms, bad)


def _run(
    breaker: Breaker | None, outage_ms: tuple[int, int], until_ms: int, answer_ms: int, bad: int
) -> BreakerRun:
    return run_through_outage(
        breaker, outage_ms=outage_ms, until_ms=until_ms, every_ms=EVERY_MS, answer_ms=answer_ms,
        shards=10, bad_shards=bad, rng=np.random.default_rng(5),
    )  # fmt: skip


def outage_view(
    threshold: int = 5,
    pause_s: int = 5,
    permits: int = 1,
    outage_s: int = 60,
    answer_ms: int = 200,
    bad: int = 10,
) -> OutageView:
    """Take a breaker through an outage that begins at 10 s, ten calls a second.

    Args:
        threshold: failures in a row that open it.
        pause_s: how long it stays open, in seconds.
        permits: probes of a half-open period.
        outage_s: length of the outage in seconds.
        answer_ms: how long a call takes, good or bad; a probe counts as failed after 2000 ms.
        bad: how many tenths of the service fail.
    """
    outage_ms = (BEFORE_MS, BEFORE_MS + 1000 * outage_s)
    until_ms = outage_ms[1] + 1000 * pause_s + AFTER_MS
    breaker = Breaker(InARow(threshold), pause_ms=1000 * pause_s, permits=permits)
    run = _run(breaker, outage_ms, until_ms, answer_ms, bad)
    states = run.states
    opened = bool((states["event"] == "open").any())
    closed_ms = None
    if opened and states["event"].iloc[-1] == "closed":
        closed_ms = int(states["at_ms"].iloc[-1]) - outage_ms[1]
    plain = _plain(outage_ms, until_ms, answer_ms, bad)
    return OutageView(run, plain, outage_ms, until_ms, closed_ms)


def _s(ms: int | None) -> str:
    return "never" if ms is None else f"{ms / 1000:g} s"


def _say_outage(view: OutageView) -> str:
    run = view.run
    calls = f"{run.wasted} of {view.plain.wasted} calls wasted, {run.refused} refused"
    if len(run.states) == 1:
        return f"{calls}: the breaker never opens."
    if view.closed_ms is None:
        return (
            f"{calls}. The outage is over, and the breaker does not close again in the time shown."
        )
    if view.closed_ms < 0:
        return f"{calls}. The breaker was closed {_s(-view.closed_ms)} before the outage ended."
    return (
        f"{calls}. First success {_s(run.late_ms)} after the outage; closed again after "
        f"{_s(view.closed_ms)}."
    )


def outage_table(runs: dict[str, BreakerRun]) -> pd.DataFrame:
    """Return one row a run: what was wasted, refused, done, and how late it resumed."""
    rows = {
        name: {
            "wasted": run.wasted,
            "refused": run.refused,
            "of them healthy": run.refused_healthy,
            "succeeded": run.succeeded,
            "first success after": _s(run.late_ms),
        }
        for name, run in runs.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def breaker_lab() -> Lab:
    """Build the second lab of notebook 05: a breaker through an outage."""
    return Lab(
        "A breaker through an outage: ten calls a second",
        [
            slider("threshold", "Threshold", range(1, 21), 5),
            slider("pause_s", "Pause", [1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60], 5, "s"),
            slider("permits", "Permits", range(1, 11), 1),
            slider("outage_s", "Outage", [1, 2, 5, 10, 20, 30, 45, 60, 90, 120], 60, "s"),
            slider("answer_ms", "A call takes", [50, 100, 200, 500, 1000, 1500, 1900, 3000], 200, "ms"),
            slider("bad", "Failing part", range(1, 11), 10, "tenths"),
        ],
        outage_view,
        BreakerChart,
        _say_outage,
        table=lambda view: outage_table({"no breaker": view.plain, "this breaker": view.run}),
        tries=[
            Try("Long pause", {"pause_s": 45}, "Few calls are wasted. How long does the consumer stand still after the outage?"),
            Try("A blip", {"outage_s": 2, "pause_s": 30}, "The outage lasts 2 s. Who keeps the consumer from working for the rest of the time?"),
            Try("Slow calls, many permits", {"answer_ms": 1500, "permits": 10}, "How many probes are on their way before the first one fails?"),
            Try("Slower than the probe limit", {"answer_ms": 3000}, "Every probe succeeds after the outage. Why does the breaker not close?"),
            Try("One tenth fails", {"bad": 1, "threshold": 1}, "Which calls are refused now: those that would fail?"),
        ],
        height_px=350,
    )  # fmt: skip
