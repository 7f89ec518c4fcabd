"""One look for all pictures: colours that colour-blind eyes tell apart, and a second cue each."""

import math

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

__all__ = ["BAD", "INK", "JITTER_LOOKS", "PALE", "SCHEDULE_LOOKS", "nice_limit", "steady", "tidy"]

INK = "#1a1a1a"
PALE = "#d0d0d0"
BAD = "#d55e00"

# Okabe and Ito's palette (2008). Line style and marker, or hatching, say the same as the colour.
SCHEDULE_LOOKS = {
    "immediate": {"color": "#000000", "linestyle": ":", "marker": "x"},
    "fixed": {"color": "#e69f00", "linestyle": "--", "marker": "s"},
    "exponential": {"color": "#d55e00", "linestyle": "-.", "marker": "^"},
    "capped": {"color": "#0072b2", "linestyle": "-", "marker": "o"},
}
JITTER_LOOKS = {
    "none": {"color": "#d55e00", "hatch": "", "marker": "X"},
    "full": {"color": "#0072b2", "hatch": "////", "marker": "o"},
    "equal": {"color": "#009e73", "hatch": "....", "marker": "s"},
    "decorrelated": {"color": "#cc79a7", "hatch": "xxxx", "marker": "D"},
}


def tidy(axes: Axes, *, xlabel: str = "", ylabel: str = "", grid: str = "y") -> None:
    """Remove what carries no data, and label what does.

    Args:
        axes: the axes to change.
        xlabel: what the horizontal axis counts, with its unit.
        ylabel: what the vertical axis counts, with its unit.
        grid: "x", "y", "both" or "" for no lines.
    """
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
    axes.set_xlabel(xlabel, fontsize=9.5)
    axes.set_ylabel(ylabel, fontsize=9.5)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(axis=grid, color="#e6e6e6", linewidth=0.8)


def steady(axes: Axes, width: int = 5) -> None:
    """Give all tick labels of the vertical axis one width, so that the axes never shift.

    Args:
        axes: the axes to change.
        width: in digits; narrower labels are filled with spaces as wide as a digit.
    """
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}".rjust(width, "\u2007")))


def nice_limit(value: float) -> float:
    """Return a round number above `value`, so that an axis rarely changes while a slider moves."""
    if not value > 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1, 2, 3, 5, 10, 20) if step * size > value * 1.04)
