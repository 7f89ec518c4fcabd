"""A shutdown on one time axis, simulated or real: one run, two in one picture, or several in rows."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lessons_lib.classroom.charts.shutdown_shapes import limit_s, rows_of
from lessons_lib.classroom.charts.shutdown_timeline import ShutdownTimeline

__all__ = ["ShutdownChart", "ShutdownRows"]


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, fontsize=8, frameon=False, ncols=5, loc="outside upper center",
        columnspacing=1.0, handlelength=1.6,
    )  # fmt: skip


class ShutdownChart:
    """Draw one `Shutdown`, simulated or real, or two of them: the second in the rows' lower halves.

    Bands: the server's phases; the row "server" repeats them with numbers. Bars: requests and
    connections. Dots: what the readiness probe was told. Marks: signals, and the process's end.
    Time counts from the stop request.

    Args:
        figure: the figure to draw in.
        axes: axes to use instead of new ones.
        title: a word above the picture.
    """

    def __init__(self, figure: Figure, axes: Axes | None = None, title: str = "") -> None:
        self.timeline = ShutdownTimeline(figure.subplots() if axes is None else axes)
        self.timeline.axes.set_xlabel("seconds since the stop request", fontsize=9.5)
        self.title = title
        _legend(figure, self.timeline.axes)
        self.moving: list[Any] = self.timeline.moving

    def update(self, result: Any) -> tuple:
        """Show a `Shutdown`, or a sequence of one or two; return the limits."""
        runs = result if isinstance(result, Sequence) else [result]
        rows, limit = rows_of(runs), limit_s(runs)
        self.timeline.show(runs, rows, limit)
        if len(runs) == 2:
            self.timeline.axes.set_title(
                "upper bars simulated, lower bars real", fontsize=9, loc="left"
            )
        else:
            self.timeline.axes.set_title(self.title, fontsize=9, loc="left")
        return (limit, len(runs), *rows)


class ShutdownRows:
    """Draw several runs one below the other, on one time axis.

    Args:
        figure: the figure to draw in.
        titles: the words above each.
    """

    def __init__(self, figure: Figure, titles: Sequence[str]) -> None:
        axes = figure.subplots(len(titles), 1, squeeze=False, sharex=True)[:, 0]
        self.timelines = [ShutdownTimeline(one) for one in axes]
        for one, title in zip(axes, titles, strict=True):
            one.set_title(title, fontsize=10, loc="left")
        axes[-1].set_xlabel("seconds since the stop request", fontsize=9.5)
        _legend(figure, axes[0])
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a sequence of `Shutdown`s (a still picture)."""
        limit = max(limit_s([run]) for run in result)
        for timeline, run in zip(self.timelines, result, strict=True):
            timeline.show([run], rows_of([run]), limit)
