"""The same queue without a file: what is visible, who holds what, and until when."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lessons_lib.errors import whole_number
from lessons_lib.events import Event
from lessons_lib.queues.queue_errors import ReceiptRefused
from lessons_lib.queues.receipts import Delivery

__all__ = ["MemoryQueue"]


@dataclass
class _Kept:
    """A message and the delivery that holds it, if one does (`receipt`)."""

    visible_at: int
    deliveries: int = 0
    receipt: str | None = None
    ended: str = ""


@dataclass
class _Shared:
    """What all consumers of one queue see."""

    messages: dict[int, _Kept] = field(default_factory=dict)
    dead: dict[int, int] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)


class MemoryQueue:
    """One consumer's view of a queue in memory, with the rules of `Queue` and no disk.

    Its methods, refusals and events are those of the SQLite queue, so that a consumer can work
    on either: at least once, in the order sent, and a receipt holds until the visibility
    timeout ends.

    Args:
        clock: returns the time in whole milliseconds.
        visibility_timeout_ms: how long a delivery hides its message, in milliseconds.
        name: who receives.
    """

    def __init__(
        self, clock: Callable[[], int], visibility_timeout_ms: int, name: str = "consumer"
    ) -> None:
        self.clock = clock
        self.name = name
        self.visibility_timeout_ms = whole_number(
            "visibility_timeout_ms", visibility_timeout_ms, low=1
        )
        self._shared = _Shared()

    def seen_by(self, name: str) -> "MemoryQueue":
        """Return the same queue as another consumer sees it."""
        other = MemoryQueue(self.clock, self.visibility_timeout_ms, name)
        other._shared = self._shared
        return other

    @property
    def log(self) -> tuple[Event, ...]:
        """The events so far, in order."""
        return tuple(self._shared.log)

    def note(self, event: str, message: int, attempt: int) -> None:
        """Write down what only the consumer can see: that its work began, or failed."""
        self._write(self.name, event, message, attempt)

    def send_batch(self, messages: int) -> None:
        """Send messages 1 … `messages`, visible at once."""
        for message in range(1, messages + 1):
            self._shared.messages[message] = _Kept(self.clock())
            self._write("producer", "sent", message, None)

    def receive_batch(self, limit: int) -> list[Delivery]:
        """Take up to `limit` visible messages, first sent first, and hide them."""
        now_ms = self.clock()
        kept = self._shared.messages
        for message, one in kept.items():
            if one.receipt is not None and one.visible_at <= now_ms:
                one.receipt, one.ended = None, "expired"
                self._write("queue", "expired", message, one.deliveries)
        free = [m for m, one in kept.items() if one.receipt is None and one.visible_at <= now_ms]
        taken = []
        for message in free[:limit]:
            one = kept[message]
            one.deliveries += 1
            one.receipt = f"{message}:{one.deliveries}"
            one.visible_at = now_ms + self.visibility_timeout_ms
            self._write(self.name, "delivered", message, one.deliveries)
            count = one.deliveries
            taken.append(Delivery(message, "", one.receipt, count, count, count, one.visible_at))
        return taken

    def acknowledge(self, receipt: str) -> None:
        """Say that the work is done: the message is deleted, or the receipt is refused."""
        message, one = self._held(receipt)
        del self._shared.messages[message]
        self._write(self.name, "acknowledged", message, one.deliveries)

    def release(self, receipt: str, delay_ms: int = 0) -> None:
        """Give a message back, visible again after a delay."""
        message, one = self._held(receipt)
        one.receipt, one.ended, one.visible_at = None, "given back", self.clock() + delay_ms
        self._write("queue", "returned", message, one.deliveries)

    def extend(self, receipt: str) -> int:
        """Hide the message for another visibility timeout, counted from now."""
        message, one = self._held(receipt)
        one.visible_at = self.clock() + self.visibility_timeout_ms
        self._write(self.name, "extended", message, one.deliveries)
        return one.visible_at

    def dead_letter(self, receipt: str, _reason: str = "") -> None:
        """Move a message that one holds to the dead-letter queue."""
        message, one = self._held(receipt)
        del self._shared.messages[message]
        self._shared.dead[message] = one.deliveries
        self._write(self.name, "dead-lettered", message, one.deliveries)

    def next_visible_ms(self) -> int | None:
        """Return when the next message becomes visible, or None if there is no message."""
        return min((one.visible_at for one in self._shared.messages.values()), default=None)

    def _held(self, receipt: str) -> tuple[int, _Kept]:
        message, attempt = map(int, receipt.split(":"))
        one = self._shared.messages.get(message)
        if one is None:
            reason = "dead-lettered" if message in self._shared.dead else "gone"
        elif one.receipt == receipt and one.visible_at > self.clock():
            return message, one
        else:
            reason = "delivered again" if one.deliveries > attempt else one.ended or "expired"
            if one.deliveries == attempt and one.receipt == receipt:
                reason = "expired"
        raise ReceiptRefused(f"delivery {attempt} of message {message} is over: {reason}", reason)

    def _write(self, actor: str, event: str, message: int, attempt: int | None) -> None:
        self._shared.log.append(Event(self.clock(), actor, event, message, attempt))
