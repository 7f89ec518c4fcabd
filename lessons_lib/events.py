"""One shape for what happened: simulated or real, every experiment yields this table."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass

import pandas as pd

__all__ = ["COLUMNS", "Event", "event_table"]

COLUMNS = ["at_ms", "actor", "event", "message", "attempt"]


@dataclass(frozen=True)
class Event:
    """One line of an event table.

    Args:
        at_ms: when, in whole milliseconds since the experiment began.
        actor: who: "consumer 1", "queue", "supervisor".
        event: what, in the field's words: "delivered", "died", "dead-lettered".
        message: the message's identifier, or None if no message is concerned.
        attempt: the delivery count or attempt number at that moment, from 1, or None.
    """

    at_ms: int
    actor: str
    event: str
    message: int | None = None
    attempt: int | None = None


def event_table(events: Iterable[Event]) -> pd.DataFrame:
    """Return the events as a DataFrame, in the order given.

    Columns: at_ms (int64), actor and event (text), message and attempt (Int64, missing allowed).
    """
    frame = pd.DataFrame([astuple(event) for event in events], columns=COLUMNS)
    return frame.astype(
        {"at_ms": "int64", "actor": "str", "event": "str", "message": "Int64", "attempt": "Int64"}
    )
