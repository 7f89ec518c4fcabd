"""Starts of a process that always crashes, added up over time, one line a way to restart."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from lessons_lib.classroom.style import nice_limit, tidy

__all__ = ["RestartsChart"]

LOOKS = (
    {"color": "#000000", "linestyle": ":", "marker": "x"},
    {"color": "#e69f00", "linestyle": "--", "marker": "s"},
    {"color": "#0072b2", "linestyle": "-", "marker": "o"},
    {"color": "#d55e00", "linestyle": "-.", "marker": "^"},
)
MOST_POINTS = 400


class RestartsChart:
    """Draw a dict of name → `Storm`, at most four, simulated or real.

    Across: seconds since the first start. Up: starts so far, on a logarithmic scale, so that
    ten and ten thousand fit in one picture.

    Args:
        figure: the figure to draw in.
        names: the lines, in order.
    """

    def __init__(self, figure: Figure, names: tuple[str, ...]) -> None:
        self.axes = figure.subplots()
        tidy(self.axes, xlabel="seconds since the first start", ylabel="starts so far", grid="both")
        self.axes.set_yscale("log")
        self.axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}".rjust(6, "\u2007")))
        self.lines = {
            name: self.axes.plot(
                [], [], drawstyle="steps-post", lw=1.8, markersize=5, label=name, **look
            )[0]
            for name, look in zip(names, LOOKS, strict=False)
        }
        self.axes.legend(
            fontsize=8.5, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )
        self.moving: list[Any] = list(self.lines.values())

    def update(self, result: Any) -> tuple[float, float]:
        """Show the storms; return the limits of both axes."""
        last_s = max(storm.for_ms for storm in result.values()) / 1000
        most = max(storm.starts for storm in result.values())
        for name, line in self.lines.items():
            storm = result[name]
            shown = np.unique(np.linspace(0, storm.starts - 1, MOST_POINTS).astype(int))
            at = np.append(np.asarray(storm.starts_ms)[shown] / 1000, storm.for_ms / 1000)
            line.set_data(at, np.append(shown + 1, storm.starts))
            line.set_markevery((0, max(1, len(shown) // 12)))
        limits = (last_s, nice_limit(most * 1.3))
        self.axes.set_xlim(0, limits[0])
        self.axes.set_ylim(0.8, limits[1])
        return limits
