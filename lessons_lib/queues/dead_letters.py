"""The dead-letter queue: where isolated messages wait for a person, and how they get back."""

import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass

from lessons_lib.errors import whole_number
from lessons_lib.queues.connection import Connection
from lessons_lib.queues.history import History

__all__ = ["DeadLetters", "Message", "bury", "peek"]


@dataclass(frozen=True)
class Message:
    """A message as seen by somebody who only looks: nothing is counted, nothing is taken.

    Attributes:
        id, body, sent_at_ms: what was sent, and when.
        visible_at_ms: from when it may be received.
        deliveries: how often it was ever delivered.
        receive_count: the same since it was sent or redriven.
        holder: who holds it, or held it until the delivery expired; None if nobody.
        reason: why it was dead-lettered, or None.
    """

    id: int
    body: str
    sent_at_ms: int
    visible_at_ms: int
    deliveries: int
    receive_count: int
    holder: str | None
    reason: str | None


def peek(connection: Connection, limit: int, dead: bool) -> list[Message]:
    """Return the first messages of the queue, or of its dead-letter queue, without taking them."""
    limit = whole_number("limit", limit, low=1)
    with connection.reading("look into the queue") as within:
        rows = within.execute(
            "SELECT id, body, sent_at, visible_at, deliveries, receive_count, holder, reason"
            " FROM messages WHERE (dead_at IS NOT NULL) = ? ORDER BY id LIMIT ?",
            (dead, limit),
        ).fetchall()
    return [Message(*row) for row in rows]


def bury(within: sqlite3.Connection, message: int, now_ms: int, reason: str) -> None:
    """Move a message to the dead-letter queue, within a transaction."""
    within.execute(
        "UPDATE messages SET dead_at = ?, reason = ?, receipt = NULL, holder = NULL WHERE id = ?",
        (now_ms, reason, message),
    )


class DeadLetters:
    """The dead-letter queue of one queue file.

    Args:
        connection: the way to the file.
        history: where to write what happens.
        clock: the queue's clock.
    """

    def __init__(self, connection: Connection, history: History, clock: Callable[[], int]) -> None:
        self._connection = connection
        self._history = history
        self._clock = clock

    def __len__(self) -> int:
        with self._connection.reading("count the dead letters") as within:
            counted = within.execute("SELECT count(*) FROM messages WHERE dead_at IS NOT NULL")
            return counted.fetchone()[0]

    def peek(self, limit: int = 10) -> list[Message]:
        """Return the first dead letters, with the reason each is there."""
        return peek(self._connection, limit, dead=True)

    def redrive(self, ids: Collection[int] | None = None) -> list[int]:
        """Put dead letters back into the queue, each in the place it was sent in.

        Their counts start anew: a kept count would send them straight back at the first
        receive. The number of deliveries goes on, so old receipts stay refused and the
        history stays readable.

        Args:
            ids: which; None for all.

        Returns:
            Those that were put back. A number that is not a dead letter is not among them.
        """
        return self._empty(
            ids,
            "redrive dead letters",
            "redriven",
            "UPDATE messages SET dead_at = NULL, reason = NULL,"
            " visible_at = :now, receive_count = 0, failure_count = 0, return_count = 0"
            " WHERE id = :id AND dead_at IS NOT NULL RETURNING deliveries",
        )

    def purge(self, ids: Collection[int] | None = None) -> list[int]:
        """Delete dead letters for good, all or those named, and return which."""
        return self._empty(
            ids,
            "purge dead letters",
            "purged",
            "DELETE FROM messages WHERE id = :id AND dead_at IS NOT NULL"
            " RETURNING deliveries, :now",
        )

    def _empty(
        self, ids: Collection[int] | None, doing: str, event: str, statement: str
    ) -> list[int]:
        done = []
        with self._connection.transaction(doing) as within:
            now_ms = self._clock()
            if ids is None:
                found = within.execute("SELECT id FROM messages WHERE dead_at IS NOT NULL")
                ids = [row[0] for row in found.fetchall()]
            for message in sorted(whole_number("a message in ids", one) for one in ids):
                row = within.execute(statement, {"id": message, "now": now_ms}).fetchall()
                if row:
                    self._history.write(within, now_ms, "queue", event, message, row[0][0])
                    done.append(message)
        return done
