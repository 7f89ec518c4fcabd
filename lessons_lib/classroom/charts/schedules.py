"""Waits per attempt on the left, attempts against a time budget on the right."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lessons_lib.classroom.style import BAD, INK, SCHEDULE_LOOKS, nice_limit, steady, tidy

__all__ = ["ScheduleChart"]


class ScheduleChart:
    """Draw a `ScheduleComparison`: its waits, and which attempts fit into the budget.

    Left: the wait before each attempt. Right: every attempt as a tick on the time axis, one
    row a schedule; the dashed line is the end of the budget. Ticks beyond it are hollow dots.
    """

    def __init__(self, figure: Figure) -> None:
        self.left, self.right = figure.subplots(1, 2, width_ratios=[2, 3])
        tidy(self.left, xlabel="attempt", ylabel="wait before it, seconds")
        tidy(self.right, xlabel="seconds since the first failure", grid="x")
        self.right.set_yticks(range(4), list(SCHEDULE_LOOKS), fontsize=9.5)
        self.right.set_ylim(3.6, -0.75)
        steady(self.left)
        self.waits, self.inside, self.outside, self.notes = {}, {}, {}, {}
        for row, (name, look) in enumerate(SCHEDULE_LOOKS.items()):
            (self.waits[name],) = self.left.plot([], [], markersize=4.5, label=name, **look)
            mark = {"color": look["color"], "linestyle": "", "clip_on": True}
            (self.inside[name],) = self.right.plot([], [], marker="|", markersize=15, **mark)
            (self.outside[name],) = self.right.plot(
                [], [], marker="o", markersize=4, markerfacecolor="white", **mark
            )
            self.notes[name] = self.right.text(
                0, row - 0.36, "", fontsize=8.5, color=look["color"], va="center"
            )
        self.budget = self.right.axvline(0, color=BAD, linestyle="--", linewidth=1.6)
        self.label = self.right.text(0, -0.68, "", fontsize=9, color=INK, ha="right", va="top")
        self.left.legend(fontsize=8.5, frameon=False, loc="upper left")
        parts = (self.waits, self.inside, self.outside, self.notes)
        self.moving = [a for part in parts for a in part.values()] + [self.budget, self.label]

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a `ScheduleComparison`; return its limits."""
        budget = result.budget_ms / 1000
        for row, name in enumerate(SCHEDULE_LOOKS):
            waits = result.waits_ms[name] / 1000
            self.waits[name].set_data(np.arange(1, len(waits) + 1), waits)
            moments = result.moments_ms[name] / 1000
            fits = moments <= budget
            self.inside[name].set_data(moments[fits], np.full(fits.sum(), row))
            self.outside[name].set_data(moments[~fits], np.full((~fits).sum(), row))
            count = result.within[name].attempts
            self.notes[name].set_text("no end" if count is None else f"{count} attempts fit")
        self.budget.set_xdata([budget, budget])
        tallest = max(waits.max() for waits in result.waits_ms.values()) / 1000
        limits = (len(waits) + 0.5, nice_limit(tallest), nice_limit(budget * 1.1))
        self.label.set_text(f"budget {budget:g} s ")
        self.label.set_x(budget)
        self.left.set_xlim(0.5, limits[0])
        self.left.set_ylim(-0.02 * limits[1], limits[1])
        self.right.set_xlim(-0.01 * limits[2], limits[2])
        return limits
