"""An outage, what the breaker did in it, and what became of the calls, second by second."""

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.charts.breaker_states import STATE_LOOKS
from lessons_lib.classroom.style import BAD, INK, nice_limit, steady, tidy

__all__ = ["FATE_LOOKS", "BreakerChart", "state_spans"]

FATE_LOOKS = {
    "succeeded": {"facecolor": "#0072b2", "hatch": "", "label": "succeeded"},
    "failed": {"facecolor": BAD, "hatch": "////", "label": "wasted"},
    "refused": {"facecolor": "#e3e3e3", "hatch": "....", "label": "refused"},
}
LANES = {"closed": 0, "half-open": 1, "open": 2}
LEAST_SHARE = 0.006  # of the time axis: a short half-open period is still to be seen


def state_spans(states: Any, until_ms: int) -> list[tuple[str, float, float]]:
    """Return (state, from, to) in seconds, for one breaker's event table."""
    names, at_ms = states["event"].tolist(), states["at_ms"].tolist()
    ends = [*at_ms[1:], until_ms]
    return [
        (name, start / 1000, max(start, end) / 1000)
        for name, start, end in zip(names, at_ms, ends, strict=True)
    ]


def _box(start: float, end: float, low: float, high: float) -> list[tuple[float, float]]:
    return [(start, low), (end, low), (end, high), (start, high)]


def _one_path(boxes: list[list[tuple[float, float]]]) -> Path:
    """Return all boxes as one path: hatching is then drawn once, not once for each box."""
    if not boxes:
        return Path([(0, -9)])
    return Path.make_compound_path_from_polys(np.array(boxes))


class BreakerChart:
    """Draw an `OutageView`: above the outage and three lanes of states, below the calls.

    The height of the bars is calls per second; hatching says what became of them.
    """

    def __init__(self, figure: Figure) -> None:
        self.lanes, self.calls = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.5])
        tidy(self.lanes, grid="x")
        tidy(self.calls, xlabel="seconds", ylabel="calls per second")
        steady(self.calls)
        self.lanes.set_yticks([*LANES.values(), 3], [*LANES, "outage"])
        self.lanes.set_ylim(-0.5, 3.5)
        self.bands = {
            state: self.lanes.add_patch(PathPatch(_one_path([]), linewidth=0.8, **look))
            for state, look in STATE_LOOKS.items()
        }
        self.outage = self.lanes.add_collection(PolyCollection([], facecolor=INK))
        self.edges = [
            axes.axvline(0, color=INK, linestyle=":", linewidth=1)
            for axes in (self.lanes, self.calls)
            for _ in range(2)
        ]
        self.bars = {
            name: self.calls.stairs(
                [0], [0, 1], fill=True, edgecolor="white", linewidth=0, baseline=[0], **look
            )
            for name, look in FATE_LOOKS.items()
        }
        self.calls.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        self.lanes.legend(
            handles=list(self.bars.values()), fontsize=8.5, frameon=False, ncols=3,
            loc="lower right", bbox_to_anchor=(1, 1),
        )  # fmt: skip
        self.moving: list[Any] = [
            *self.bands.values(), self.outage, *self.bars.values(), *self.edges
        ]  # fmt: skip

    def update(self, result: Any) -> tuple[float, float]:
        """Show an `OutageView`; return its limits."""
        run, until = result.run, result.until_ms / 1000
        limit = nice_limit(until)
        boxes: dict[str, list] = {state: [] for state in LANES}
        if len(run.states):
            for state, start, end in state_spans(run.states, result.until_ms):
                end = max(end, start + LEAST_SHARE * limit)
                low = LANES[state] - 0.36
                boxes[state].append(_box(start, end, low, low + 0.72))
        for state, band in self.bands.items():
            band.set_path(_one_path(boxes[state]))
        start, end = (at_ms / 1000 for at_ms in result.outage_ms)
        self.outage.set_verts([_box(start, end, 2.8, 3.2)])
        for number, edge in enumerate(self.edges):
            edge.set_xdata([(start, end)[number % 2]] * 2)
        frame = run.to_frame()
        edges = [*(frame["from_ms"] / 1000), len(frame)]
        floor = frame["from_ms"] * 0
        for name, bars in self.bars.items():
            bars.set_data(floor + frame[name], edges, floor)
            floor = floor + frame[name]
        limits = (limit, 15 if floor.max() < 15 else nice_limit(float(floor.max())))
        self.lanes.set_xlim(0, limits[0])
        self.calls.set_ylim(0, limits[1])
        return limits
