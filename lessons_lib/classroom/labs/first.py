"""The smallest lab: one slider, one curve. Made to learn how a lab works."""

import pandas as pd

from lessons_lib.classroom.charts.schedules import ScheduleChart
from lessons_lib.classroom.controls import Try, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.classroom.labs.backoff import ScheduleComparison, compare_schedules

__all__ = ["first_lab"]


def _say(result: ScheduleComparison) -> str:
    count = result.within["fixed"].attempts
    if count is None:
        return "With no wait at all, attempts have no end."
    return f"With this fixed wait {count} attempts fit into {result.budget_ms // 1000} s."


def _table(result: ScheduleComparison) -> pd.DataFrame:
    within = result.within["fixed"]
    used = {"attempts": within.attempts or "no end", "time used": f"{within.elapsed_ms} ms"}
    return pd.DataFrame([used], index=["fixed"]).rename_axis("schedule")


def _model(fixed_ms: int) -> ScheduleComparison:
    return compare_schedules(fixed_ms=fixed_ms, budget_s=60)


def first_lab() -> Lab:
    """Build the practice lab of the start page."""
    return Lab(
        "Practice lab: one slider",
        [slider("fixed_ms", "Fixed wait", range(0, 10500, 500), 2000, "ms")],
        _model,
        ScheduleChart,
        _say,
        table=_table,
        tries=[
            Try(
                "Shortest", {"fixed_ms": 0}, "No wait at all: time alone never stops the attempts."
            ),
            Try(
                "One second",
                {"fixed_ms": 1000},
                "60 attempts: twice as many as with a wait of 2 s.",
            ),
            Try("Longest", {"fixed_ms": 10000}, "Few attempts, far apart."),
        ],
        height_px=280,
    )
