"""Two panels of one study: our runs as marks, the published figures as rings, theory as lines."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lessons_lib.classroom.style import INK, tidy

__all__ = ["StudyChart", "contention_chart", "token_chart"]

LOOKS = [
    {"color": "#000000", "marker": "X", "linestyle": ":"},
    {"color": "#d55e00", "marker": "^", "linestyle": "-."},
    {"color": "#cc79a7", "marker": "D", "linestyle": (0, (6, 2))},
    {"color": "#009e73", "marker": "s", "linestyle": "--"},
    {"color": "#0072b2", "marker": "o", "linestyle": "-"},
]


class StudyChart:
    """Draw a study's table, one panel for each of two quantities (a still picture).

    Small filled marks are means of our runs, large rings around them the published figures.
    Where a closed form is given, the line is that; else it joins our means.

    Args:
        figure: the figure to draw in.
        x: the table's column along the bottom.
        series: the column that names the lines.
        panels: two columns → the words on their axes; for each there is one with `_published`.
        xlabel: the words along the bottom.
        log: the panels with a logarithmic scale.
        exact: column → line's name → (x values, y values) of a closed form.
    """

    def __init__(
        self,
        figure: Figure,
        *,
        x: str,
        series: str,
        panels: dict[str, str],
        xlabel: str,
        log: tuple[str, ...] = (),
        exact: dict[str, dict[str, tuple[Any, Any]]] | None = None,
    ) -> None:
        self.x, self.series, self.exact = x, series, exact or {}
        self.axes = dict(zip(panels, figure.subplots(1, 2), strict=True))
        for name, axes in self.axes.items():
            tidy(axes, xlabel=xlabel, ylabel=panels[name], grid="both")
            if name in log:
                axes.set_yscale("log")
        self.figure = figure
        self.moving: list[Any] = []

    def update(self, result: pd.DataFrame) -> None:
        """Show the table."""
        for name, axes in self.axes.items():
            for number, (label, rows) in enumerate(result.groupby(self.series, sort=False)):
                look = dict(LOOKS[number % len(LOOKS)])
                line = self.exact.get(name, {}).get(label, (rows[self.x], rows[name]))
                mark = {"marker": look.pop("marker"), "linestyle": ""}
                axes.plot(*line, linewidth=1.2, **look)
                axes.plot(rows[self.x], rows[name], color=look["color"], markersize=4.5, **mark)
                axes.plot(
                    rows[self.x], rows[f"{name}_published"], "o", markersize=10,
                    markerfacecolor="none", markeredgecolor=look["color"], markeredgewidth=0.9,
                )  # fmt: skip
                axes.plot([], [], label=label, markersize=4.5, **look, marker=mark["marker"])
            axes.plot(
                [], [], "o", markersize=10, markerfacecolor="none", markeredgecolor=INK,
                label="published",
            )  # fmt: skip
        handles, labels = next(iter(self.axes.values())).get_legend_handles_labels()
        self.figure.legend(
            handles, labels, fontsize=9, frameon=False, ncols=6, loc="outside upper center"
        )


def contention_chart(figure: Figure) -> StudyChart:
    """Return the chart of the AWS study, for the table that `contention_table` returns."""
    panels = {"calls": "calls until all succeed", "time_ms": "milliseconds until all succeed"}
    return StudyChart(
        figure, x="clients", series="backoff", panels=panels, xlabel="contending clients",
        log=("time_ms",),
    )  # fmt: skip


def token_chart(figure: Figure, exact: dict[str, dict[str, tuple[Any, Any]]]) -> StudyChart:
    """Return the chart of Brooker's study, for the table that `token_repeats` returns.

    Args:
        figure: the figure to draw in.
        exact: the closed forms: "success" or "load" → strategy → (x values, y values).
    """
    panels = {"success": "share of calls that succeed", "load": "requests per call"}
    return StudyChart(
        figure, x="failure_rate", series="strategy", panels=panels,
        xlabel="share x of attempts that fail", exact=exact,
    )  # fmt: skip
