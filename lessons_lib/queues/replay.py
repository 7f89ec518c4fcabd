"""The event table played back: the state of every message after each event."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lessons_lib.errors import whole_number
from lessons_lib.events import Event

__all__ = ["STATES", "Frame", "replay", "settle"]

STATES = ("waiting", "held", "in work", "processed", "dead-lettered")

BECOMES = {
    "handed out": "held",
    "delivered": "in work",
    "acknowledged": "processed",
    "dead-lettered": "dead-lettered",
    "returned": "waiting",
    "expired": "waiting",
    "redriven": "waiting",
}

WORDS = {
    "started": "the supervisor starts process {attempt}",
    "handed out": "message {message} is handed to the consumer, which holds it",
    "delivered": "delivery {attempt} of message {message}",
    "counted": "the counter of message {message} moves to {attempt}",
    "acknowledged": "message {message} is processed and acknowledged",
    "failed": "message {message} raises an error; the consumer catches it",
    "rejected": "message {message} does not parse; no work is begun",
    "died": "message {message} kills the process",
    "returned": "message {message} is back in the queue",
    "expired": "the delivery of message {message} expires; it is back in the queue",
    "dead-lettered": "message {message} goes to the dead-letter queue",
    "redriven": "message {message} leaves the dead-letter queue, its counter at 0",
    "finished": "nothing waits: process {attempt} ends in peace",
    "gave up": "the experiment is stopped after {attempt} starts",
}


@dataclass(frozen=True)
class Frame:
    """How things stand after one event.

    Attributes:
        number: 0 before the first event, then the number of the event, from 1.
        event: the event that led here, or None before the first.
        states: each message's state: "waiting", "held" (in the consumer's buffer), "in work",
            "processed" or "dead-lettered".
        counts: each message's counter.
        starts, deliveries, deaths: how many so far.
        alive: whether a consumer process is running.
    """

    number: int
    event: Event | None
    states: dict[int, str]
    counts: dict[int, int]
    starts: int = 0
    deliveries: int = 0
    deaths: int = 0
    alive: bool = False

    @property
    def at_ms(self) -> int:
        """When, in milliseconds since the run began."""
        return 0 if self.event is None else self.event.at_ms

    def where(self, state: str) -> tuple[int, ...]:
        """Return the messages in this state, in the order they were sent."""
        return tuple(message for message, now in self.states.items() if now == state)

    def __str__(self) -> str:
        if self.event is None:
            return f"0 ms: {len(self.states)} messages wait"
        words = WORDS.get(self.event.event, f"{self.event.actor}: {self.event.event}")
        told = words.format(message=self.event.message, attempt=self.event.attempt)
        return f"{self.at_ms} ms: {told}"


def settle(log: Iterable[Event], states: dict[int, str], counts: dict[int, int]) -> Iterator[Event]:
    """Apply the events to the states and counters in place, one a step, and yield each.

    Raises:
        ValueError: an event names a message that does not exist.
    """
    for number, event in enumerate(log, start=1):
        message = event.message
        if message is not None and message not in states:
            raise ValueError(f"event {number} names message {message}, of {len(states)} messages")
        if event.event in BECOMES:
            states[message] = BECOMES[event.event]
        if event.event == "counted":
            counts[message] = event.attempt
        elif event.event == "redriven":
            counts[message] = 0
        yield event


def replay(log: Iterable[Event], messages: int) -> tuple[Frame, ...]:
    """Return the state before the first event and after each.

    Nothing but the events is used: whoever wrote them, model or real queue, whatever its rule.

    Args:
        log: the events in order.
        messages: how many messages there are, called 1, 2, 3, …

    Raises:
        ValueError: an event names a message that does not exist.
    """
    ids = range(1, whole_number("messages", messages, low=0) + 1)
    states, counts = dict.fromkeys(ids, "waiting"), dict.fromkeys(ids, 0)
    frames = [Frame(0, None, states.copy(), counts.copy())]
    starts = deliveries = deaths = 0
    alive = False
    for event in settle(log, states, counts):
        starts += event.event == "started"
        deliveries += event.event == "delivered"
        deaths += event.event == "died"
        alive = event.event == "started" or (alive and event.event not in ("died", "finished"))
        frame = Frame(
            len(frames), event, states.copy(), counts.copy(), starts, deliveries, deaths, alive
        )
        frames.append(frame)
    return tuple(frames)
