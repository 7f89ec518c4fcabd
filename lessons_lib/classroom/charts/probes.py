"""An outage and the replicas under their probes: one row a replica, its states as bands."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from lessons_lib.classroom.style import BAD, INK, tidy

__all__ = ["ProbesChart", "ProbesPair"]

STATES = {
    "ready": {"facecolor": "#9ccbe8", "label": "ready"},
    "not ready": {
        "facecolor": "#fbe8b5",
        "hatch": "....",
        "label": "alive, not ready",
        "edgecolor": "#a67c00",
    },
    "restarting": {"facecolor": BAD, "hatch": "////", "label": "killed, not ready again yet"},
    "down": {"facecolor": INK, "label": "dependency away"},
}
NEXT = {"not ready": "not ready", "ready": "ready", "killed": "restarting", "crashed": "restarting"}
ROUND_S = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 400, 600, 900)


def _limit_s(run: Any) -> float:
    last = max([run.up_ms, *(event.at_ms for event in run.log)]) / 1000
    return next((r for r in ROUND_S if r > last * 1.06), -(-last * 1.06 // 600) * 600)


def _box(start: float, end: float, row: float) -> list[tuple[float, float]]:
    return [(start, row - 0.4), (end, row - 0.4), (end, row + 0.4), (start, row + 0.4)]


class ProbesChart:
    """Draw a `ProbeRun`, simulated or real.

    The top row says when the dependency was away; two dashed lines carry both moments down. A
    replica that was killed counts as restarting until it is ready again.

    Args:
        figure: the figure to draw in.
        axes: axes to use instead of new ones.
        title: a word above the picture; then there is no legend.
    """

    def __init__(self, figure: Figure, axes: Axes | None = None, title: str = "") -> None:
        self.axes = figure.subplots() if axes is None else axes
        tidy(self.axes, xlabel="seconds", grid="")
        self.axes.set_title(title, fontsize=10, loc="left")
        self.bands = {
            name: self.axes.add_collection(
                PolyCollection([], **({"edgecolor": "white", "lw": 0.4} | look))
            )
            for name, look in STATES.items()
        }
        self.lines = [self.axes.axvline(0, color=INK, lw=1, ls="--") for _ in range(2)]
        self.axes.legend(
            fontsize=8, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        ).set_visible(not title)
        self.moving: list[Any] = [*self.bands.values(), *self.lines]

    def update(self, result: Any, limit_s: float | None = None) -> tuple[float, int]:
        """Show a `ProbeRun`; return its limits."""
        limit = limit_s or _limit_s(result)
        boxes: dict[str, list] = {name: [] for name in STATES}
        down, up = result.down_ms / 1000, result.up_ms / 1000
        if up > down:
            boxes["down"].append(_box(down, up, 0))
        for n in range(1, result.replicas + 1):
            state, since = "ready", 0.0
            for event in result.log:
                if event.actor != f"replica {n}" or event.event not in NEXT:
                    continue
                boxes[state].append(_box(since, event.at_ms / 1000, n))
                state, since = NEXT[event.event], event.at_ms / 1000
            boxes[state].append(_box(since, limit, n))
        for name, band in self.bands.items():
            band.set_verts(boxes[name])
        for line, at in zip(self.lines, (down, up), strict=True):
            line.set_xdata([at, at])
        self.axes.set_xlim(0, limit)
        self.axes.set_ylim(result.replicas + 0.6, -0.6)
        step = 1 if result.replicas <= 12 else 5
        shown = list(range(step, result.replicas + 1, step))
        self.axes.set_yticks([0, *shown], ["dependency", *(f"replica {n:>2}" for n in shown)])
        return (limit, result.replicas)


class ProbesPair:
    """Draw two runs one above the other on one time axis, such as right and wrong.

    Args:
        figure: the figure to draw in.
        titles: the words above the two.
    """

    def __init__(self, figure: Figure, titles: tuple[str, str]) -> None:
        rows = figure.subplots(2, 1)
        self.charts = [ProbesChart(figure, a, t) for a, t in zip(rows, titles, strict=True)]
        self.charts[0].axes.set_xlabel("")
        handles, labels = self.charts[0].axes.get_legend_handles_labels()
        figure.legend(
            handles, labels, fontsize=8, frameon=False, ncols=4, loc="outside upper right"
        )
        self.moving: list[Any] = [part for chart in self.charts for part in chart.moving]

    def update(self, result: Any) -> tuple:
        """Show a pair of `ProbeRun`s; return the limits."""
        limit = max(_limit_s(run) for run in result)
        return tuple(
            chart.update(run, limit) for chart, run in zip(self.charts, result, strict=True)
        )
