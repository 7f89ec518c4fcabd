"""Stretches of time out of an event log: who held a message, and who worked on it, from when to when."""

from collections.abc import Iterable
from dataclasses import dataclass

from lessons_lib.events import Event

__all__ = ["Span", "length", "spans_of", "union"]


@dataclass(frozen=True)
class Span:
    """A stretch of time of one consumer with one delivery; times in milliseconds.

    Attributes:
        consumer, message, attempt: who, with which delivery of what.
        start_ms, end_ms: from when until when.
        ended: the event that ended it.
        hidden_until_ms: until when the queue hid the message from others.
    """

    consumer: str
    message: int
    attempt: int
    start_ms: int
    end_ms: int
    ended: str
    hidden_until_ms: int = 0


def spans_of(log: Iterable[Event], starts: str, ends: tuple[str, ...]) -> tuple[Span, ...]:
    """Return one span for each event `starts` and the next end of the same delivery.

    A delivery whose end is not in the log has no span.
    """
    begun: dict[tuple[int | None, int | None], Event] = {}
    spans = []
    for event in log:
        key = (event.message, event.attempt)
        if event.event == starts:
            begun[key] = event
        elif event.event in ends and key in begun:
            first = begun.pop(key)
            spans.append(Span(first.actor, *key, first.at_ms, event.at_ms, event.event))
    return tuple(spans)


def union(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the time covered by any of the (start, end) given, as separate stretches in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def length(stretches: Iterable[tuple[int, int]]) -> int:
    """Return how much time the stretches cover, counting no millisecond twice."""
    return sum(end - start for start, end in union(stretches))
