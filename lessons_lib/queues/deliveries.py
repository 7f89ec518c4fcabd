"""The life of a delivery: received, then acknowledged, given back, expired or dead-lettered."""

import sqlite3
from collections.abc import Callable

from lessons_lib.errors import whole_number
from lessons_lib.queues.connection import Connection
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.dead_letters import bury
from lessons_lib.queues.history import History
from lessons_lib.queues.receipts import Delivery, held_row
from lessons_lib.queues.returns import Returns, rows_of

__all__ = ["Deliveries"]

TAKE = """
UPDATE messages
SET receipt = id || ':' || (deliveries + 1), deliveries = deliveries + 1,
    receive_count = receive_count + 1, visible_at = :until, holder = :holder
WHERE id = (SELECT id FROM messages
            WHERE receipt IS NULL AND dead_at IS NULL AND visible_at <= :now AND id > :after
            ORDER BY id LIMIT 1)
RETURNING id, body, receipt, deliveries, receive_count, failure_count, return_count
"""


class Deliveries:
    """The receiving side of a queue; `Queue` adds sending and looking.

    Args:
        connection: the way to the file.
        history: where to write what happens.
        clock: the queue's clock, in milliseconds.
        name: who receives.
        rule: when a message is dead-lettered, or None for never.
        visibility_timeout_ms: how long a delivery hides its message.
    """

    def __init__(
        self,
        connection: Connection,
        history: History,
        clock: Callable[[], int],
        name: str,
        rule: Rule | None,
        visibility_timeout_ms: int,
    ) -> None:
        self.name = name
        self.clock = clock
        self.history = history
        self.visibility_timeout_ms = whole_number(
            "visibility_timeout_ms", visibility_timeout_ms, low=1
        )
        self._connection = connection
        self._returns = Returns(history, rule, name)

    def receive(self, *, visibility_timeout_ms: int | None = None) -> Delivery | None:
        """Take the waiting message that was sent first, or return None if none waits."""
        taken = self.receive_batch(1, visibility_timeout_ms=visibility_timeout_ms)
        return taken[0] if taken else None

    def receive_batch(
        self, limit: int, *, visibility_timeout_ms: int | None = None, buffered: bool = False
    ) -> list[Delivery]:
        """Take up to `limit` waiting messages, first sent first.

        A count moves in the same statement that takes the message, so no crash comes between.
        Messages that the rule isolates now are dead-lettered instead of returned.

        Args:
            limit: how many at most.
            visibility_timeout_ms: how long they are hidden; None for the queue's own.
            buffered: the consumer holds them before it works on them and will call `begin`
                for each. The time they are hidden runs all the same.
        """
        limit = whole_number("limit", limit, low=1)
        hidden_ms = self._timeout(visibility_timeout_ms)
        taken: list[Delivery] = []
        with self._connection.transaction("receive") as within:
            now_ms = self.clock()
            self._returns.end_expired(within, now_ms)
            values = {"now": now_ms, "until": now_ms + hidden_ms, "holder": self.name, "after": 0}
            while len(taken) < limit and (rows := rows_of(within, TAKE, values)):
                (row,) = rows
                values["after"] = row["id"]  # what was passed over once need not be again
                count = self._returns.count_handed_out(within, now_ms, row)
                if count is not None:
                    who, event = ("queue", "handed out") if buffered else (self.name, "delivered")
                    self._write(within, now_ms, who, event, row)
                    taken.append(
                        Delivery(*tuple(row)[:5], count, now_ms + hidden_ms)  # as TAKE lists them
                    )
        return taken

    def begin(self, receipt: str) -> None:
        """Say that the work on a buffered message begins.

        Raises:
            ReceiptRefused: it expired in the buffer, and somebody else may be at work on it.
        """
        with self._connection.transaction("begin") as within:
            now_ms = self.clock()
            row = held_row(within, receipt, now_ms)
            self._write(within, now_ms, self.name, "delivered", row)

    def acknowledge(self, receipt: str) -> None:
        """Say that the work is done: the message is deleted.

        Raises:
            ReceiptRefused: the delivery expired or ended otherwise. The message is not
                deleted, and whoever holds it now will work on it again.
        """
        with self._connection.transaction("acknowledge") as within:
            now_ms = self.clock()
            row = held_row(within, receipt, now_ms)
            within.execute("DELETE FROM messages WHERE id = ?", (row["id"],))
            self._write(within, now_ms, self.name, "acknowledged", row)

    def release(self, receipt: str, delay_ms: int = 0, *, failed: bool = False) -> None:
        """Give a message back, visible again after a delay.

        Args:
            receipt: of the delivery that ends with this.
            delay_ms: how long it stays hidden, in milliseconds: the place for a backoff wait.
            failed: whether an error was caught, which a rule may count.

        Raises:
            ReceiptRefused: the delivery has ended before.
        """
        delay_ms = whole_number("delay_ms", delay_ms, low=0)
        with self._connection.transaction("give back") as within:
            now_ms = self.clock()
            row = held_row(within, receipt, now_ms)
            if failed:
                self._write(within, now_ms, self.name, "failed", row)
            self._returns.come_back(
                within, now_ms, row["id"], now_ms + delay_ms, "given back", failed
            )

    def give_back(self, holder: str, delay_ms: int = 0) -> list[int]:
        """Give back all that a consumer holds, as a broker does when a connection drops.

        Args:
            holder: the name of the consumer that is gone.
            delay_ms: how long the messages stay hidden.

        Returns:
            The messages, whether they went to the queue or, by the rule, to the dead letters.
        """
        delay_ms = whole_number("delay_ms", delay_ms, low=0)
        with self._connection.transaction("give back") as within:
            now_ms = self.clock()
            held = rows_of(
                within,
                "SELECT id FROM messages WHERE receipt IS NOT NULL AND holder = :holder"
                " ORDER BY id",
                {"holder": holder},
            )
            ids = [row["id"] for row in held]
            for message in ids:
                self._returns.come_back(
                    within, now_ms, message, now_ms + delay_ms, "given back", False
                )
        return ids

    def extend(self, receipt: str, visibility_timeout_ms: int | None = None) -> int:
        """Hide the message for this long from now on, and return until when.

        It is not remembered for the next delivery. (SQS adds a ceiling of 12 hours from the
        receive; there is none here.)

        Raises:
            ReceiptRefused: the delivery has ended before, so it cannot be extended.
        """
        hidden_ms = self._timeout(visibility_timeout_ms)
        with self._connection.transaction("extend the visibility timeout") as within:
            now_ms = self.clock()
            row = held_row(within, receipt, now_ms)
            until_ms = now_ms + hidden_ms
            within.execute("UPDATE messages SET visible_at = ? WHERE id = ?", (until_ms, row["id"]))
            self._write(within, now_ms, self.name, "extended", row)
        return until_ms

    def dead_letter(self, receipt: str, reason: str = "isolated by the consumer") -> None:
        """Move a message that one holds to the dead-letter queue.

        Raises:
            ReceiptRefused: the delivery has ended before.
        """
        with self._connection.transaction("dead-letter") as within:
            now_ms = self.clock()
            row = held_row(within, receipt, now_ms)
            bury(within, row["id"], now_ms, reason)
            self._write(within, now_ms, self.name, "dead-lettered", row)

    def _timeout(self, ms: int | None) -> int:
        if ms is None:
            return self.visibility_timeout_ms
        return whole_number("visibility_timeout_ms", ms, low=1)

    def _write(
        self, within: sqlite3.Connection, now_ms: int, who: str, event: str, row: sqlite3.Row
    ) -> None:
        self.history.write(within, now_ms, who, event, row["id"], row["deliveries"])
