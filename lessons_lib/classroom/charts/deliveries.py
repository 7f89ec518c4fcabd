"""A run's event table as a picture: one row a message, one bar a delivery, processes on top."""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from lessons_lib.classroom.style import BAD, INK, nice_limit, tidy
from lessons_lib.events import Event

__all__ = ["DeliveriesChart", "DeliveriesPair"]

ENDS = {
    "acknowledged": {"facecolor": "#0072b2", "label": "processed"},
    "failed": {"facecolor": "#e69f00", "hatch": "....", "label": "error caught"},
    "died": {"facecolor": BAD, "hatch": "////", "label": "process died"},
    "dead-lettered": {"facecolor": "#1a1a1a", "label": "to the dead-letter queue"},
}
LEAST_SHARE = 0.006  # of the time axis: a delivery without work is still to be seen


def _box(start: float, end: float, row: float, height: float) -> list[tuple[float, float]]:
    low, high = row - height / 2, row + height / 2
    return [(start, low), (end, low), (end, high), (start, high)]


def _bars(log: Iterable[Event], least: float) -> tuple[dict[str, list], list, list[float]]:
    """Return the boxes of each kind of end, the boxes of the processes, the moments of deaths."""
    bars: dict[str, list] = {name: [] for name in ENDS}
    lives, deaths = [], []
    begun: dict[int, int] = {}
    process = 0
    for event in log:
        if event.event == "started":
            process = event.at_ms
        elif event.event == "delivered":
            begun[event.message] = event.at_ms
        elif event.event in ENDS and event.message in begun:
            start = begun.pop(event.message) / 1000
            bars[event.event].append(
                _box(start, max(event.at_ms / 1000, start + least), event.message, 0.62)
            )
        elif event.event == "dead-lettered":  # isolated by the queue, which delivers nothing
            start = event.at_ms / 1000
            bars[event.event].append(_box(start, start + least, event.message, 0.62))
        if event.event in ("died", "finished"):
            lives.append(_box(process / 1000, max(event.at_ms, process) / 1000 + least, 0, 0.5))
        if event.event == "died":
            deaths.append(event.at_ms / 1000 + least)
    return bars, lives, deaths


class DeliveriesChart:
    """Draw a `RunResult`, simulated or real.

    The top row has the consumer processes, a cross where one died. Below, one row a message:
    a bar from each delivery to its end; colour and hatching say how it ended.

    Args:
        figure: the figure to draw in.
        axes: axes to use instead of new ones.
        title: a word above the picture.
    """

    def __init__(self, figure: Figure, axes: Axes | None = None, title: str = "") -> None:
        self.axes = figure.subplots() if axes is None else axes
        tidy(self.axes, xlabel="seconds since the first start", grid="x")
        self.axes.set_title(title, fontsize=10, loc="left")
        self.ends = {}
        for name, look in ENDS.items():
            self.ends[name] = self.axes.add_collection(
                PolyCollection([], edgecolor="white", lw=0.4, **look)
            )
        self.lives = self.axes.add_collection(
            PolyCollection([], facecolor="#9a9a9a", label="process")
        )
        (self.crosses,) = self.axes.plot([], [], "X", color=BAD, markersize=7, markeredgecolor=INK)
        self.axes.legend(
            fontsize=8, frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.2,
        ).set_visible(not title)  # fmt: skip
        self.moving: list[Any] = [self.lives, *self.ends.values(), self.crosses]

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a `RunResult`; return its limits."""
        last = max((event.at_ms for event in result.log), default=0) / 1000
        limit = nice_limit(max(last, 0.1))
        bars, lives, deaths = _bars(result.log, LEAST_SHARE * limit)
        for name, boxes in bars.items():
            self.ends[name].set_verts(boxes)
        self.lives.set_verts(lives)
        self.crosses.set_data(deaths, [0] * len(deaths))
        messages = result.load.messages
        self.axes.set_xlim(-0.01 * limit, limit)
        self.axes.set_ylim(messages + 0.6, -0.6)
        step = 1 if messages <= 10 else 2
        shown = list(range(1, messages + 1, step))
        self.axes.set_yticks([0, *shown], ["process", *(f"message {n:>2}" for n in shown)])
        return (limit, messages)


class DeliveriesPair:
    """Draw two runs one above the other, such as the simulated and the real one.

    Args:
        figure: the figure to draw in.
        titles: the words above the two.
    """

    def __init__(self, figure: Figure, titles: tuple[str, str] = ("simulated", "real")) -> None:
        rows = figure.subplots(2, 1)
        self.charts = [DeliveriesChart(figure, a, t) for a, t in zip(rows, titles, strict=True)]
        handles, labels = self.charts[0].axes.get_legend_handles_labels()
        figure.legend(
            handles, labels, fontsize=8, frameon=False, ncols=5, loc="outside upper right"
        )
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a pair of `RunResult`s (a still picture)."""
        for chart, one in zip(self.charts, result, strict=True):
            chart.update(one)
