"""A delivery and its receipt: the proof that one holds a message, for as long as it is hidden."""

import json
import re
import sqlite3
from dataclasses import dataclass
from typing import Any

from lessons_lib.queues.queue_errors import ReceiptRefused

__all__ = ["Delivery", "held_row"]


@dataclass(frozen=True)
class Delivery:
    """A message in the hands of one consumer.

    Attributes:
        id: the message's number, in the order sent.
        body: its text.
        receipt: what acknowledges, gives back or extends this delivery, and no other:
            "3:2" is the second delivery of message 3.
        attempt: the number of this delivery, from 1, redrives notwithstanding.
        receive_count: deliveries since it was sent or redriven, this one included.
        count: the counter that the queue's rule looks at; the same as receive_count unless
            the rule counts errors or returns.
        hidden_until_ms: when it becomes visible to others, by the queue's clock.
    """

    id: int
    body: str
    receipt: str
    attempt: int
    receive_count: int
    count: int
    hidden_until_ms: int

    def json(self) -> Any:
        """Return the body parsed as JSON.

        Raises:
            ValueError: it does not parse.
        """
        return json.loads(self.body)


def held_row(connection: sqlite3.Connection, receipt: str, now_ms: int) -> sqlite3.Row:
    """Return id, deliveries and counters of the message that a receipt holds.

    Args:
        connection: within a transaction, so that the answer stays true.
        receipt: as given by a delivery.
        now_ms: the queue's time.

    Raises:
        ReceiptRefused: it does not hold the message any more; the words say why.
    """
    parts = re.fullmatch(r"(\d{1,18}):(\d{1,18})", receipt) if isinstance(receipt, str) else None
    if parts is None:
        raise ReceiptRefused(f"{receipt!r} is not a receipt of this queue", "unknown")
    message, attempt = int(parts[1]), int(parts[2])
    cursor = connection.execute("SELECT * FROM messages WHERE id = ?", (message,))
    cursor.row_factory = sqlite3.Row
    row = cursor.fetchone()
    if row is not None and row["receipt"] == receipt and row["visible_at"] > now_ms:
        return row
    raise _refusal(connection, row, message, attempt, now_ms)


def _refusal(
    connection: sqlite3.Connection, row: Any, message: int, attempt: int, now_ms: int
) -> ReceiptRefused:
    this = f"delivery {attempt} of message {message}"
    if row is None:
        last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        if message > (last.fetchone() or (0,))[0]:
            return ReceiptRefused(f"no message {message} was ever sent here", "unknown")
        return ReceiptRefused(
            f"{this} is over: the message was acknowledged or purged before", "gone"
        )
    if attempt > row["deliveries"] or attempt < 1:
        return ReceiptRefused(f"there was no {this}", "unknown")
    if row["dead_at"] is not None:
        return ReceiptRefused(
            f"{this} is over: the message is in the dead-letter queue", "dead-lettered"
        )
    if row["deliveries"] > attempt:
        return ReceiptRefused(
            f"{this} is over: the message was delivered again (delivery {row['deliveries']})",
            "delivered again",
        )
    if row["receipt"] is not None:
        late = now_ms - row["visible_at"]
        return ReceiptRefused(
            f"{this} expired {late} ms ago: it was hidden until {row['visible_at']} ms, "
            f"now it is {now_ms} ms",
            "expired",
        )
    if row["ended"] == "expired":
        return ReceiptRefused(
            f"{this} is over: it expired, and the message waits to be delivered again", "expired"
        )
    return ReceiptRefused(f"{this} is over: the message was given back", "given back")
