"""The outage lab: how late and how wasteful each schedule is, and what the queue does."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.outage import OutageChart
from lessons_lib.classroom.controls import Try, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.classroom.labs.backoff import BASES, CAPS, WAITS, four_schedules
from lessons_lib.classroom.words import seconds
from lessons_lib.retries.backlog import Backlog, backlog_behind
from lessons_lib.retries.outage import ThroughOutage, through_outage

__all__ = ["OutageComparison", "compare_outages", "outage_lab"]

OUTAGES = [
    0,
    500,
    1000,
    2000,
    3000,
    5000,
    8000,
    *range(10000, 60000, 5000),
    *range(60000, 610000, 10000),
]


@dataclass(frozen=True)
class OutageComparison:
    """Four schedules through outages; every dict is keyed by the schedule's name.

    Args:
        outage_ms: the outage chosen.
        outages_ms: the outage lengths of the curves, int64, shape (lengths,).
        late_ms: how late each schedule is, per outage length.
        wasted: attempts wasted, per outage length.
        chosen: the result for the chosen outage.
        backlog: the queue behind the waiting message for the chosen outage.
        until_ms: where the backlog's time axis ends.
    """

    outage_ms: int
    outages_ms: np.ndarray
    late_ms: dict[str, np.ndarray]
    wasted: dict[str, np.ndarray]
    chosen: dict[str, ThroughOutage]
    backlog: dict[str, Backlog]
    until_ms: int


def compare_outages(
    outage_ms: int = 60000,
    base_ms: int = 500,
    cap_ms: int = 30000,
    fixed_ms: int = 2000,
    call_ms: int = 50,
    arrivals_per_s: int = 2,
) -> OutageComparison:
    """Send one client through outages of every length, and one queue through the chosen one.

    Args:
        outage_ms: the outage chosen, in milliseconds.
        base_ms: first wait of the exponential schedules, in milliseconds; the factor is 2.
        cap_ms: the capped schedule's longest wait, in milliseconds.
        fixed_ms: wait of the fixed schedule, in milliseconds.
        call_ms: how long a failing call takes, in milliseconds. Without it, immediate
            retries would have no end. The consumer's work on a message takes four times that.
        arrivals_per_s: messages that arrive per second.
    """
    schedules = four_schedules(base_ms, 2, cap_ms, fixed_ms)
    lengths = np.array(OUTAGES, dtype=np.int64)
    late, wasted, chosen, backlog = {}, {}, {}, {}
    for name, schedule in schedules.items():
        through = [through_outage(schedule, int(d), work_ms=call_ms) for d in lengths]
        late[name] = np.array([result.late_ms for result in through], dtype=np.int64)
        wasted[name] = np.array([result.wasted for result in through], dtype=np.int64)
        chosen[name] = through_outage(schedule, outage_ms, work_ms=call_ms)
    until_ms = max(10000, 3 * outage_ms)
    for name, result in chosen.items():
        backlog[name] = backlog_behind(
            result,
            arrival_ms=1000 // arrivals_per_s,
            work_ms=4 * call_ms,
            until_ms=until_ms,
            every_ms=max(100, until_ms // 400),
        )
    return OutageComparison(outage_ms, lengths, late, wasted, chosen, backlog, until_ms)


def _say_outage(result: OutageComparison) -> str:
    parts = [
        f"{name} {one.wasted} wasted and {seconds(one.late_ms)} late"
        for name, one in result.chosen.items()
    ]
    return f"An outage of {seconds(result.outage_ms)}: " + ", ".join(parts) + "."


def _outage_table(result: OutageComparison) -> pd.DataFrame:
    rows = {}
    for name, one in result.chosen.items():
        queue = result.backlog[name]
        empty = "never" if queue.empty_at_ms is None else seconds(queue.empty_at_ms)
        rows[name] = {
            "wasted attempts": one.wasted,
            "late": seconds(one.late_ms),
            "longest queue": queue.peak,
            "queue empty at": empty,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("schedule")


def outage_lab() -> Lab:
    """Build the outage lab of notebook 02."""
    return Lab(
        "How late, how wasteful, and what the queue does meanwhile",
        [
            slider("outage_ms", "Outage", OUTAGES, 60000, "ms"),
            slider("base_ms", "Base", BASES[1:], 500, "ms"),
            slider("cap_ms", "Cap", CAPS[1:], 30000, "ms"),
            slider("fixed_ms", "Fixed wait", WAITS[1:], 2000, "ms"),
            slider("arrivals_per_s", "Arrivals", [1, 2, 4, 5], 2, "per second"),
        ],
        compare_outages,
        OutageChart,
        _say_outage,
        table=_outage_table,
        tries=[
            Try("A blip of 1 s", {"outage_ms": 1000}, "Exponential notices a short outage sooner than fixed 2 s."),
            Try("Five minutes", {"outage_ms": 300000}, "How many attempts does fixed waste? How late is the uncapped schedule?"),
            Try("Full queue", {"outage_ms": 120000, "arrivals_per_s": 5}, "Work takes as long as a message needs to arrive: the queue never shrinks."),
        ],
        height_px=380,
    )  # fmt: skip
