"""The budget lab: how many attempts, how much time, and which of the two ends a message."""

from dataclasses import dataclass

import pandas as pd

from lessons_lib.classroom.charts.two_budgets import TwoBudgetsChart
from lessons_lib.classroom.controls import Try, choice, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.classroom.labs.backoff import four_schedules
from lessons_lib.classroom.style import nice_limit
from lessons_lib.retries.budgets import ASK_AFTER, Budget
from lessons_lib.retries.course import Course, course_of
from lessons_lib.retries.schedules import Schedule

__all__ = ["BudgetComparison", "budget_lab", "compare_budgets", "ended_by"]

TIMES = [None, 0, 1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1800]
BASES = [0, 100, 200, 500, 1000, 2000, 3000, 5000, 10000, 20000, 60000]
CAPS = [500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000]
WORKS = [0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000]
RULES = {
    "at or before": "start at or before",
    "before": "start before",
    "finish by": "finish by",
    "ask after (overruns)": ASK_AFTER,
}
HEAD, TAIL = 5, 2  # rows of the table that are shown of a long course


@dataclass(frozen=True)
class BudgetComparison:
    """One message under each of the four schedules and one pair of budgets.

    Args:
        schedule: the schedule in the foreground.
        budget: both bounds and the stop rule.
        courses: each schedule's attempts and verdicts, by name.
        unmade_ms: when the attempt that time forbade would have started; None if the count
            ended it.
        until_ms: where the time axis ends.
    """

    schedule: str
    budget: Budget
    courses: dict[str, Course]
    unmade_ms: dict[str, int | None]
    until_ms: int


def compare_budgets(
    schedule: str = "capped",
    attempts: int = 8,
    time_s: int | None = 60,
    rule: str = "start at or before",
    work_ms: int = 0,
    base_ms: int = 500,
    cap_ms: int = 30000,
) -> BudgetComparison:
    """Send one message, whose every attempt fails, through each schedule.

    Args:
        schedule: the one in the foreground: "immediate", "fixed", "exponential" or "capped".
        attempts: most attempts, the first included.
        time_s: time budget in seconds since the first delivery, or None.
        rule: what must lie within the time.
        work_ms: how long an attempt takes, in milliseconds.
        base_ms: first wait of the exponential schedules, in milliseconds.
        cap_ms: the capped schedule's longest wait, in milliseconds.
    """
    budget = Budget(attempts, None if time_s is None else time_s * 1000, rule)
    courses, unmade = {}, {}
    for name, one in four_schedules(base_ms, 2, cap_ms).items():
        courses[name] = course_of(one, budget, work_ms=work_ms)
        unmade[name] = _unmade(one, courses[name], budget)
    return BudgetComparison(
        schedule, budget, courses, unmade, _until(courses[schedule], unmade[schedule], budget)
    )


def _unmade(schedule: Schedule, course: Course, budget: Budget) -> int | None:
    if course.attempts == budget.attempts:
        return None
    return course.ended_ms + schedule.wait(course.attempts)


def _until(course: Course, unmade_ms: int | None, budget: Budget) -> int:
    shown_ms = 1.04 * max(course.steps[-1].at_ms, unmade_ms or 0)
    if budget.time_ms is not None:
        shown_ms = max(1.12 * budget.time_ms, min(shown_ms, 4 * budget.time_ms))
    return round(nice_limit(shown_ms / 1000) * 1000)


def ended_by(course: Course, budget: Budget) -> str:
    """Return which budget ended a course: "count" or "time"."""
    return "count" if course.attempts == budget.attempts else "time"


def _s(ms: float) -> str:
    return f"{ms / 1000:,.10g} s".replace(",", "\u2009")


def _say(result: BudgetComparison) -> str:
    course, budget = result.courses[result.schedule], result.budget
    last_ms = course.steps[-1].at_ms
    words = f"{result.schedule.capitalize()}: "
    words += "1 attempt" if course.attempts == 1 else f"{course.attempts} attempts"
    words += f", the last at {_s(last_ms)}, then the dead-letter queue."
    if course.because.startswith("the first wait"):
        words += f" {course.because.capitalize()}."
    if budget.time_ms is not None and last_ms > budget.time_ms:
        words += f" It started {_s(last_ms - budget.time_ms)} after the end of the time budget."
    ends = {"count": [], "time": []}
    for name, one in result.courses.items():
        ends[ended_by(one, budget)].append(name)
    parts = [f"by the {end}: {', '.join(names)}" for end, names in ends.items() if names]
    return f"{words} Ended {'; '.join(parts)}."


def _table(result: BudgetComparison) -> pd.DataFrame:
    frame = result.courses[result.schedule].to_frame().set_index("attempt")
    frame["at_ms"] = frame["at_ms"].map(_s)
    frame["ended_ms"] = frame["ended_ms"].map(_s)
    frame.columns = ["starts at", "fails at", "verdict"]
    if len(frame) > HEAD + TAIL + 1:
        gap = pd.DataFrame([["…"] * 3], ["…"], frame.columns)
        frame = pd.concat([frame.head(HEAD), gap, frame.tail(TAIL)]).rename_axis("attempt")
    return frame


def budget_lab() -> Lab:
    """Build the first lab of notebook 04: a count and a time, and each delivery's verdict."""
    return Lab(
        "Two budgets for one message",
        [
            choice("schedule", "Schedule", {n: n for n in four_schedules()}, "capped"),
            choice("rule", "Stop rule", RULES, "start at or before"),
            slider("attempts", "Attempts", range(1, 31), 8),
            slider("time_s", "Time budget", TIMES, 60, "s"),
            slider("work_ms", "Work", WORKS, 0, "ms"),
            slider("base_ms", "Base", BASES, 500, "ms"),
            slider("cap_ms", "Cap", CAPS, 30000, "ms"),
        ],
        compare_budgets,
        TwoBudgetsChart,
        _say,
        table=_table,
        tries=[
            Try("Count alone", {"time_s": None, "attempts": 15}, "Fifteen attempts: how long does the message stay, under each schedule?"),
            Try("First wait too long", {"base_ms": 60000, "cap_ms": 60000, "time_s": 30}, "One attempt and no retry at all. The verdict says why."),
            Try("Ask after", {"rule": ASK_AFTER, "schedule": "exponential"}, "The last attempt starts 3.5 s after the end of the budget."),
            Try("The corner", {"attempts": 7, "time_s": 45}, "Both budgets are nearly used up: move either by one step and see which of them ends it."),
        ],
        height_px=340,
    )  # fmt: skip
