"""A few curves over one axis: the plainest chart."""

from typing import Any

from matplotlib.figure import Figure

from lessons_lib.classroom.style import JITTER_LOOKS, SCHEDULE_LOOKS, tidy

__all__ = ["LinesChart"]

_SPARE = [
    {"color": "#0072b2", "linestyle": "-", "marker": "o"},
    {"color": "#d55e00", "linestyle": "--", "marker": "s"},
    {"color": "#009e73", "linestyle": "-.", "marker": "^"},
    {"color": "#cc79a7", "linestyle": ":", "marker": "D"},
]


class LinesChart:
    """Draw a DataFrame: its index along the bottom, one line a column.

    Args:
        figure: the figure to draw in.
        xlabel: what the index counts, with its unit.
        ylabel: what the columns count, with their unit.
        xscale: "linear" or "log".
        yscale: "linear" or "log".
        marks: False draws lines only.
    """

    def __init__(
        self,
        figure: Figure,
        *,
        xlabel: str,
        ylabel: str,
        xscale: str = "linear",
        yscale: str = "linear",
        marks: bool = True,
    ) -> None:
        self.axes = figure.subplots()
        self.labels = {"xlabel": xlabel, "ylabel": ylabel}
        self.scales, self.marks = (xscale, yscale), marks
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a DataFrame (a still picture)."""
        self.axes.clear()
        self.axes.set_xscale(self.scales[0])
        self.axes.set_yscale(self.scales[1])
        tidy(self.axes, grid="both", **self.labels)
        for number, name in enumerate(result.columns):
            look = SCHEDULE_LOOKS.get(name) or JITTER_LOOKS.get(name) or _SPARE[number % 4]
            look = {"linestyle": _SPARE[number % 4]["linestyle"]} | look
            look.pop("hatch", None)
            if not self.marks:
                look.pop("marker")
            self.axes.plot(result.index, result[name], label=name, markersize=4.5, **look)
        self.axes.legend(fontsize=9, frameon=False)
