"""How late and how wasteful each schedule is, over the length of an outage; and the queue."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lessons_lib.classroom.style import BAD, SCHEDULE_LOOKS, nice_limit, steady, tidy

__all__ = ["OutageChart"]


class OutageChart:
    """Draw an `OutageComparison`.

    Top left: seconds between the end of the outage and the first success, for every outage
    length. Bottom left: attempts wasted, on a scale of powers of ten. Right: the queue behind
    the waiting message for the outage chosen; the grey band is the outage.
    """

    def __init__(self, figure: Figure) -> None:
        grid = figure.subplot_mosaic([["late", "queue"], ["wasted", "queue"]], width_ratios=[1, 1])
        self.late, self.wasted, self.queue = grid["late"], grid["wasted"], grid["queue"]
        tidy(self.late, ylabel="late, seconds")
        tidy(self.wasted, xlabel="length of the outage, seconds", ylabel="wasted attempts")
        tidy(self.queue, xlabel="seconds since the outage began", ylabel="messages waiting")
        self.wasted.set_yscale("symlog", linthresh=1)
        steady(self.late)
        steady(self.queue)
        self.curves, self.dots, self.queues = {}, {}, {}
        for name, look in SCHEDULE_LOOKS.items():
            line = {key: look[key] for key in ("color", "linestyle")}
            dot = {"color": look["color"], "marker": look["marker"], "linestyle": ""}
            for axes in (self.late, self.wasted):
                (self.curves[name, axes],) = axes.plot([], [], linewidth=1.3, label=name, **line)
                (self.dots[name, axes],) = axes.plot([], [], markersize=7, **dot)
            (self.queues[name],) = self.queue.plot([], [], linewidth=1.6, label=name, **line)
        self.marks = [
            axes.axvline(0, color=BAD, linestyle=":", linewidth=1)
            for axes in (self.late, self.wasted)
        ]
        self.band = self.queue.axvspan(0, 1, color="#ececec", zorder=0)
        self.queue.legend(fontsize=8.5, frameon=False, loc="upper right")
        lines = [*self.curves.values(), *self.dots.values(), *self.queues.values()]
        self.moving = [self.band, *lines, *self.marks]

    def update(self, result: Any) -> tuple[float, ...]:
        """Show an `OutageComparison`; return its limits."""
        outage = result.outage_ms / 1000
        seconds = result.outages_ms / 1000
        for name in SCHEDULE_LOOKS:
            chosen = result.chosen[name]
            for axes, curve, value in (
                (self.late, result.late_ms[name] / 1000, chosen.late_ms / 1000),
                (self.wasted, result.wasted[name], chosen.wasted),
            ):
                self.curves[name, axes].set_data(seconds, curve)
                self.dots[name, axes].set_data([outage], [value])
            backlog = result.backlog[name]
            at = np.arange(len(backlog.waiting)) * backlog.every_ms / 1000
            self.queues[name].set_data(at, backlog.waiting)
        for mark in self.marks:
            mark.set_xdata([outage, outage])
        self.band.set_bounds(0, 0, outage, 1)
        limits = (
            float(seconds[-1]),
            nice_limit(max(curve.max() for curve in result.late_ms.values()) / 1000),
            nice_limit(max(curve.max() for curve in result.wasted.values())),
            nice_limit(max(backlog.peak for backlog in result.backlog.values())),
            nice_limit(result.until_ms / 1000),
        )
        self.late.set_xlim(0, limits[0])
        self.wasted.set_xlim(0, limits[0])
        self.late.set_ylim(-0.03 * limits[1], limits[1])
        self.wasted.set_ylim(-0.3, limits[2])
        self.queue.set_ylim(0, limits[3])
        self.queue.set_xlim(0, limits[4])
        return limits
