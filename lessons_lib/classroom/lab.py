"""The lab: controls, a sentence, a picture and a small table that follow each other."""

import threading
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import anywidget
import pandas as pd
import traitlets
from matplotlib.figure import Figure

from lessons_lib.classroom.bundle import bundle, table_html
from lessons_lib.classroom.canvas import Canvas, Chart
from lessons_lib.classroom.controls import Control, Try

__all__ = ["Lab"]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def _front(name: str) -> str:
    return files("lessons_lib.classroom").joinpath("front", name).read_text("utf-8")


class Lab(anywidget.AnyWidget):
    """Show a model's result and let its parameters be changed.

    Everything in the page can also be done from code: `lab.set(threshold=4)` moves a
    control and returns the new result; `lab.values`, `lab.result`, `lab.sentence` and
    `lab.table` hold what is shown.

    Args:
        title: what the lab is about.
        controls: what can be changed; their names are the model's keyword arguments.
        model: called with all values; returns the result. It draws nothing.
        chart: called once with the figure; returns the chart that draws results.
        say: turns a result into one sentence, which is also the picture's alternative text.
        table: turns a result into a small DataFrame, or None for no table.
        tries: at least three positions worth trying, with what to look for.
        width_px: width of the picture on the page.
        height_px: height of the picture on the page.

    Raises:
        Exception: whatever model, chart or sentence raise for the starting values. Later
            errors are shown in the lab's own sentence, because a page hides them otherwise.
    """

    spec = traitlets.Dict().tag(sync=True)
    positions = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    picture = traitlets.Bytes().tag(sync=True)

    @property
    def _esm(self) -> str:
        return _front("lab.js")

    @property
    def _css(self) -> str:
        return _front("lab.css")

    def __init__(
        self,
        title: str,
        controls: Sequence[Control],
        model: Callable[..., Any],
        chart: Callable[[Figure], Chart],
        say: Callable[[Any], str],
        *,
        table: Callable[[Any], pd.DataFrame] | None = None,
        tries: Sequence[Try] = (),
        width_px: int = 760,
        height_px: int = 320,
    ) -> None:
        self.title, self.controls, self.tries = title, tuple(controls), tuple(tries)
        self.model, self.say, self._table_of = model, say, table
        self._by_name = {control.name: control for control in self.controls}
        self._canvas = Canvas(chart, width_px, height_px)
        self._lock = threading.Lock()
        self._frame = 0
        self.result: Any = None
        self.table: pd.DataFrame | None = None
        self.sentence = ""
        start = {control.name: control.start for control in self.controls}
        self._draw(self._values(start))
        self._shown = start
        super().__init__(spec=self._spec(), positions=start, **self._state())
        self.observe(self._follow, "positions")

    @property
    def values(self) -> dict[str, Any]:
        """The value of each control, by name."""
        return self._values(self.positions)

    def set(self, **values: Any) -> Any:
        """Move controls and return the new result.

        Args:
            values: control names with the value each should take; the others stay.

        Raises:
            TypeError: there is no control of that name.
            ValueError: the value is not among the control's stops, or the model refuses it.
        """
        moved = dict(self.positions)
        for name, value in values.items():
            if name not in self._by_name:
                raise TypeError(f"this lab has no control {name!r}; it has {list(self._by_name)}")
            moved[name] = self._by_name[name].index_of(value)
        self.positions = moved
        while self._shown != self.positions:  # another thread may be drawing: wait for it
            with self._lock:
                pass
            self._follow()
        if self.view["error"]:
            raise ValueError(self.view["sentence"])
        return self.result

    def _values(self, positions: dict[str, int]) -> dict[str, Any]:
        return {name: self._by_name[name].stops[index] for name, index in positions.items()}

    def _spec(self) -> dict[str, Any]:
        start = {control.name: control.start for control in self.controls}
        controls = [
            {
                "name": control.name,
                "label": control.label,
                "texts": control.texts,
                "kind": control.kind,
                "play_ms": control.play_ms,
            }
            for control in self.controls
        ]
        tries = [
            {
                "label": entry.label,
                "look_for": entry.look_for,
                "positions": start
                | {name: self._by_name[name].index_of(v) for name, v in entry.values.items()},
            }
            for entry in self.tries
        ]
        size = {"width": self._canvas.width_px, "height": self._canvas.height_px}
        return {"title": self.title, "controls": controls, "tries": tries, **size}

    def _draw(self, values: dict[str, Any]) -> None:
        result = self.model(**values)
        png = self._canvas.png(result)
        sentence = self.say(result)
        table = None if self._table_of is None else self._table_of(result)
        # All four at once, or none: a failed draw leaves no half of a new result behind.
        self.result, self._png, self.sentence, self.table = result, png, sentence, table

    def _state(self, error: str = "") -> dict[str, Any]:
        self._frame += 1
        view = {
            "sentence": error or self.sentence,
            "error": bool(error),
            "table": "" if error else table_html(self.table),
            "frame": self._frame,
        }
        return {"view": view} if error else {"view": view, "picture": self._png}

    def _follow(self, _change: Any = None) -> None:
        # Callbacks may run in another thread than the cell. One draws; a newer position that
        # arrives meanwhile is drawn next, and what lies between is skipped.
        while self._shown != self.positions and self._lock.acquire(blocking=False):
            try:
                wanted = self.positions
                try:
                    self._draw(self._values(wanted))
                    state = self._state()
                except Exception as error:
                    state = self._state(error=str(error) or type(error).__name__)
                with self.hold_sync():
                    self.set_trait("picture", state.get("picture", self.picture))
                    self.set_trait("view", state["view"])
                self._shown = wanted
            finally:
                self._lock.release()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        live_data = live[0] if isinstance(live, tuple) else live
        settings = [
            f"{control.label}: {control.texts[self.positions[control.name]]}"
            for control in self.controls
        ]
        tries = [f"{entry.label}: {entry.look_for}" for entry in self.tries]
        html = (
            f"<p><b>{escape(self.title)}</b> ({escape('; '.join(settings))})</p>"
            f"<p>{escape(self.view['sentence'])}</p>{table_html(self.table)}"
        )
        if tries:
            html += "<p>With a kernel, try:</p><ul>"
            html += "".join(f"<li>{escape(line)}</li>" for line in tries) + "</ul>"
        table = [] if self.table is None else [self.table.to_string()]
        lines = [self.title, *settings, self.view["sentence"], *table, *tries]
        data, metadata = bundle(
            self.picture,
            alt=self.sentence,
            html=html,
            text="\n".join(lines),
            width_px=self._canvas.width_px,
            height_px=self._canvas.height_px,
        )
        return data | {WIDGET_VIEW: (live_data or {}).get(WIDGET_VIEW)}, metadata
