"""A picture that is drawn once and then only changed where the data changed."""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lessons_lib.classroom.png import png_bytes

__all__ = ["PIXELS_PER_INCH", "Canvas", "Chart", "new_figure"]

PIXELS_PER_INCH = 100
SHARPNESS = 1.5  # pixels drawn per pixel of the page, for screens finer than 100 per inch


MOST_STILL = 12  # remembered backgrounds of a lab, some 2 MB each


class Chart(Protocol):
    """A picture of one result.

    A chart builds its axes and artists once, for a figure, and changes them in `update`.
    `moving` lists the artists that change with every result. What stands still, such as
    limits, ticks and titles, must follow from the key that `update` returns.
    """

    moving: list[Any]

    def update(self, result: Any) -> Hashable:
        """Show `result`; return what axes, ticks and titles depend on."""


def new_figure(width_px: int, height_px: int) -> Figure:
    """Return an empty figure of the given size on the page, outside pyplot's register."""
    figure = Figure(
        figsize=(width_px / PIXELS_PER_INCH, height_px / PIXELS_PER_INCH),
        dpi=PIXELS_PER_INCH * SHARPNESS,
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    return figure


class Canvas:
    """Turn results into PNG pictures of one chart, redrawing as little as possible.

    Args:
        make_chart: called once with the figure; returns the chart.
        width_px: width on the page.
        height_px: height on the page.
    """

    def __init__(
        self, make_chart: Callable[[Figure], Chart], width_px: int = 760, height_px: int = 320
    ) -> None:
        self.width_px, self.height_px = width_px, height_px
        self.figure = new_figure(width_px, height_px)
        self.chart = make_chart(self.figure)
        for artist in self.chart.moving:
            artist.set_animated(True)
        self._still: dict[Hashable, Any] = {}

    def png(self, result: Any) -> bytes:
        """Return the picture of `result` as PNG bytes."""
        canvas = self.figure.canvas
        key = self.chart.update(result)
        if key in self._still:
            canvas.restore_region(self._still[key])
        else:
            canvas.draw()  # everything but the moving artists
            # The layout is found once: redone with every new limit it would cost more than the
            # drawing, and the axes would jump while a slider moves.
            self.figure.set_layout_engine("none")
            if len(self._still) == MOST_STILL:
                del self._still[next(iter(self._still))]
            self._still[key] = canvas.copy_from_bbox(self.figure.bbox)
        for artist in self.chart.moving:
            artist.figure.draw_artist(artist) if artist.axes is None else artist.axes.draw_artist(
                artist
            )
        return png_bytes(np.asarray(canvas.buffer_rgba()))
