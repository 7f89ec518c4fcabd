"""Attempts against time: the two budgets as a corner, and each schedule's way out of it."""

from typing import Any

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.style import BAD, INK, SCHEDULE_LOOKS, steady, tidy

__all__ = ["TwoBudgetsChart"]

TOPS = (2.4, 4, 6, 8, 10, 12, 15, 18, 22, 27, 34)  # where the axis of attempts may end


class TwoBudgetsChart:
    """Draw a `BudgetComparison`: each schedule climbs a step an attempt, until a budget ends it.

    Along: seconds since the first delivery. Up: attempts made. The pale field is what both
    budgets allow. A schedule that meets its upper edge is ended by the count, one that meets
    its right edge by the time: the hollow mark is the attempt that was not made any more.
    """

    def __init__(self, figure: Figure) -> None:
        self.axes = figure.subplots()
        tidy(self.axes, xlabel="seconds since the first delivery", ylabel="attempts", grid="both")
        self.axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
        steady(self.axes, 3)
        self.field = self.axes.add_collection(PolyCollection([], facecolor="#f0f0f0", zorder=0.5))
        edge = {"color": BAD, "linestyle": "--", "linewidth": 1.6}
        (self.edges,) = self.axes.plot([], [], label="the two budgets", **edge)
        self.paths, self.beyond, self.unmade, self.last = {}, {}, {}, {}
        for name, look in SCHEDULE_LOOKS.items():
            line = {key: look[key] for key in ("color", "linestyle")}
            (self.paths[name],) = self.axes.plot(
                [], [], drawstyle="steps-post", marker=look["marker"], markersize=4.5, label=name, **line
            )  # fmt: skip
            (self.beyond[name],) = self.axes.plot([], [], color=look["color"], linestyle=":", lw=1)
            (self.unmade[name],) = self.axes.plot(
                [], [], look["marker"] if look["marker"] != "x" else "o", color=look["color"],
                markerfacecolor="white", markersize=7, linestyle="",
            )  # fmt: skip
            (self.last[name],) = self.axes.plot(
                [], [], "s", markerfacecolor="none", markeredgecolor=INK, markersize=11, mew=1.4
            )
        self.corner = self.axes.annotate(
            "", (0, 0), (-3, 8), textcoords="offset points", fontsize=9, color=INK
        )
        self.axes.legend(
            fontsize=8.5, frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )
        parts = (self.paths, self.beyond, self.unmade, self.last)
        moving = [artist for part in parts for artist in part.values()]
        self.moving: list[Any] = [self.field, self.edges, *moving, self.corner]

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a `BudgetComparison`; return its limits."""
        most = result.budget.attempts
        right = result.until_ms / 1000
        wall = right if result.budget.time_ms is None else result.budget.time_ms / 1000
        self.field.set_verts([[(0, 0), (wall, 0), (wall, most), (0, most)]])
        corner = [(0, most), (wall, most)] + ([] if result.budget.time_ms is None else [(wall, 0)])
        self.edges.set_data([x for x, _ in corner], [y for _, y in corner])
        for name, course in result.courses.items():
            chosen = name == result.schedule
            at = [step.at_ms / 1000 for step in course.steps]
            made = [step.attempt for step in course.steps]
            self.paths[name].set_data(at, made)
            self.paths[name].set_linewidth(2.6 if chosen else 1.1)
            self.paths[name].set_alpha(1 if chosen else 0.75)
            self.last[name].set_data(at[-1:] if chosen else [], made[-1:] if chosen else [])
            after = result.unmade_ms[name]
            there = after is not None
            self.unmade[name].set_data(
                [after / 1000] if there else [], [made[-1] + 1] if there else []
            )
            self.beyond[name].set_data(
                [at[-1], after / 1000] if there else [], [made[-1], made[-1] + 1] if there else []
            )
        words = f"at most {most} attempts" if most > 1 else "at most 1 attempt"
        if result.budget.time_ms is not None:
            words += f", {wall:g} s"
        self.corner.set_text(words)
        self.corner.xy = (wall, most)
        self.corner.set_ha("left" if wall < 0.3 * right else "right")  # where there is room
        limits = (right, next(top for top in TOPS if top > most * 1.08 + 0.3))
        self.axes.set_xlim(-0.015 * right, right)
        self.axes.set_ylim(0, limits[1])
        return limits
