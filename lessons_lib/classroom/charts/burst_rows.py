"""Several bursts, one below the other, on one time axis and one scale."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lessons_lib.classroom.charts.burst import drawable
from lessons_lib.classroom.style import BAD, INK, JITTER_LOOKS, nice_limit, tidy

__all__ = ["BurstRows"]


class BurstRows:
    """Draw a dict of name → `Burst`, one row each.

    Args:
        figure: the figure to draw in.
        names: the rows, in order; known kinds of jitter get their own colour and hatching.
        capacity: retries per bucket that the service can take, drawn dashed, or None.
        same_scale: False gives each row a height of its own.
        expected: name → expected profile (retries per bucket), drawn as a thin line.
    """

    def __init__(
        self,
        figure: Figure,
        names: list[str],
        *,
        capacity: int | None = None,
        same_scale: bool = True,
        expected: dict[str, np.ndarray] | None = None,
    ) -> None:
        self.names, self.same_scale, self.expected = names, same_scale, expected or {}
        self.capacity = capacity
        rows = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        self.rows = dict(zip(names, rows, strict=True))
        self.moving: list[Any] = []

    def update(self, result: Any) -> None:
        """Show a dict of name → `Burst` (a still picture)."""
        spare = iter(JITTER_LOOKS.values())
        highest = max(burst.peak for burst in result.values())
        latest = max((b.last_bucket + 1) * b.bucket_ms for b in result.values()) / 1000
        for name, axes in self.rows.items():
            axes.clear()
            burst, look = result[name], JITTER_LOOKS.get(name) or next(spare)
            tidy(axes, ylabel=f"per {burst.bucket_ms} ms")
            heights, edges = drawable(burst.counts, burst.bucket_ms)
            axes.stairs(
                heights, edges, fill=True, facecolor=look["color"], edgecolor="white", linewidth=0,
                hatch=look["hatch"],
            )  # fmt: skip
            axes.stairs(heights, edges, color=look["color"], linewidth=0.8)
            if name in self.expected:
                axes.stairs(*drawable(self.expected[name], burst.bucket_ms), color=INK, lw=0.9)
            if self.capacity is not None:
                axes.axhline(self.capacity, color=BAD, linestyle="--", linewidth=1.4)
            axes.set_ylim(0, nice_limit(highest if self.same_scale else burst.peak))
            axes.text(
                0.99, 0.92,
                f"{name}: {burst.requests} retries, busiest {burst.peak}, "
                f"{burst.filled_buckets} buckets filled, last number {burst.last_bucket}",
                transform=axes.transAxes, ha="right", va="top", fontsize=9.5,
            )  # fmt: skip
        axes.set_xlim(0, nice_limit(latest) if latest > 60 else latest * 1.02)
        axes.set_xlabel("seconds since the failure", fontsize=9.5)
