"""How many messages are in which state, counted in one reading."""

import sqlite3
from dataclasses import dataclass

__all__ = ["Statistics", "count_messages"]


@dataclass(frozen=True)
class Statistics:
    """The queue at one moment.

    Attributes:
        waiting: visible: the next receive may take them.
        delayed: sent or given back with a delay that is not over.
        in_flight: delivered, and neither acknowledged nor expired.
        dead_letters: in the dead-letter queue.
        sent: messages ever sent to this file.
        oldest_waiting_ms: how long ago the oldest waiting message was sent, or None.
    """

    waiting: int
    delayed: int
    in_flight: int
    dead_letters: int
    sent: int
    oldest_waiting_ms: int | None


def count_messages(connection: sqlite3.Connection, now_ms: int) -> Statistics:
    """Count the messages in each state at `now_ms`."""
    *counts, oldest = connection.execute(
        """
        SELECT count(*) FILTER (WHERE dead_at IS NULL AND visible_at <= :now),
               count(*) FILTER (WHERE dead_at IS NULL AND visible_at > :now AND receipt IS NULL),
               count(*) FILTER (WHERE visible_at > :now AND receipt IS NOT NULL),
               count(*) FILTER (WHERE dead_at IS NOT NULL),
               (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages'),
               min(sent_at) FILTER (WHERE dead_at IS NULL AND visible_at <= :now)
        FROM messages
        """,
        {"now": now_ms},
    ).fetchone()
    return Statistics(*counts, None if oldest is None else now_ms - oldest)
