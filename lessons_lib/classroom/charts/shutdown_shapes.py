"""A shutdown's event table as shapes: what to draw where, in seconds since the stop request."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

__all__ = ["Shapes", "limit_s", "rows_of", "shapes_of"]

ROWS = ("supervisor", "server", "probe", "slow request", "idle client", "stuck client")
SHORT = {"not ready, still serving": "1", "finishing": "2, 3"}
ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12)
LEAST_SHARE = 0.006  # of the time axis: a bar of no length is seen, too
LOST_SHARE = 0.008
NUMBER_SHARE = 0.05


class Shapes:
    """What a picture consists of.

    Attributes:
        boxes: kind of box → corners. Kinds: the names of the phases; "work", "open", "broken".
        bands: phase → corners over the whole height.
        dots: "200", "503", "refused", "signal", "end" → points.
        numbers: the phases' numbers, as (x, y, text).
    """

    def __init__(self) -> None:
        self.boxes: dict[str, list] = defaultdict(list)
        self.bands: dict[str, list] = defaultdict(list)
        self.dots: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.numbers: list[tuple[float, float, str]] = []


def rows_of(runs: Sequence[Any]) -> list[str]:
    """Return who has a row in the picture of these `Shutdown`s, from top to bottom."""
    actors = {event.actor for run in runs for event in run.log}
    clients = sorted((a for a in actors if a.startswith("client ")), key=lambda a: int(a[7:]))
    return [row for row in ROWS if row in actors] + clients


def limit_s(runs: Sequence[Any]) -> float:
    """Return a round number of seconds after the stop request, above the last event."""
    last = max(max(e.at_ms for e in run.log) - run.signal_at_ms for run in runs) / 1000
    size = 0.1 if last < 1 else 1.0
    wanted = max(last * 1.04, 0.1)
    return next((r * size for r in ROUND if r * size >= wanted), -(-wanted // 10) * 10)


def shapes_of(runs: Sequence[Any], rows: list[str], limit: float) -> Shapes:
    """Return the shapes of one run, or of two: one in the upper, one in the lower halves.

    Args:
        runs: one `Shutdown` or two; the first has the bands.
        rows: who has a row, from top to bottom.
        limit: the end of the time axis, in seconds since the stop request.
    """
    shapes = Shapes()
    half = 0.32 if len(runs) == 1 else 0.19
    for number, run in enumerate(runs):
        shift = 0.0 if len(runs) == 1 else (-0.21, 0.21)[number]
        places = {row: n + shift for n, row in enumerate(rows)}
        for name, *span in run.phases:
            start, end = ((ms - run.signal_at_ms) / 1000 for ms in span)
            shapes.boxes[name].append(_box(start, end, places["server"], half))
            if number == 0:
                shapes.bands[name].append(_box(start, end, len(rows) / 2, len(rows)))
            if name in SHORT and end - start > NUMBER_SHARE * limit:
                shapes.numbers.append(((start + end) / 2, places["server"], SHORT[name]))
        for who, *span, how in run.requests:
            start, end = ((ms - run.signal_at_ms) / 1000 for ms in span)
            long = max(end, start + LEAST_SHARE * limit)
            shapes.boxes[_kind(how)].append(_box(start, long, places[who], half))
            if how == "request lost":  # the connection was open for long, its last request not
                tick = LOST_SHARE * limit
                shapes.boxes["broken"].append(_box(end - tick, end + tick, places[who], half))
        for event in run.log:
            if name := _dot(event.event):
                at_s = (event.at_ms - run.signal_at_ms) / 1000
                shapes.dots[name].append((at_s, places[event.actor]))
    return shapes


def _box(start: float, end: float, middle: float, half: float) -> list[tuple[float, float]]:
    low, high = middle - half, middle + half
    return [(start, low), (end, low), (end, high), (start, high)]


def _kind(how: str) -> str:
    if how.endswith("cut") or how == "slow request lost":
        return "broken"
    return "work" if how.endswith("answered") else "open"


def _dot(event: str) -> str | None:
    if event.startswith(("ready=", "probe=")):
        said = event.rpartition("=")[2]
        return said if said in ("200", "503") else "refused"
    if event.startswith("SIG") and event.endswith(" sent"):
        return "signal"
    return "end" if event.startswith("exit code") else None
