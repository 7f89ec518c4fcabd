"""What a shutdown came to, simulated or real: its events, and what can be read off them."""

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from lessons_lib.events import Event, event_table

__all__ = ["PUBLISHED", "Shutdown"]

PUBLISHED = (
    *("listening", "ready=200", "SIGTERM received", "ready=503", "no new connections"),
    *("all requests finished", "slow request answered", "exit code 0"),
)
"""The order of events that the lesson is known for."""


@dataclass(frozen=True, eq=False)
class Shutdown:
    """One shutdown, from the first listening to the end of the process.

    Actors: "server", "supervisor", "probe", "slow request", "idle client", "stuck client",
    "client 1", "client 2", … The message number is the request's.

    Args:
        log: the events in order; `at_ms` counts from "listening".
        code: the exit code; -9 means ended by SIGKILL.
        grace_ms: after which time the supervisor kills.
        slow: the status of the slow request's answer, or None if it was lost.
        clients: keep-alive clients that were at work.
        lost: requests that these clients had sent and that got no answer.
    """

    log: tuple[Event, ...] = field(repr=False)
    code: int
    grace_ms: int = field(repr=False)
    slow: int | None
    clients: int
    lost: int

    @cached_property
    def events(self) -> pd.DataFrame:
        """The event table."""
        return event_table(self.log)

    @property
    def order(self) -> list[str]:
        """The events of the published transcript, in the order in which they happened here.

        An event of the same kind with another outcome ("ready=refused", "exit code -9", "slow
        request lost") stands where it happened.
        """
        kinds = ("ready=", "exit code ", "slow request answered", "slow request lost")
        return [e.event for e in self.log if e.event in PUBLISHED or e.event.startswith(kinds)]

    def at(self, event: str) -> int | None:
        """Return when an event first happened, in milliseconds, or None if it did not."""
        return next((entry.at_ms for entry in self.log if entry.event == event), None)

    @property
    def signal_at_ms(self) -> int:
        """When the stop request was sent."""
        return next(e.at_ms for e in self.log if e.event in ("SIGTERM sent", "SIGINT sent"))

    @property
    def ended_at_ms(self) -> int:
        """When the process ended; a probe may still have come later, and found nobody."""
        return next(e.at_ms for e in self.log if e.event.startswith("exit code"))

    @property
    def exit_ms(self) -> int:
        """Milliseconds from the stop request to the end of the process."""
        return self.ended_at_ms - self.signal_at_ms

    @property
    def ended_by(self) -> str:
        """What ended the process: "itself", "its limit", "the signal" or "SIGKILL"."""
        if self.code == -9:
            return "SIGKILL"
        if self.code < 0:
            return "the signal"
        return "itself" if self.at("limit reached") is None else "its limit"

    @property
    def phases(self) -> list[tuple[str, int, int]]:
        """The bands of a picture: what the server was doing, from when to when, in milliseconds."""
        marks = [("serving", 0)]
        named = {
            "SIGTERM received": "not ready, still serving",
            "SIGINT received": "not ready, still serving",
            "no new connections": "finishing",
            "all requests finished": "leaving",
            "limit reached": "leaving",
        }
        marks += [(named[e.event], e.at_ms) for e in self.log if e.event in named]
        ends = [at for _, at in marks[1:]] + [self.ended_at_ms]
        return [(name, at, end) for (name, at), end in zip(marks, ends, strict=True)]

    @property
    def requests(self) -> list[tuple[str, int, int, str]]:
        """The bars of a picture: who, from when to when in milliseconds, and how it ended."""
        bars, begun = [], {}
        for e in self.log:
            if e.event in ("slow request sent", "connection opened", "endless request sent"):
                begun[e.actor] = e.at_ms
            elif e.actor in begun and e.event.endswith(("answered", "lost", "closed", "cut")):
                bars.append((e.actor, begun.pop(e.actor), e.at_ms, e.event))
        return bars
