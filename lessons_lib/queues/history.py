"""What happened to a queue, written in the same transaction as the change itself."""

import sqlite3
from typing import TYPE_CHECKING

from lessons_lib.queues.connection import Connection

if TYPE_CHECKING:  # pandas takes longer to load than a consumer takes to do its work
    import pandas as pd

    from lessons_lib.events import Event

__all__ = ["History"]


class History:
    """The event log inside a queue file: the same events as the model writes.

    Events: "sent", "counted", "handed out", "delivered", "acknowledged", "failed", "returned",
    "expired", "extended", "dead-lettered", "redriven", "purged", and whatever `note` is given.
    The attempt of "counted" is the counter's new value, of any other the delivery's number.

    Args:
        connection: the way to the file.
        kept: whether to write at all.
    """

    def __init__(self, connection: Connection, kept: bool) -> None:
        self._connection = connection
        self._kept = kept

    def write(
        self,
        within: sqlite3.Connection,
        at_ms: int,
        actor: str,
        event: str,
        message: int | None = None,
        attempt: int | None = None,
    ) -> None:
        """Write one event down, within the transaction that makes it true."""
        if self._kept:
            within.execute(
                "INSERT INTO history (at_ms, actor, event, message, attempt)"
                " VALUES (?, ?, ?, ?, ?)",
                (at_ms, actor, event, message, attempt),
            )

    def note(
        self,
        at_ms: int,
        actor: str,
        event: str,
        message: int | None = None,
        attempt: int | None = None,
    ) -> None:
        """Write an event that the queue itself cannot see: "started", "died", "rejected"."""
        with self._connection.transaction("note an event") as within:
            self.write(within, at_ms, actor, event, message, attempt)

    def log(self, message: int | None = None) -> "list[Event]":
        """Return the events in order, of one message or of all."""
        from lessons_lib.events import Event

        with self._connection.reading("read the history") as within:
            rows = within.execute(
                "SELECT at_ms, actor, event, message, attempt FROM history"
                " WHERE ?1 IS NULL OR message = ?1 ORDER BY number",
                (message,),
            ).fetchall()
        return [Event(*row) for row in rows]

    def table(self, message: int | None = None) -> "pd.DataFrame":
        """Return the event table, of one message or of all."""
        from lessons_lib.events import event_table

        return event_table(self.log(message))
