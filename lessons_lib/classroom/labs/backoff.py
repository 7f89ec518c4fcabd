"""Two labs on backoff: what the schedules do, and what an outage does to them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.outage import OutageChart
from lessons_lib.classroom.charts.schedules import ScheduleChart
from lessons_lib.classroom.controls import Try, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.retries.backlog import Backlog, backlog_behind
from lessons_lib.retries.outage import ThroughOutage, through_outage
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate, Schedule
from lessons_lib.retries.time_budget import AttemptsWithin, attempts_within

__all__ = [
    "OutageComparison",
    "ScheduleComparison",
    "compare_outages",
    "compare_schedules",
    "four_schedules",
    "outage_lab",
    "schedule_lab",
]

MOST_MARKS = 400
BASES = [0, 10, 20, 50, 100, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000, 5000, 10000]
CAPS = [0, 500, 1000, 2000, 5000, 10000, 15000, 20000, 30000, 45000, 60000, 120000, 300000]
WAITS = [0, 100, 200, 500, 1000, 1500, 2000, 3000, 5000, 10000, 20000, 30000, 60000]
BUDGETS = [0, 1, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1800, 3600]
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


def _seconds(ms: float) -> str:
    return f"{ms / 1000:,.10g} s".replace(",", "\u2009") if ms < 1e12 else f"{ms / 1000:.3g} s"


def _count(attempts: int | None) -> str:
    return "no end" if attempts is None else str(attempts)


def _say_schedules(result: ScheduleComparison) -> str:
    fits = {name: _count(within.attempts) for name, within in result.within.items()}
    return (
        f"Attempts that fit into {_seconds(result.budget_ms)}: immediate {fits['immediate']}, "
        f"fixed {fits['fixed']}, exponential {fits['exponential']}, capped {fits['capped']}."
    )


def _schedule_table(result: ScheduleComparison) -> pd.DataFrame:
    rows = {
        name: {
            "first wait": _seconds(waits[0]),
            f"wait {len(waits)}": _seconds(waits[-1]),
            f"sum of {len(waits)}": _seconds(float(waits.sum(dtype=float))),
            "attempts that fit": _count(result.within[name].attempts),
            "time used": _seconds(result.within[name].elapsed_ms),
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
            Try("Factor 1", {"factor": 1}, "A factor of 1 makes exponential the same as fixed: the waits never grow."),
            Try("Factor 10", {"factor": 10}, "Three or four attempts, and the rest of the budget is one long wait."),
        ],
    )  # fmt: skip


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
        f"{name} {one.wasted} wasted and {_seconds(one.late_ms)} late"
        for name, one in result.chosen.items()
    ]
    return f"An outage of {_seconds(result.outage_ms)}: " + ", ".join(parts) + "."


def _outage_table(result: OutageComparison) -> pd.DataFrame:
    rows = {}
    for name, one in result.chosen.items():
        queue = result.backlog[name]
        empty = "never" if queue.empty_at_ms is None else _seconds(queue.empty_at_ms)
        rows[name] = {
            "wasted attempts": one.wasted,
            "late": _seconds(one.late_ms),
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
