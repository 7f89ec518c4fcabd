"""Several breakers, one below the other, on one time axis: when each let calls through."""

from typing import Any

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from lessons_lib.classroom.charts.breaker_states import STATE_LOOKS
from lessons_lib.classroom.charts.breaker_timeline import state_spans
from lessons_lib.classroom.style import INK, tidy

__all__ = ["BreakerRows"]


class BreakerRows:
    """Draw a dict of name → event table of one or more breakers (a still picture).

    Args:
        figure: the figure to draw in.
        outage_ms: from when to when the service fails.
        until_ms: end of the time axis.
    """

    def __init__(self, figure: Figure, *, outage_ms: tuple[int, int], until_ms: int) -> None:
        self.axes = figure.subplots()
        self.outage_ms, self.until_ms = outage_ms, until_ms
        handles = [Patch(label=state, **look) for state, look in STATE_LOOKS.items()]
        handles.append(Patch(color=INK, label="outage"))
        figure.legend(
            handles=handles, fontsize=8.5, frameon=False, ncols=4, loc="outside upper right"
        )
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a dict of name → event table; tables of several breakers give several rows."""
        self.axes.clear()
        tidy(self.axes, xlabel="seconds", grid="x")
        until = self.until_ms / 1000
        rows: list[str] = ["outage"]
        boxes: dict[str, list] = {state: [] for state in STATE_LOOKS}
        for name, table in result.items():
            for actor in sorted(table["actor"].unique(), key=lambda a: (len(a), a)):
                own = table[table["actor"] == actor]
                shard = actor.removeprefix("breaker").strip()
                for state, start, end in state_spans(own, self.until_ms):
                    end = max(end, start + 0.005 * until)
                    low, high = len(rows) - 0.33, len(rows) + 0.33
                    box = [(start, low), (end, low), (end, high), (start, high)]
                    boxes[state].append(box)
                rows.append(f"{name} {shard}".strip())
        for zorder, state in enumerate(("closed", "open", "half-open"), start=2):
            self.axes.add_collection(
                PolyCollection(boxes[state], linewidth=0.8, zorder=zorder, **STATE_LOOKS[state])
            )
        start, end = (at_ms / 1000 for at_ms in self.outage_ms)
        self.axes.barh(0, end - start, left=start, height=0.4, color=INK)
        for at in (start, end):
            self.axes.axvline(at, color=INK, linestyle=":", linewidth=1)
        self.axes.set_xlim(0, until)
        self.axes.set_ylim(len(rows) - 0.4, -0.6)
        self.axes.set_yticks(range(len(rows)), rows)
