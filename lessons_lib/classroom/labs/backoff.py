"""The schedule lab: four schedules against one time budget."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.schedules import ScheduleChart
from lessons_lib.classroom.controls import Try, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.classroom.words import count, seconds
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate, Schedule
from lessons_lib.retries.time_budget import AttemptsWithin, attempts_within

__all__ = [
    "BASES",
    "CAPS",
    "WAITS",
    "ScheduleComparison",
    "compare_schedules",
    "four_schedules",
    "schedule_lab",
]

MOST_MARKS = 400
BASES = [0, 10, 20, 50, 100, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000, 5000, 10000]
CAPS = [0, 500, 1000, 2000, 5000, 10000, 15000, 20000, 30000, 45000, 60000, 120000, 300000]
WAITS = [0, 100, 200, 500, 1000, 1500, 2000, 3000, 5000, 10000, 20000, 30000, 60000]
BUDGETS = [0, 1, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1800, 3600]


def four_schedules(
    base_ms: int = 500, factor: float = 2, cap_ms: int | None = 30000, fixed_ms: int = 2000
) -> dict[str, Schedule]:
    """Return the four schedules of the lesson by name: immediate, fixed, exponential, capped."""
    return {
        "immediate": Immediate(),
        "fixed": Fixed(fixed_ms),
        "exponential": Exponential(base_ms, factor),
        "capped": Exponential(base_ms, factor, cap_ms),
    }


@dataclass(frozen=True)
class ScheduleComparison:
    """Four schedules side by side; every dict is keyed by the schedule's name.

    Args:
        budget_ms: the time budget.
        waits_ms: waits before the first attempts, int64, shape (attempts,).
        moments_ms: when the attempts happen, as far as a picture can show, int64.
        within: attempts that fit into the budget.
    """

    budget_ms: int
    waits_ms: dict[str, np.ndarray]
    moments_ms: dict[str, np.ndarray]
    within: dict[str, AttemptsWithin]


def compare_schedules(
    base_ms: int = 500,
    factor: float = 2,
    cap_ms: int = 30000,
    fixed_ms: int = 2000,
    budget_s: int = 300,
    attempts: int = 8,
) -> ScheduleComparison:
    """Compute waits, moments and the attempts within a budget for the four schedules.

    Args:
        base_ms: first wait of the exponential schedules, in milliseconds.
        factor: their growth.
        cap_ms: the capped schedule's longest wait, in milliseconds.
        fixed_ms: wait of the fixed schedule, in milliseconds.
        budget_s: time budget in seconds.
        attempts: how many waits to list.
    """
    schedules = four_schedules(base_ms, factor, cap_ms, fixed_ms)
    budget_ms = budget_s * 1000
    within = {name: attempts_within(s, budget_ms) for name, s in schedules.items()}
    moments = {}
    for name, schedule in schedules.items():
        fit = within[name].attempts
        shown = min(MOST_MARKS, (0 if fit is None else fit) + 1)
        moments[name] = np.cumsum(schedule.waits(shown))
    waits = {name: schedule.waits(attempts) for name, schedule in schedules.items()}
    return ScheduleComparison(budget_ms, waits, moments, within)


def _say_schedules(result: ScheduleComparison) -> str:
    fits = {name: count(within.attempts) for name, within in result.within.items()}
    return (
        f"Attempts that fit into {seconds(result.budget_ms)}: immediate {fits['immediate']}, "
        f"fixed {fits['fixed']}, exponential {fits['exponential']}, capped {fits['capped']}."
    )


def _schedule_table(result: ScheduleComparison) -> pd.DataFrame:
    rows = {
        name: {
            "first wait": seconds(waits[0]),
            f"wait {len(waits)}": seconds(waits[-1]),
            f"sum of {len(waits)}": seconds(float(waits.sum(dtype=float))),
            "attempts that fit": count(result.within[name].attempts),
            "time used": seconds(result.within[name].elapsed_ms),
        }
        for name, waits in result.waits_ms.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("schedule")


def schedule_lab() -> Lab:
    """Build the lab of notebook 02: base, factor, cap, fixed wait and time budget."""
    return Lab(
        "Four schedules against one time budget",
        [
            slider("base_ms", "Base", BASES, 500, "ms"),
            slider("factor", "Factor", [0.5, 1, 1.1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 10], 2),
            slider("cap_ms", "Cap", CAPS, 30000, "ms"),
            slider("fixed_ms", "Fixed wait", WAITS, 2000, "ms"),
            slider("budget_s", "Time budget", BUDGETS, 300, "s"),
        ],
        compare_schedules,
        ScheduleChart,
        _say_schedules,
        table=_schedule_table,
        tries=[
            Try("Cap 5 s", {"cap_ms": 5000}, "How many attempts does a low cap add? The curve turns flat early."),
            Try("Factor 1", {"factor": 1}, "Exponential becomes a fixed wait of one base, 500 ms."),
            Try("Factor 10", {"factor": 10}, "Exponential makes three attempts; the rest of its budget is one long wait."),
        ],
    )  # fmt: skip
