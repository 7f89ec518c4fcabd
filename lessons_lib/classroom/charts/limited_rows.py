"""Fleets against a service of limited capacity, one below the other on one time axis."""

from typing import Any

from matplotlib.figure import Figure

from lessons_lib.classroom.style import BAD, INK, JITTER_LOOKS, nice_limit, tidy

__all__ = ["LimitedRows"]


class LimitedRows:
    """Draw a dict of name → `LimitedBurst`, one row each (a still picture).

    The bars are requests per bucket; the hatched part gets through, the pale rest is turned
    away. The dashed line is the capacity.

    Args:
        figure: the figure to draw in.
        names: the rows, in order.
        until_s: end of the time axis in seconds; what comes later is only counted in the text.
        top: end of the vertical axis in requests, or None for the busiest bucket.
    """

    def __init__(
        self, figure: Figure, names: list[str], *, until_s: float, top: float | None = None
    ) -> None:
        self.until_s, self.top = until_s, top
        rows = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        self.rows = dict(zip(names, rows, strict=True))
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a dict of name → `LimitedBurst`."""
        spare = iter(JITTER_LOOKS.values())
        top = self.top or nice_limit(max(int(burst.calls.max()) for burst in result.values()))
        for name, axes in self.rows.items():
            axes.clear()
            burst, look = result[name], JITTER_LOOKS.get(name) or next(spare)
            tidy(axes, ylabel=f"per {burst.bucket_ms} ms")
            columns = min(len(burst.calls), int(self.until_s * 1000 / burst.bucket_ms))
            edges = [n * burst.bucket_ms / 1000 for n in range(columns + 1)]
            axes.stairs(burst.calls[:columns], edges, fill=True, facecolor="#e3e3e3")
            axes.stairs(burst.calls[:columns], edges, color=INK, linewidth=0.7)
            axes.stairs(
                burst.served[:columns], edges, fill=True, facecolor=look["color"],
                edgecolor="white", hatch=look["hatch"], linewidth=0,
            )  # fmt: skip
            axes.axhline(burst.capacity, color=BAD, linestyle="--", linewidth=1.4)
            axes.set_ylim(0, top)
            lost = f"{burst.gave_up} gave up, " if burst.gave_up else ""
            axes.text(
                0.99, 0.92,
                f"{name}: {burst.calls_per_client:.2f} calls a client, {lost}"
                f"last success at {burst.last_served_ms / 1000:.1f} s, "
                f"{burst.times_ideal:.1f} × the shortest possible",
                transform=axes.transAxes, ha="right", va="top", fontsize=9.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        axes.set_xlim(0, self.until_s)
        axes.set_xlabel("seconds since the failure", fontsize=9.5)
