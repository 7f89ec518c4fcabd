"""What a run came to: six figures, who ended where, and the events they were counted from."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from lessons_lib.events import Event, event_table
from lessons_lib.queues.replay import Frame, replay, settle
from lessons_lib.queues.workload import Workload

__all__ = ["FIGURES", "RunResult"]

FIGURES = ("starts", "deliveries", "deaths", "processed", "dead_lettered", "left")


@dataclass(frozen=True, eq=False)
class RunResult:
    """The result of one run, simulated or real: everything is counted from the event log.

    Attributes:
        starts: processes started.
        deliveries: messages the consumer took up, to work on, to isolate or to reject. A
            message the queue isolates by itself is not delivered.
        deaths: processes that a message killed.
        processed, dead_lettered, left: where the messages are at the end.
        handed_out: messages that left the queue for the consumer. With prefetch above 1 this is
            more than `deliveries`: some were only held when the process died.
        ended: "queue empty", or "stopped after 12 starts", "stopped after 60 s": then the
            figures say where the experiment was stopped and nothing else.
        states: each message's state at the end: "processed", "dead-lettered", "waiting", or, if
            the run was cut off in the middle, "in work" or "held".
        counts: each message's counter at the end.
        log: the events, in order.
    """

    starts: int
    deliveries: int
    deaths: int
    processed: int
    dead_lettered: int
    left: int
    handed_out: int = field(repr=False)
    ended: str = field(repr=False)
    states: dict[int, str] = field(repr=False)
    counts: dict[int, int] = field(repr=False)
    log: tuple[Event, ...] = field(repr=False)
    load: Workload = field(repr=False)

    @classmethod
    def from_log(cls, log: Iterable[Event], load: Workload, ended: str = "") -> "RunResult":
        """Count the figures of a run from its events.

        Args:
            log: the events in order, as the model and the real run write them.
            load: the messages.
            ended: why it ended, if the log does not say.
        """
        log = tuple(log)
        seen = Counter(event.event for event in log)
        if not ended:
            done = bool(log) and log[-1].event == "finished"
            ended = "queue empty" if done else f"stopped after {seen['started']} starts"
        states, counts = dict.fromkeys(load.ids, "waiting"), dict.fromkeys(load.ids, 0)
        for _ in settle(log, states, counts):
            pass
        at_end = Counter(states.values())
        return cls(
            starts=seen["started"],
            deliveries=seen["delivered"],
            deaths=seen["died"],
            processed=at_end["processed"],
            dead_lettered=at_end["dead-lettered"],
            left=load.messages - at_end["processed"] - at_end["dead-lettered"],
            handed_out=seen["handed out"] or seen["delivered"],
            ended=ended,
            states=states,
            counts=counts,
            log=log,
            load=load,
        )

    @property
    def figures(self) -> tuple[int, ...]:
        """The six figures in the published order: starts, deliveries, …, left."""
        return tuple(getattr(self, name) for name in FIGURES)

    @cached_property
    def events(self) -> pd.DataFrame:
        """The event table."""
        return event_table(self.log)

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The states of the queue: one before the first event, then one after each."""
        return replay(self.log, self.load.messages)

    def ids(self, state: str) -> tuple[int, ...]:
        """Return the messages that ended as "processed", "dead-lettered" or "waiting"."""
        return tuple(message for message, ended in self.states.items() if ended == state)

    @property
    def innocents(self) -> tuple[int, ...]:
        """The dead-lettered messages that never did any harm."""
        return tuple(m for m in self.ids("dead-lettered") if self.load.harm(m) == "none")
