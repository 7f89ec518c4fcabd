"""Who holds what: one row a consumer, bars for holding and working, doubled work in red and hatched."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.style import BAD, INK, tidy

__all__ = ["WhoHoldsChart", "WhoHoldsRows"]

LOOKS = {
    "holding": {"facecolor": "#d9d9d9", "edgecolor": "#8c8c8c", "lw": 0.7, "label": "held, no work"},
    "working": {"facecolor": "#0072b2", "edgecolor": "white", "lw": 0.5, "label": "work"},
    "doubled": {"facecolor": "#ffd9c2", "edgecolor": BAD, "lw": 0.9, "hatch": "/////", "label": "doubled work"},
    "hidden": {"facecolor": INK, "lw": 0, "label": "hidden"},
    "delayed": {"facecolor": "#b9e2d3", "edgecolor": "#009e73", "lw": 0.7, "hatch": "....", "label": "waits in queue"},
}  # fmt: skip
MOST_NUMBERS = 48
MOST_NUMBERED_LANES = 3
ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12)
LEAST_SHARE = 0.016  # of the time axis: room for a number
HALF, LINE, LINE_HALF = 0.3, 0.4, 0.035  # of a row: half a bar, the line's place, half the line


def _box(start: float, end: float, middle: float, half: float) -> list[tuple[float, float]]:
    low, high = middle - half, middle + half
    return [(start, low), (end, low), (end, high), (start, high)]


class _Timeline:
    """The picture of one run in one pair of axes."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        tidy(axes, grid="x")
        self.parts = {
            name: axes.add_collection(PolyCollection([], zorder=2 + n, **look))
            for n, (name, look) in enumerate(LOOKS.items())
        }
        (self.refusals,) = axes.plot(
            [], [], "X", color=BAD, markeredgecolor=INK, markersize=8, zorder=9, linestyle="",
            label="refused",
        )  # fmt: skip
        (self.given_up,) = axes.plot(
            [], [], "s", color=INK, markersize=8, zorder=9, linestyle="", label="dead letter"
        )
        centred = {"fontsize": 8, "ha": "center", "va": "center", "zorder": 8}
        around = [withStroke(linewidth=3, foreground="white")]  # readable on the hatching
        self.plain = [axes.text(0, 0, "", color="white", **centred) for _ in range(MOST_NUMBERS)]
        self.striped = [
            axes.text(0, 0, "", color=INK, path_effects=around, **centred)
            for _ in range(MOST_NUMBERS)
        ]
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], prune="upper"))
        self.moving = [
            *self.parts.values(),
            self.refusals,
            self.given_up,
            *self.plain,
            *self.striped,
        ]

    def show(self, run: Any, consumers: int, limit: float) -> None:
        rows = {f"consumer {n}": n for n in range(1, consumers + 1)}
        boxes: dict[str, list] = {name: [] for name in LOOKS}
        refused, given_up = [], []
        for hold in run.holds:
            row, start, end = rows[hold.consumer], hold.start_ms / 1000, hold.end_ms / 1000
            hidden = hold.hidden_until_ms / 1000
            boxes["holding"].append(_box(start, end, row, HALF))
            boxes["hidden"].append(_box(start, min(hidden, end), row + LINE, LINE_HALF))
            if hidden <= end:
                tick = 0.0015 * limit
                boxes["hidden"].append(_box(hidden - tick, hidden + tick, row + LINE, 0.09))
            if hold.ended in ("refused", "stopped"):
                refused.append((end, row))
            elif hold.ended == "dead-lettered":
                given_up.append((end, row))
        boxes["working"] = [self._bar(span, rows) for span in run.works]
        boxes["doubled"] = [self._bar(span, rows) for span in run.doubled]
        lanes = max((message for message, _, _ in run.delays), default=1)
        for message, start, end in run.delays:
            middle = (message - 0.5) / lanes * 2 * HALF - HALF
            boxes["delayed"].append(_box(start / 1000, end / 1000, middle, HALF / lanes * 0.85))
        for name, part in self.parts.items():
            part.set_verts(boxes[name])
        for marks, points in ((self.refusals, refused), (self.given_up, given_up)):
            marks.set_data([at for at, _ in points], [row for _, row in points])
        self._write_numbers(run, rows, limit)
        self.axes.set_xlim(-0.004 * limit, limit)
        self.axes.set_ylim(consumers + 0.6, -0.5)
        self.axes.set_yticks([0, *rows.values()], ["queue", *rows])

    def _bar(self, span: Any, rows: dict[str, int]) -> list[tuple[float, float]]:
        return _box(span.start_ms / 1000, span.end_ms / 1000, rows[span.consumer], HALF)

    def _write_numbers(self, run: Any, rows: dict[str, int], limit: float) -> None:
        """Write each message's number on its bars: on the plain part, or on the hatching."""
        parts = {(d.consumer, d.start_ms, d.end_ms) for d in run.doubled}
        plain, striped = [], []
        for work in run.works:
            start, end, row = work.start_ms, work.end_ms, rows[work.consumer]
            inside = [(a, b) for name, a, b in parts if name == work.consumer and start <= a < end]
            first = min(inside, default=(end, end))
            where, (a, b) = (striped, first) if first[0] == start else (plain, (start, first[0]))
            if (b - a) / 1000 > LEAST_SHARE * limit:
                where.append(((a + b) / 2000, row, work.message))
        lanes = max((message for message, _, _ in run.delays), default=1)
        for message, start, end in run.delays if lanes <= MOST_NUMBERED_LANES else ():
            middle = (message - 0.5) / lanes * 2 * HALF - HALF
            striped.append(((start + end) / 2000, middle, message))
        for texts, wanted in ((self.plain, plain), (self.striped, striped)):
            for number, text in enumerate(texts):
                text.set_visible(number < len(wanted))
                if number < len(wanted):
                    x, y, message = wanted[number]
                    text.set_position((x, y))
                    text.set_text(str(message))


def _round_limit(seconds: float) -> float:
    """Return a round number above `seconds`, close enough that the picture is filled."""
    size = 10.0 ** math.floor(math.log10(max(seconds, 1)))
    return next(step * size for step in ROUND if step * size > seconds * 1.02)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, fontsize=8, frameon=False, ncols=7, loc="outside upper center",
        columnspacing=1.0, handlelength=1.6,
    )  # fmt: skip


class WhoHoldsChart:
    """Draw the chosen run of a `VisibilityComparison`.

    One row a consumer. Grey: it holds a message and does nothing; blue: it works, the number is
    the message's; red and hatched: the same work is done elsewhere at that time, or has been.
    The thin black line under a bar says how long the message is hidden from others. The top
    row has the messages that wait in the queue itself.
    """

    def __init__(self, figure: Figure) -> None:
        self.timeline = _Timeline(figure.subplots())
        self.timeline.axes.set_xlabel("seconds", fontsize=9.5)
        _legend(figure, self.timeline.axes)
        self.moving: list[Any] = self.timeline.moving

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a `VisibilityComparison`; return its limits."""
        limit = _round_limit(max(run.ended_ms for run in result.runs.values()) / 1000)
        self.timeline.show(result.runs[result.way], result.consumers, limit)
        return (limit, result.consumers)


class WhoHoldsRows:
    """Draw several runs one below the other, on one time axis.

    Args:
        figure: the figure to draw in.
        titles: the words above each.
        same_scale: False gives each run a time axis of its own.
    """

    def __init__(self, figure: Figure, titles: Sequence[str], *, same_scale: bool = True) -> None:
        axes = figure.subplots(len(titles), 1, squeeze=False)[:, 0]
        self.timelines = [_Timeline(one) for one in axes]
        for one, title in zip(axes, titles, strict=True):
            one.set_title(title, fontsize=10, loc="left")
        axes[-1].set_xlabel("seconds", fontsize=9.5)
        _legend(figure, axes[0])
        self.same_scale = same_scale
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a sequence of `VisibilityRun`s (a still picture)."""
        longest = max(run.ended_ms for run in result) / 1000
        for timeline, run in zip(self.timelines, result, strict=True):
            last = longest if self.same_scale else run.ended_ms / 1000
            consumers = max(int(name.split()[-1]) for name in run.consumers)
            timeline.show(run, consumers, last * 1.03)
