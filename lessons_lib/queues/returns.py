"""How a delivery ends without success, and what the rule makes of it."""

import sqlite3
from typing import Any

from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.dead_letters import bury
from lessons_lib.queues.history import History

__all__ = ["Returns", "rows_of"]

COME_BACK = """
UPDATE messages
SET receipt = NULL, holder = NULL, ended = :ended, visible_at = :visible_at,
    return_count = return_count + 1, failure_count = failure_count + :caught
WHERE id = :id
RETURNING id, deliveries, receive_count, failure_count, return_count
"""


class Returns:
    """The rule applied to the counters in the file.

    The file keeps three counters, of receives, caught errors and returns; a rule looks at one.

    Args:
        history: where to write what happens.
        rule: when a message is dead-lettered, or None for never.
        name: the consumer, in whose error handler errors are counted.
    """

    def __init__(self, history: History, rule: Rule | None, name: str) -> None:
        self._history = history
        self._name = name
        self._rule = rule or Rule(threshold=2**62, convention="exceeds")  # counts, never isolates
        if self._rule.count_on == "caught error":
            self._counter = "failure_count"
        elif self._rule.convention == "RabbitMQ":
            self._counter = "return_count"
        else:
            self._counter = "receive_count"

    def count_handed_out(
        self, within: sqlite3.Connection, now_ms: int, row: sqlite3.Row
    ) -> int | None:
        """Return the counter of a message just taken, or None if that isolated it."""
        message, count = row["id"], row[self._counter]
        if self._rule.counts_handing_out:
            self._history.write(within, now_ms, "queue", "counted", message, count)
        if not self._rule.isolates_at("handing out", count):
            return count
        # It was counted, but nobody gets it: not a delivery.
        within.execute("UPDATE messages SET deliveries = deliveries - 1 WHERE id = ?", (message,))
        self._isolate(within, now_ms, message, row["deliveries"] - 1, count)
        return None

    def end_expired(self, within: sqlite3.Connection, now_ms: int) -> None:
        """Take back every message whose visibility timeout has run out."""
        expired = rows_of(
            within,
            # Without the hint SQLite reads the whole table, to have it in order.
            "SELECT id, visible_at FROM messages INDEXED BY held"
            " WHERE receipt IS NOT NULL AND visible_at <= :now",
            {"now": now_ms},
        )
        for row in sorted(expired, key=lambda one: one["id"]):
            self.come_back(within, now_ms, row["id"], row["visible_at"], "expired", False)

    def come_back(
        self,
        within: sqlite3.Connection,
        now_ms: int,
        message: int,
        visible_at_ms: int,
        ended: str,
        caught: bool,
    ) -> None:
        """Put a message back, or in the dead-letter queue if the rule says so.

        Args:
            within: the transaction.
            now_ms: the queue's time.
            message: its number.
            visible_at_ms: from when it may be received again.
            ended: "given back" or "expired".
            caught: whether an error handler ran.
        """
        values = {"id": message, "visible_at": visible_at_ms, "ended": ended, "caught": caught}
        (row,) = rows_of(within, COME_BACK, values)
        count = row[self._counter]
        if caught and self._rule.counts_error:
            self._history.write(within, now_ms, self._name, "counted", message, count)
        if self._rule.counts_return(caught):
            self._history.write(within, now_ms, "queue", "counted", message, count)
        if self._rule.isolates_at("return", count):
            self._isolate(within, now_ms, message, row["deliveries"], count)
        else:
            event = "expired" if ended == "expired" else "returned"
            self._history.write(within, now_ms, "queue", event, message, row["deliveries"])

    def _isolate(
        self, within: sqlite3.Connection, now_ms: int, message: int, attempt: int, count: int
    ) -> None:
        bury(within, message, now_ms, f"its count {count} exceeds {self._rule.threshold}")
        self._history.write(within, now_ms, "queue", "dead-lettered", message, attempt)


def rows_of(within: sqlite3.Connection, statement: str, values: dict[str, Any]) -> list[Any]:
    """Return all rows of a statement, each with its columns' names."""
    cursor = within.execute(statement, values)
    cursor.row_factory = sqlite3.Row
    return cursor.fetchall()
