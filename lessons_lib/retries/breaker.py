"""A circuit breaker: stop as a whole when everything fails, and try again with a few probes."""

from typing import NamedTuple

import pandas as pd

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event, event_table
from lessons_lib.retries.trip import InARow, Trip

__all__ = ["OUTCOMES", "Breaker", "Ticket"]

OUTCOMES = ("success", "failure", "excluded")


class Ticket(NamedTuple):
    """The leave to make one call: its number, and the breaker's period in which it was given."""

    number: int
    period: int


class Breaker:
    """Let calls through while they succeed, refuse them while everything fails.

    *Closed*: every call goes through, failures are counted. *Open*: every call is refused
    for `pause_ms`. *Half-open*: at most `permits` calls go through as probes. When `permits`
    of them have succeeded it closes; the first that fails opens it again and the pause begins
    anew. All times are virtual: whoever uses the breaker passes them in.

    Args:
        trip: when failures open it: `InARow(5)` or `FailureShare(...)`.
        pause_ms: how long it stays open.
        permits: probes of a half-open period, and the successes that close it.
        probe_ms: a probe without an answer after this time counts as failed. Without it one
            hung probe would hold the breaker half-open for ever.
        excluded_is: what an "excluded" outcome (an error that says nothing about the service's
            health, such as "not found") counts as: "nothing" (a probe's permit is given
            back), "success" or "failure".
        name: the actor in the event table.
    """

    def __init__(
        self,
        trip: Trip = InARow(5),  # noqa: B008 - frozen, so one default serves all
        *,
        pause_ms: int = 5000,
        permits: int = 1,
        probe_ms: int = 2000,
        excluded_is: str = "nothing",
        name: str = "breaker",
    ) -> None:
        self.pause_ms = whole_number("pause_ms", pause_ms, low=1)
        self.permits = whole_number("permits", permits, low=1)
        self.probe_ms = whole_number("probe_ms", probe_ms, low=1)
        self.excluded_is = one_of("excluded_is", excluded_is, ("nothing", "success", "failure"))
        self._trip, self._name = trip, name
        self._now_ms = 0
        self._calls = 0  # tickets given so far
        self._log: list[Event] = []
        self._enter("closed", 0)

    def fresh(self) -> "Breaker":
        """Return an unused breaker with the same settings."""
        return Breaker(
            self._trip,
            pause_ms=self.pause_ms,
            permits=self.permits,
            probe_ms=self.probe_ms,
            excluded_is=self.excluded_is,
            name=self._name,
        )

    def ask(self, now_ms: int) -> Ticket | None:
        """Ask for leave to call at `now_ms`; None means refused.

        Every ticket should come back through `report`. One that never does is no harm while
        the breaker is closed, and expires after `probe_ms` while it is half-open.
        """
        state = self.state(now_ms)
        if state == "open":
            return None
        if state == "half-open":
            if len(self._probes) + self._succeeded >= self.permits:
                return None
            self._probes[self._calls + 1] = now_ms
        self._calls += 1
        return Ticket(self._calls, self._period)

    def report(self, ticket: Ticket, now_ms: int, outcome: str) -> None:
        """Tell how a call ended: "success", "failure" or "excluded".

        A late result, of a call begun before the state last changed, is ignored: it says
        how the service was then, not how it is now.
        """
        if one_of("outcome", outcome, OUTCOMES) == "excluded":
            outcome = self.excluded_is
        state = self.state(now_ms)
        if ticket.period != self._period:
            return
        if state == "closed":
            if outcome != "nothing" and self._counter.add(now_ms, outcome == "failure"):
                self._enter("open", now_ms)
        elif self._probes.pop(ticket.number, None) is not None:  # a second report is ignored
            if outcome == "failure":
                self._enter("open", now_ms)
            elif outcome == "success":
                self._succeeded += 1
                if self._succeeded >= self.permits:
                    self._enter("closed", now_ms)

    def state(self, now_ms: int) -> str:
        """Return "closed", "open" or "half-open" at `now_ms`, after pauses and probes ran out."""
        if now_ms < self._now_ms:
            raise ValueError(f"time runs forward: now_ms was {self._now_ms}, got {now_ms!r}")
        self._now_ms = now_ms
        while True:
            if self._state == "open" and self._since_ms + self.pause_ms <= now_ms:
                self._enter("half-open", self._since_ms + self.pause_ms)
            elif self._probes and min(self._probes.values()) + self.probe_ms <= now_ms:
                self._enter("open", min(self._probes.values()) + self.probe_ms)
            else:
                return self._state

    def events(self) -> pd.DataFrame:
        """Return every change of state so far as an event table; the event is the new state."""
        return event_table(self._log)

    def _enter(self, state: str, at_ms: int) -> None:
        self._state, self._since_ms = state, at_ms
        self._period = len(self._log)  # tickets of earlier periods are worthless from here on
        self._log.append(Event(at_ms, self._name, state))
        self._probes: dict[int, int] = {}  # ticket number -> asked at
        self._succeeded = 0
        self._counter = self._trip.counter()
