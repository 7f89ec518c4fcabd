"""A durable message queue in one SQLite file, for any number of processes on one machine."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lessons_lib.errors import whole_number
from lessons_lib.queues import schema
from lessons_lib.queues.clocks import wall_ms
from lessons_lib.queues.connection import Connection
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.dead_letters import DeadLetters, Message, peek
from lessons_lib.queues.deliveries import Deliveries
from lessons_lib.queues.history import History
from lessons_lib.queues.statistics import Statistics, count_messages

__all__ = ["Queue"]


class Queue(Deliveries):
    """A queue that keeps its messages in a file until each is acknowledged.

    *Order*: the waiting message that was sent first is delivered first. A message that comes
    back has its old place, so it overtakes what was sent after it. Across several consumers
    only the order of deliveries is kept, not the order in which work ends.

    *At least once*: a delivery hides its message for the visibility timeout, counted from the
    receive. What is not acknowledged by then is delivered again, and the old receipt is
    refused from that moment, whether or not anybody has taken the message since.

    *Durable*: what a method has returned from is on the disk. An error means nothing changed.

    Args:
        path: the file; made if missing, its folder must exist.
        visibility_timeout_ms: how long a delivery hides its message, in milliseconds.
        rule: when a message is dead-lettered. "exceeds" and "RabbitMQ" are applied by the queue
            itself; with "reaches" the consumer compares `delivery.count` and calls
            `dead_letter`. None: never. Not kept in the file: each user brings its own.
        clock: returns the time in whole milliseconds; `wall_ms`, `monotonic_ms` or a
            `VirtualClock`. All who use one file must use the same.
        name: who receives, in the history and for `give_back`.
        durable: False saves the wait for the disk at each change; a power cut may then lose
            the last confirmed messages, the death of a process still loses none.
        keep_history: whether events are written; they are never deleted by themselves.
        busy_timeout_ms: how long to wait for other processes that write.

    Raises:
        QueueError: the file cannot be used, one class for each reason.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        visibility_timeout_ms: int = 30_000,
        rule: Rule | None = None,
        clock: Callable[[], int] = wall_ms,
        name: str = "consumer",
        durable: bool = True,
        keep_history: bool = True,
        busy_timeout_ms: int = 10_000,
    ) -> None:
        self.path = Path(path).absolute()
        connection = Connection(
            self.path,
            lambda fresh: schema.prepare(fresh, self.path, durable),
            whole_number("busy_timeout_ms", busy_timeout_ms, low=0),
        )
        history = History(connection, keep_history)
        super().__init__(connection, history, clock, name, rule, visibility_timeout_ms)
        self.dead_letters = DeadLetters(connection, history, clock)
        with connection.reading("open the queue"):
            pass  # so that a wrong file is refused here, not at the first message

    def send(self, body: Any, *, delay_ms: int = 0) -> int:
        """Send a message, and return its number once it is safe.

        Args:
            body: text, kept as it is; anything else is written as JSON.
            delay_ms: how long it stays hidden at first.

        Raises:
            TypeError: the body is neither text nor can be written as JSON.
        """
        return self.send_batch([body], delay_ms=delay_ms)[0]

    def send_batch(self, bodies: Iterable[Any], *, delay_ms: int = 0) -> list[int]:
        """Send several messages in one transaction, all or none, and return their numbers."""
        delay_ms = whole_number("delay_ms", delay_ms, low=0)
        texts = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
        ids = []
        with self._connection.transaction("send") as within:
            now_ms = self.clock()
            for text in texts:
                cursor = within.execute(
                    "INSERT INTO messages (body, sent_at, visible_at) VALUES (?, ?, ?)",
                    (text, now_ms, now_ms + delay_ms),
                )
                ids.append(cursor.lastrowid)
                self.history.write(within, now_ms, "producer", "sent", cursor.lastrowid)
        return ids

    def peek(self, limit: int = 10) -> list[Message]:
        """Return the first messages, held ones included; nothing is counted.

        (Looking into an SQS queue in its console is a receive, and counts.)
        """
        return peek(self._connection, limit, dead=False)

    def statistics(self) -> Statistics:
        """Return how many messages are in which state now."""
        with self._connection.reading("count the messages") as within:
            return count_messages(within, self.clock())

    def purge(self) -> int:
        """Delete every message but the dead letters, held ones included; return how many."""
        with self._connection.transaction("purge") as within:
            now_ms = self.clock()
            gone = within.execute(
                "DELETE FROM messages WHERE dead_at IS NULL RETURNING id, deliveries"
            ).fetchall()
            for message, attempt in sorted(gone):
                self.history.write(within, now_ms, "queue", "purged", message, attempt)
        return len(gone)

    def close(self) -> None:
        """Close the file. Using the queue again opens it again."""
        self._connection.close()

    def __enter__(self) -> "Queue":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
