"""The state diagram of a circuit breaker with the current state marked, and the calls below it."""

import math
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.style import BAD, INK, tidy

__all__ = ["STATE_LOOKS", "BreakerDiagram"]

STATE_LOOKS = {
    "closed": {"facecolor": "#cfe3f2", "edgecolor": "#0072b2", "hatch": ""},
    "half-open": {"facecolor": "#fbe6b3", "edgecolor": "#b37a00", "hatch": "...."},
    "open": {"facecolor": "#ffd9c2", "edgecolor": BAD, "hatch": "////"},
}
RULES = {"closed": "all calls go through", "half-open": "a few probes", "open": "all calls refused"}
CORNERS = {"closed": (0.17, 0.74), "open": (0.83, 0.74), "half-open": (0.5, 0.2)}
WIDE, HIGH = 0.28, 0.32
# (from, to): start, end, bend, words, place of the words, where they are aligned
ARROWS = {
    ("closed", "open"): ((0.32, 0.78), (0.68, 0.78), 0, "too many failures", (0.5, 0.85), "center"),
    ("open", "half-open"): ((0.88, 0.57), (0.65, 0.13), -0.3, "the pause is over", (0.85, 0.22), "left"),
    ("half-open", "open"): ((0.57, 0.37), (0.72, 0.57), 0, "a probe fails", (0.63, 0.5), "right"),
    ("half-open", "closed"): ((0.35, 0.13), (0.12, 0.57), -0.3, "enough probes succeed", (0.15, 0.22), "right"),
}  # fmt: skip
MARKS = {
    "refused": {"marker": "X", "color": "#6b6b6b", "markersize": 9},
    "success": {"marker": "o", "color": "#0072b2", "markersize": 8},
    "failure": {"marker": "s", "color": BAD, "markersize": 8},
    "ignored": {"marker": "D", "color": "white", "markeredgecolor": INK, "markersize": 8},
}


def _arrow(start: tuple, end: tuple, bend: float, **look: Any) -> FancyArrowPatch:
    return FancyArrowPatch(
        start, end, connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>", mutation_scale=14, **look
    )


class BreakerDiagram:
    """Draw a `BreakerView`: three states, four changes, and one row for each call.

    The current state has a thick frame and the word "now"; the changes of this step have a
    thick arrow. Below, a line runs from a call's start to its result.

    Args:
        figure: the figure to draw in.
        calls: most calls there will be.
    """

    def __init__(self, figure: Figure, calls: int = 8) -> None:
        self.axes, self.below = figure.subplots(2, 1, height_ratios=[1.25, 1])
        self.axes.set_xlim(-0.06, 1.06)
        self.axes.set_ylim(0, 0.94)
        self.axes.axis("off")
        self.frames, self.names, self.taken = {}, {}, {}
        for state, (x, y) in CORNERS.items():
            at, shape = (x - WIDE / 2, y - HIGH / 2), "round,pad=0,rounding_size=0.03"
            self.axes.add_patch(FancyBboxPatch(at, WIDE, HIGH, boxstyle=shape, facecolor="#fafafa", edgecolor="#9a9a9a"))  # fmt: skip
            words = {"ha": "center", "va": "center", "fontsize": 9.5, "linespacing": 1.4}
            self.axes.text(x, y, f"{state}\n{RULES[state]}", **words)
            self.frames[state] = self.axes.add_patch(
                FancyBboxPatch(at, WIDE, HIGH, boxstyle=shape, linewidth=3.5, **STATE_LOOKS[state])
            )
            self.names[state] = self.axes.text(
                x, y, f"{state} · now\n{RULES[state]}", fontweight="bold", zorder=5, **words,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2.5},
            )  # fmt: skip
        for change, (start, end, bend, words, place, side) in ARROWS.items():
            self.axes.add_patch(_arrow(start, end, bend, color="#8a8a8a", linewidth=1.2))
            self.taken[change] = self.axes.add_patch(
                _arrow(start, end, bend, color=INK, linewidth=3.5)
            )
            self.axes.text(*place, words, ha=side, va="center", fontsize=9.5)
        tidy(self.below, xlabel="seconds", grid="x")
        self.below.xaxis.set_major_locator(MaxNLocator(12, integer=True))
        self.lines = [
            self.below.plot([], [], color="#8a8a8a", linewidth=2)[0] for _ in range(calls)
        ]
        (self.starts,) = self.below.plot([], [], "|", color=INK, markersize=12, markeredgewidth=2)
        self.marks = {
            name: self.below.plot([], [], linestyle="", label=name, markeredgewidth=1.2, **look)[0]
            for name, look in MARKS.items()
        }
        self.now = self.below.axvline(0, color=INK, linestyle=":", linewidth=1.2)
        self.below.legend(
            fontsize=8.5, frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1, 1)
        )
        self.moving: list[Any] = [
            *self.frames.values(), *self.names.values(), *self.taken.values(), self.now,
            *self.lines, self.starts, *self.marks.values(),
        ]  # fmt: skip

    def update(self, result: Any) -> tuple[Any, ...]:
        """Show a `BreakerView`; return the limits of the axes of calls."""
        frame, last = result.frame, result.frames[-1]
        for state, box in self.frames.items():
            box.set_visible(state == frame.state)
            self.names[state].set_visible(state == frame.state)
        for change, arrow in self.taken.items():
            arrow.set_visible(change in frame.changes)
        points: dict[str, list] = {name: [] for name in MARKS}
        for row, line in enumerate(self.lines):
            line.set_data([], [])
            if row < len(frame.calls):
                call = frame.calls[row]
                end = frame.at_ms if call.ended_ms is None else call.ended_ms
                if call.leave == "refused":
                    points["refused"].append((call.asked_ms / 1000, call.call))
                    continue
                line.set_data([call.asked_ms / 1000, end / 1000], [call.call] * 2)
                if call.ended:
                    name = "ignored" if call.ignored else call.ended
                    points[name].append((end / 1000, call.call))
        for name, mark in self.marks.items():
            mark.set_data([x for x, _ in points[name]], [y for _, y in points[name]])
        through = [call for call in frame.calls if call.leave != "refused"]
        self.starts.set_data([c.asked_ms / 1000 for c in through], [c.call for c in through])
        self.now.set_xdata([frame.at_ms / 1000] * 2)
        limit, calls = math.ceil(last.at_ms / 1000) + 1, len(last.calls)
        self.below.set_xlim(-0.02 * limit, limit)
        self.below.set_ylim(calls + 0.6, 0.4)
        self.below.set_yticks(range(1, calls + 1), [f"call {n}" for n in range(1, calls + 1)])
        return (limit, calls)
