"""A still picture in a notebook: image, alternative text and caption from one sentence."""

from collections.abc import Callable
from html import escape
from typing import Any

from matplotlib.figure import Figure

from lessons_lib.classroom.bundle import bundle
from lessons_lib.classroom.canvas import Canvas, Chart

__all__ = ["Picture"]


class Picture:
    """Draw one result with a chart, under a sentence that says what is to be seen.

    Args:
        chart: called with the figure; returns the chart (the same that a lab takes).
        result: what the chart draws.
        says: one sentence from the data: caption and alternative text.
        width_px: width on the page.
        height_px: height on the page.
    """

    def __init__(
        self,
        chart: Callable[[Figure], Chart],
        result: Any,
        says: str,
        *,
        width_px: int = 760,
        height_px: int = 320,
    ) -> None:
        self.says = says
        self._size = {"width_px": width_px, "height_px": height_px}
        self.png = Canvas(chart, width_px, height_px).png(result)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        caption = f"<p><i>{escape(self.says)}</i></p>"
        return bundle(self.png, alt=self.says, html=caption, text=self.says, **self._size)

    def __repr__(self) -> str:
        return self.says
