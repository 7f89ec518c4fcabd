"""A queue without a disk: who waits, who was handed out how often, in virtual time."""

from bisect import insort
from collections import deque

from lessons_lib.events import Event
from lessons_lib.queues.conventions import Rule

__all__ = ["ModelQueue"]


class ModelQueue:
    """Hand messages out in the order they were sent, count them, and write down what happened.

    Args:
        messages: how many wait at the beginning, called 1, 2, 3, …
        rule: when the counter moves and when a message is dead-lettered.
        buffered: whether a message handed out waits in the consumer's buffer first. Only then
            is "handed out" an event of its own; otherwise it is the same as "delivered".

    Attributes:
        now_ms: the virtual time; whoever uses the queue moves it on.
        counts: each message's counter, 0 before it first moves.
        events: what happened so far.
    """

    def __init__(self, messages: int, rule: Rule, buffered: bool) -> None:
        self.now_ms = 0
        self.counts = dict.fromkeys(range(1, messages + 1), 0)
        self.events: list[Event] = []
        self._times_out = dict(self.counts)
        self._waiting = deque(self.counts)
        self._rule = rule
        self._buffered = buffered

    def log(self, actor: str, event: str, message: int | None, attempt: int | None) -> None:
        """Write down one event at the present moment."""
        self.events.append(Event(self.now_ms, actor, event, message, attempt))

    def tell(self, message: int, actor: str, event: str) -> None:
        """Write down one event of a message; its attempt is the number of its delivery."""
        self.log(actor, event, message, self._times_out[message])

    def hand_out(self, limit: int) -> list[int]:
        """Take up to `limit` waiting messages, first sent first."""
        taken: list[int] = []
        while self._waiting and len(taken) < limit:
            message = self._waiting.popleft()
            if self._rule.counts_handing_out:
                self._count(message, "queue")
            if self._rule.isolates_at("handing out", self.counts[message]):
                self.dead_letter(message, "queue")
                continue
            self._times_out[message] += 1
            if self._buffered:
                self.tell(message, "queue", "handed out")
            taken.append(message)
        return taken

    def give_back(self, message: int, caught: bool) -> None:
        """Put a message back in its place, after a caught error or a death."""
        if caught and self._rule.counts_error:
            self._count(message, "consumer")
        if self._rule.counts_return(caught):
            self._count(message, "queue")
        if self._rule.isolates_at("return", self.counts[message]):
            self.dead_letter(message, "queue")
        else:
            self.tell(message, "queue", "returned")
            insort(self._waiting, message)

    def dead_letter(self, message: int, actor: str) -> None:
        """Move a message to the dead-letter queue."""
        self.tell(message, actor, "dead-lettered")

    def _count(self, message: int, actor: str) -> None:
        self.counts[message] += 1
        self.log(actor, "counted", message, self.counts[message])
