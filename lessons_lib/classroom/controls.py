"""What a lab offers to change: each control is a name, a label and a finite list of stops."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lessons_lib.errors import whole_number

__all__ = ["Control", "Try", "choice", "slider", "steps", "switch"]

MOST_STOPS = 200


@dataclass(frozen=True)
class Control:
    """One control of a lab.

    Args:
        name: the model's keyword argument.
        label: what the page calls it, with no unit.
        stops: every value it can take, in order.
        texts: how each stop is written, with its unit.
        start: index of the first stop shown.
        kind: "slider", "choice" or "switch".
        play_ms: for a slider: milliseconds per stop when played, or 0 for no play button.
    """

    name: str
    label: str
    stops: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int
    kind: str = "slider"
    play_ms: int = 0

    def index_of(self, value: Any) -> int:
        """Return the index of a stop, or say which stops there are.

        Raises:
            ValueError: the value is not a stop of this control.
        """
        for index, stop in enumerate(self.stops):
            if stop == value and isinstance(stop, bool) == isinstance(value, bool):
                return index
        if len(self.stops) > 12:
            there = f"{len(self.stops)} stops from {self.stops[0]!r} to {self.stops[-1]!r}"
        else:
            there = "the stops " + ", ".join(repr(stop) for stop in self.stops)
        raise ValueError(f"{self.name} has {there}; {value!r} is none of them")


@dataclass(frozen=True)
class Try:
    """A position worth trying, and what to look for there.

    Args:
        label: the button's words.
        values: control names and the values they take; the others go to their start.
        look_for: one sentence.
    """

    label: str
    values: dict[str, Any]
    look_for: str


def _control(
    name: str, label: str, stops: Sequence[Any], texts: Sequence[str], start: Any, **more: Any
) -> Control:
    if not 1 < len(stops) <= MOST_STOPS:
        raise ValueError(f"{name} must have 2 to {MOST_STOPS} stops, got {len(stops)}")
    control = Control(name, label, tuple(stops), tuple(texts), 0, **more)
    object.__setattr__(control, "start", control.index_of(start))
    return control


def _with_unit(value: Any, unit: str) -> str:
    if value is None:
        return "none"
    number = f"{value:,}".replace(",", "\u2009") if isinstance(value, int) else f"{value:g}"
    return f"{number} {unit}".strip()


def slider(
    name: str, label: str, stops: Sequence[Any], start: Any, unit: str = "", *, play_ms: int = 0
) -> Control:
    """Make a slider over the given stops; None among them reads "none".

    Args:
        name: the model's keyword argument.
        label: what the page calls it.
        stops: the values, in order (a range will do); at most 200.
        start: the value it starts at, one of the stops.
        unit: written behind each value.
        play_ms: milliseconds per stop of a play button, or 0 for none.
    """
    stops = tuple(stops)
    texts = [_with_unit(stop, unit) for stop in stops]
    whole_number("play_ms", play_ms, low=0)
    return _control(name, label, stops, texts, start, kind="slider", play_ms=play_ms)


def choice(name: str, label: str, options: dict[str, Any], start: Any) -> Control:
    """Make a row of buttons of which one is pressed.

    Args:
        name: the model's keyword argument.
        label: what the page calls it.
        options: the words on each button and the value it stands for.
        start: the value it starts at.
    """
    return _control(name, label, list(options.values()), list(options), start, kind="choice")


def switch(name: str, label: str, start: bool = False) -> Control:
    """Make a check box: False or True.

    Args:
        name: the model's keyword argument.
        label: what the page calls it.
        start: whether it starts checked.
    """
    return _control(name, label, [False, True], ["off", "on"], start, kind="switch")


def steps(first: int, last: int) -> list[int]:
    """Return round numbers from `first` to `last`: 1, 2, 5, 10, 20, 50 … and both ends.

    Args:
        first: the smallest, at least 1.
        last: the largest.
    """
    first = whole_number("first", first, low=1)
    last = whole_number("last", last, low=first)
    found = {first, last}
    size = 1
    while size <= last:
        found.update(step * size for step in (1, 2, 5) if first <= step * size <= last)
        size *= 10
    return sorted(found)
