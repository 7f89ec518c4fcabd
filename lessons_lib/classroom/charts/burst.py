"""One burst as a histogram, with theory and capacity over it; and the trade beside it."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lessons_lib.classroom.style import BAD, INK, JITTER_LOOKS, nice_limit, steady, tidy

__all__ = ["BurstChart", "drawable"]

MOST_COLUMNS = 900


def drawable(counts: np.ndarray, bucket_ms: int) -> tuple[np.ndarray, np.ndarray]:
    """Return heights and edges in seconds, with no more columns than a picture has pixels.

    Where buckets are finer than pixels, a column is as high as the busiest bucket in it.
    """
    group = -(-max(1, len(counts)) // MOST_COLUMNS)
    padded = np.concatenate([counts, np.zeros(-len(counts) % group)])
    heights = padded.reshape(-1, group).max(axis=1) if len(padded) else np.zeros(1)
    return heights, np.arange(len(heights) + 1) * (group * bucket_ms / 1000)


class BurstChart:
    """Draw a `JitterComparison`: the chosen burst, and all kinds as peak against lateness.

    Left: retries per bucket, the expected profile as a thin line, the capacity dashed.
    Right: one mark a kind of jitter; lower is gentler on the service, further left is sooner.
    """

    def __init__(self, figure: Figure) -> None:
        self.left, self.right = figure.subplots(1, 2, width_ratios=[3, 1])
        tidy(self.left, xlabel="seconds since the failure", ylabel="retries per bucket")
        tidy(self.right, xlabel="last retry, seconds", ylabel="busiest bucket", grid="both")
        steady(self.left)
        steady(self.right)
        self.bars, self.dots = {}, {}
        for name, look in JITTER_LOOKS.items():
            self.bars[name] = self.left.stairs(
                [0], [0, 1], fill=True, facecolor=look["color"], edgecolor=look["color"], label=name
            )
            (self.dots[name],) = self.right.plot(
                [],
                [],
                color=look["color"],
                marker=look["marker"],
                linestyle="",
                label=name,
                clip_on=False,
            )
        # A legend stands still; a name beside each moving mark would cost more than all the rest.
        self.right.legend(
            fontsize=8, frameon=False, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2,
            columnspacing=0.8, handletextpad=0.1,
        )  # fmt: skip
        self.theory = self.left.stairs([0], [0, 1], color=INK, linewidth=0.9, baseline=None)
        self.capacity = self.left.axhline(0, color=BAD, linestyle="--", linewidth=1.5)
        self.left.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        parts = [*self.bars.values(), *self.dots.values()]
        self.moving = [*parts, self.theory, self.capacity]

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a `JitterComparison`; return its limits."""
        burst = result.bursts[result.kind]
        for name, bars in self.bars.items():
            bars.set_visible(name == result.kind)
        self.bars[result.kind].set_data(*drawable(burst.counts, burst.bucket_ms))
        latest = max(o.last_bucket + 1 for o in result.bursts.values()) * burst.bucket_ms / 1000
        for name, other in result.bursts.items():
            at = ((other.last_bucket + 1) * other.bucket_ms / 1000, other.peak)
            self.dots[name].set_data([at[0]], [at[1]])
            self.dots[name].set_markersize(11 if name == result.kind else 6)
        self.theory.set_visible(result.expected is not None)
        if result.expected is not None:
            self.theory.set_data(*drawable(result.expected, burst.bucket_ms))
        self.capacity.set_visible(result.capacity is not None)
        self.capacity.set_ydata([result.capacity or 0] * 2)
        highest = max(other.peak for other in result.bursts.values())
        limits = (
            nice_limit((burst.last_bucket + 1) * burst.bucket_ms / 1000),
            nice_limit(max(burst.peak, result.capacity or 0) * 1.12),
            nice_limit(latest * 1.1),
            nice_limit(highest),
        )
        self.left.set_xlim(0, limits[0])
        self.left.set_ylim(0, limits[1])
        self.right.set_xlim(0, limits[2])
        self.right.set_ylim(0, limits[3])
        return limits
