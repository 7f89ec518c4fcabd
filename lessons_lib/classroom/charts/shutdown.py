"""A shutdown on one time axis: phases as bands, requests as bars, probes as dots, signals as marks."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.style import BAD, INK, tidy

__all__ = ["ShutdownChart", "ShutdownRows"]

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
}
ROWS = ("supervisor", "server", "probe", "slow request", "idle client", "stuck client")
TINTS = {name: look["facecolor"] for name, look in PHASES.items() if name != "leaving"}
SHORT = {"not ready, still serving": "1", "finishing": "2, 3"}
ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12)
LEAD_S = 0.16  # shown before the signal


def _box(start: float, end: float, middle: float, half: float) -> list[tuple[float, float]]:
    low, high = middle - half, middle + half
    return [(start, low), (end, low), (end, high), (start, high)]


def _rows(runs: Sequence[Any]) -> list[str]:
    actors = {event.actor for run in runs for event in run.log}
    clients = sorted((a for a in actors if a.startswith("client ")), key=lambda a: int(a[7:]))
    return [row for row in ROWS if row in actors] + clients


def _limit_s(runs: Sequence[Any]) -> float:
    last = max(max(e.at_ms for e in run.log) - run.signal_at_ms for run in runs) / 1000
    size = 0.1 if last < 1 else 1.0
    # Room for the last mark's words; beyond 12 s whole tens.
    wanted = max(last * 1.04, 0.1)
    return next((r * size for r in ROUND if r * size >= wanted), -(-wanted // 10) * 10)


class _Timeline:
    """The picture of one run, or of two in halves of the same rows, in one pair of axes."""

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
            name: axes.plot([], [], linestyle="", markersize=5, zorder=5, **look)[0]
            for name, look in DOTS.items()
        }
        (self.signals,) = axes.plot([], [], "v", color=INK, markersize=8, zorder=6)
        (self.ends,) = axes.plot([], [], "D", color=INK, markersize=5, zorder=6)
        self.lines = [
            axes.axvline(0, color=INK, lw=1.2, ls=ls, zorder=4) for ls in ("--", "-", ":")
        ]
        words = {"fontsize": 8, "va": "center", "zorder": 7, "color": INK}
        self.words = [axes.text(0, 0, "", **words) for _ in range(3)]
        words |= {"path_effects": [withStroke(linewidth=3, foreground="white")]}  # on hatching
        self.numbers = [axes.text(0, 0, "", ha="center", **words) for _ in range(4)]
        axes.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10]))
        self.moving = [
            *self.tints.values(), *self.boxes.values(), *self.dots.values(), self.signals,
            self.ends, *self.lines, *self.words, *self.numbers,
        ]  # fmt: skip

    def show(self, runs: Sequence[Any], rows: list[str], limit: float) -> None:
        places = {row: n for n, row in enumerate(rows)}
        boxes: dict[str, list] = {name: [] for name in self.boxes}
        tints: dict[str, list] = {name: [] for name in self.tints}
        dots: dict[str, list] = {name: [] for name in self.dots}
        signals, ends, numbers = [], [], []
        half = 0.32 if len(runs) == 1 else 0.19
        for number, run in enumerate(runs):
            shift = 0 if len(runs) == 1 else (-0.21, 0.21)[number]
            zero = run.signal_at_ms

            def at(ms: int, zero: int = zero) -> float:
                return (ms - zero) / 1000

            for name, start, end in run.phases:
                place = places["server"] + shift
                boxes[name].append(_box(at(start), at(end), place, half))
                if number == 0 and name in tints:
                    tints[name].append(_box(at(start), at(end), len(rows) / 2, len(rows)))
                if name in SHORT and (at(end) - at(start)) > 0.05 * limit:
                    numbers.append(((at(start) + at(end)) / 2, place, SHORT[name]))
            for who, start, end, how in run.requests:
                broken = how.endswith("cut") or how == "slow request lost"
                kind = "broken" if broken else "work" if how.endswith("answered") else "open"
                seen = max(at(end), at(start) + 0.006 * limit)  # a bar of no length is seen, too
                boxes[kind].append(_box(at(start), seen, places[who] + shift, half))
                if how == "request lost":
                    tick = 0.008 * limit
                    boxes["broken"].append(_box(at(end) - tick, at(end) + tick, places[who], half))
            for event in run.log:
                place = places[event.actor] + shift
                said = event.event.rpartition("=")[2]
                if event.event.startswith(("ready=", "probe=")):
                    dots[said if said in dots else "refused"].append((at(event.at_ms), place))
                elif event.event.endswith(" sent") and event.event.startswith("SIG"):
                    signals.append((at(event.at_ms), place))
                elif event.event.startswith("exit code"):
                    ends.append((at(event.at_ms), place))
        for name, part in self.boxes.items():
            part.set_verts(boxes[name])
        for name, part in self.tints.items():
            part.set_verts(tints[name])
        for name, part in self.dots.items():
            part.set_data([x for x, _ in dots[name]], [y for _, y in dots[name]])
        for part, points in ((self.signals, signals), (self.ends, ends)):
            part.set_data([x for x, _ in points], [y for _, y in points])
        for n, text in enumerate(self.numbers):
            text.set_visible(n < len(numbers))
            if n < len(numbers):
                text.set_position(numbers[n][:2])
                text.set_text(numbers[n][2])
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
        self.timeline = _Timeline(figure.subplots() if axes is None else axes)
        self.timeline.axes.set_xlabel("seconds since the stop request", fontsize=9.5)
        self.title = title
        _legend(figure, self.timeline.axes)
        self.moving: list[Any] = self.timeline.moving

    def update(self, result: Any) -> tuple:
        """Show a `Shutdown`, or a sequence of one or two; return the limits."""
        runs = result if isinstance(result, Sequence) else [result]
        rows, limit = _rows(runs), _limit_s(runs)
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
        self.timelines = [_Timeline(one) for one in axes]
        for one, title in zip(axes, titles, strict=True):
            one.set_title(title, fontsize=10, loc="left")
        axes[-1].set_xlabel("seconds since the stop request", fontsize=9.5)
        _legend(figure, axes[0])
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a sequence of `Shutdown`s (a still picture)."""
        limit = max(_limit_s([run]) for run in result)
        for timeline, run in zip(self.timelines, result, strict=True):
            timeline.show([run], _rows([run]), limit)
