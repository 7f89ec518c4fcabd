"""A limited service over time: load and successes above, the queue below, the trigger grey."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lessons_lib.classroom.style import BAD, INK, nice_limit, steady, tidy

__all__ = ["StormChart", "StormPanel", "StormRows"]

MOST_COLUMNS = 80
COLUMNS_MS = (100, 200, 500, 1000, 2000, 5000)
SENT, DONE, WAITING = BAD, "#0072b2", "#8a8a8a"


def _columns(run: Any, column_ms: int | None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return edges in seconds, and per second: new, sent, succeeded; and the queue's length."""
    if column_ms is None:  # a round width, so that a column never mixes before and after
        length_ms = len(run.counts) * run.bucket_ms
        column_ms = next(
            (w for w in COLUMNS_MS if w % run.bucket_ms == 0 and length_ms <= w * MOST_COLUMNS),
            length_ms // MOST_COLUMNS,
        )
    group = max(1, column_ms // run.bucket_ms)
    buckets = len(run.counts) // group * group
    seconds = group * run.bucket_ms / 1000
    columns = {
        name: run.column(name)[:buckets].reshape(-1, group).sum(axis=1) / seconds
        for name in ("new", "sent", "succeeded")
    }
    columns["queue"] = run.column("queue")[:buckets].reshape(-1, group)[:, -1]
    return np.arange(buckets // group + 1) * seconds, columns


class StormPanel:
    """The artists of one run on two axes.

    Args:
        load: axes for what happens a second.
        queue: axes for the queue.
    """

    def __init__(self, load: Axes, queue: Axes) -> None:
        self.load, self.queue = load, queue
        tidy(load, ylabel="a second")
        tidy(queue, ylabel="in the queue")
        flat = ([0], [0, 1])
        self.bands = [axes.axvspan(0, 1, color="#e9e9e9", zorder=0) for axes in (load, queue)]
        self.done = load.stairs(
            *flat, fill=True, facecolor="#bcd9ea", edgecolor=DONE, hatch="////", linewidth=0,
            label="calls that succeed",
        )  # fmt: skip
        self.new = load.stairs(
            *flat, baseline=None, color=INK, linestyle=":", linewidth=1.5, label="new calls"
        )
        self.sent = load.stairs(
            *flat,
            baseline=None,
            color=SENT,
            linewidth=1.8,
            label="requests: first ones and retries",
        )
        self.capacity = load.axhline(0, color=INK, linestyle="--", linewidth=1.2, label="capacity")
        self.waiting = queue.stairs(*flat, fill=True, facecolor=WAITING)
        parts = [self.done, self.new, self.sent, self.capacity, self.waiting]
        self.moving: list[Any] = [*self.bands, *parts]

    def show(self, view: Any, column_ms: int | None = None) -> tuple[float, float, float]:
        """Show a run with its capacity and trigger; return its length, its highest values."""
        edges, columns = _columns(view.run, column_ms)
        for artist, name in (
            (self.done, "succeeded"), (self.new, "new"), (self.sent, "sent"), (self.waiting, "queue"),
        ):  # fmt: skip
            artist.set_data(columns[name], edges)
        self.capacity.set_ydata([view.capacity_per_second] * 2)
        begin, end = (at_ms / 1000 for at_ms in view.trigger_ms)
        for band in self.bands:
            band.set_bounds(begin, 0, end - begin, 1)
            band.set_visible(end > begin)
        highest = max(float(columns["sent"].max()), view.capacity_per_second)
        return float(edges[-1]), highest, float(columns["queue"].max())

    def scale(self, seconds: float, load: float, queue: float) -> None:
        """Set the limits of both axes."""
        for axes, top in ((self.load, load), (self.queue, queue)):
            axes.set_xlim(0, seconds)
            axes.set_ylim(0, top)


class StormChart:
    """Draw one run: anything with `run`, `capacity_per_second` and `trigger_ms`.

    Above, a second: requests sent as a thick line, new calls dotted, the capacity dashed,
    successes hatched. Below, the requests in the queue. The grey band is the trigger.
    """

    def __init__(self, figure: Figure) -> None:
        load, queue = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        self.panel = StormPanel(load, queue)
        steady(load)
        steady(queue)
        load.tick_params(labelbottom=False)
        queue.set_xlabel("seconds", fontsize=9.5)
        load.legend(
            fontsize=8.5, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0),
            columnspacing=1.2, handlelength=2.2,
        )  # fmt: skip
        self.moving = self.panel.moving

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a run; return its limits."""
        seconds, load, queue = self.panel.show(result)
        limits = (seconds, nice_limit(load), nice_limit(max(queue, 10)))
        self.panel.scale(*limits)
        return limits


class StormRows:
    """Draw several runs side by side on the same scales: a dict of title → run (a still picture).

    Args:
        figure: the figure to draw in.
        titles: the columns, in order.
        column_ms: time that one step of the lines stands for, or None to choose it.
    """

    def __init__(
        self, figure: Figure, titles: Sequence[str], *, column_ms: int | None = None
    ) -> None:
        self.column_ms = column_ms
        grid = figure.subplots(
            2, len(titles), sharex="col", sharey="row", squeeze=False, height_ratios=[2, 1]
        )
        self.panels = [StormPanel(load, queue) for load, queue in grid.T]
        for panel, title in zip(self.panels, titles, strict=True):
            panel.load.set_title(title, fontsize=10, loc="left")
            panel.queue.set_xlabel("seconds", fontsize=9.5)
        for panel in self.panels[1:]:
            panel.load.set_ylabel("")
            panel.queue.set_ylabel("")
        handles, labels = self.panels[0].load.get_legend_handles_labels()
        figure.legend(
            handles, labels, fontsize=8.5, frameon=False, ncols=4, loc="outside upper center"
        )
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a dict of title → run."""
        shown = [
            panel.show(run, self.column_ms)
            for panel, run in zip(self.panels, result.values(), strict=True)
        ]
        seconds, load, queue = (max(values) for values in zip(*shown, strict=True))
        for panel in self.panels:
            panel.scale(seconds, nice_limit(load), nice_limit(max(queue, 10)))
