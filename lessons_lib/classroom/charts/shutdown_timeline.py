"""One shutdown in one pair of axes: phases as bands, requests as bars, probes as dots, signals as marks."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.charts.shutdown_shapes import shapes_of
from lessons_lib.classroom.style import BAD, INK, tidy

__all__ = ["ShutdownTimeline"]

PHASES = {
    "serving": {"facecolor": "#f2f2f2", "label": "serving"},
    "not ready, still serving": {"facecolor": "#fbe8b5", "hatch": "....", "label": "1 not ready, still serving"},
    "finishing": {"facecolor": "#cfe6f5", "hatch": "////", "label": "2, 3 closed, finishing"},
    "leaving": {"facecolor": "#bdbdbd", "label": "leaving"},
}  # fmt: skip
BARS = {
    "work": {"facecolor": "#0072b2", "edgecolor": "white", "lw": 0.5, "label": "request answered"},
    "open": {"facecolor": "white", "edgecolor": "#5a5a5a", "lw": 0.9, "label": "connection open"},
    "broken": {"facecolor": "#ffd9c2", "edgecolor": BAD, "lw": 0.9, "hatch": "xxxx", "label": "request lost or cut"},
}  # fmt: skip
DOTS = {
    "200": {"marker": "o", "color": "#009e73", "label": "probe: 200"},
    "503": {"marker": "s", "color": BAD, "markerfacecolor": "white", "label": "probe: 503"},
    "refused": {"marker": "x", "color": INK, "label": "probe: nobody there"},
    "signal": {"marker": "v", "color": INK, "markersize": 8},
    "end": {"marker": "D", "color": INK},
}
TINTS = {name: look["facecolor"] for name, look in PHASES.items() if name != "leaving"}
LEAD_S = 0.16  # shown before the signal


class ShutdownTimeline:
    """The picture of one `Shutdown`, or of two in halves of the same rows.

    Args:
        axes: the axes to draw in.
    """

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        tidy(axes, grid="")
        self.tints = {
            name: axes.add_collection(PolyCollection([], facecolor=color, alpha=0.45, lw=0, zorder=1))
            for name, color in TINTS.items()
        }  # fmt: skip
        self.boxes = {
            name: axes.add_collection(
                PolyCollection([], zorder=3, **({"edgecolor": "#8c8c8c", "lw": 0.6} | look))
            )
            for name, look in (PHASES | BARS).items()
        }
        self.dots = {
            name: axes.plot([], [], linestyle="", zorder=5, **({"markersize": 5} | look))[0]
            for name, look in DOTS.items()
        }
        self.lines = [
            axes.axvline(0, color=INK, lw=1.2, ls=ls, zorder=4) for ls in ("--", "-", ":")
        ]
        words = {"fontsize": 8, "va": "center", "zorder": 7, "color": INK}
        self.words = [axes.text(0, 0, "", **words) for _ in range(3)]
        words |= {"path_effects": [withStroke(linewidth=3, foreground="white")]}  # on hatching
        self.numbers = [axes.text(0, 0, "", ha="center", **words) for _ in range(4)]
        axes.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10]))
        self.moving = [
            *self.tints.values(), *self.boxes.values(), *self.dots.values(),
            *self.lines, *self.words, *self.numbers,
        ]  # fmt: skip

    def show(self, runs: Sequence[Any], rows: list[str], limit: float) -> None:
        """Show one run or two.

        Args:
            runs: the first has the bands, and the words at its marks.
            rows: who has a row, from top to bottom.
            limit: the end of the time axis, in seconds since the stop request.
        """
        shapes = shapes_of(runs, rows, limit)
        for name, part in self.boxes.items():
            part.set_verts(shapes.boxes[name])
        for name, part in self.tints.items():
            part.set_verts(shapes.bands[name])
        for name, part in self.dots.items():
            points = shapes.dots[name]
            part.set_data([x for x, _ in points], [y for _, y in points])
        for n, text in enumerate(self.numbers):
            text.set_visible(n < len(shapes.numbers))
            if n < len(shapes.numbers):
                x, y, words = shapes.numbers[n]
                text.set_position((x, y))
                text.set_text(words)
        self._write(runs, limit)
        self.axes.set_xlim(-LEAD_S, limit)
        self.axes.set_ylim(len(rows) - 0.4, -0.65)
        self.axes.set_yticks(range(len(rows)), rows)

    def _write(self, runs: Sequence[Any], limit: float) -> None:
        first = runs[0]
        end = (first.ended_at_ms - first.signal_at_ms) / 1000
        grace = first.grace_ms / 1000
        asked = next(e.event for e in first.log if e.event in ("SIGTERM sent", "SIGINT sent"))
        how = {"SIGKILL": "SIGKILL, ", "its limit": "limit, "}.get(first.ended_by, "")
        written = [
            (0, -0.4, asked.removesuffix(" sent")),
            (end, -0.02 if end < 0.12 * limit else -0.4, f"{how}exit code {first.code}"),
            (grace, 0.36, "grace over"),
        ]
        for text, (x, y, words) in zip(self.words, written, strict=True):
            left = x < 0.7 * limit
            text.set_position((x + (0.012 if left else -0.012) * limit, y))
            text.set_ha("left" if left else "right")
            text.set_text(words)
        self.lines[0].set_xdata([0, 0])
        self.lines[1].set_xdata([end, end])
        self.lines[2].set_xdata([grace, grace])
        for part in (self.lines[2], self.words[2]):
            part.set_visible(end + 0.02 * limit < grace < limit)
