"""What a run came to: what was delivered and done twice, who only waited, when it was over."""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from lessons_lib.events import Event, event_table
from lessons_lib.queues.holding import WaitPlan
from lessons_lib.queues.spans import Span, length, spans_of, union

__all__ = ["FIGURES", "VisibilityRun"]

FIGURES = (
    "deliveries", "duplicates", "parallel_runs", "done_again", "refused", "doubled_ms",
    "waiting_ms", "completed_ms",
)  # fmt: skip
ENDS_HOLD = ("acknowledged", "returned", "refused", "stopped", "dead-lettered")
ENDS_WORK = ("done", "failed", "stopped")


@dataclass(frozen=True, eq=False)
class VisibilityRun:
    """The result of one run, simulated or real: everything is counted from the event log.

    Args:
        log: the events, in order.
        plan: what the consumers did.
        visibility_ms: the visibility timeout in milliseconds.
    """

    log: tuple[Event, ...] = field(repr=False)
    plan: WaitPlan
    visibility_ms: int

    @cached_property
    def events(self) -> pd.DataFrame:
        """The event table."""
        return event_table(self.log)

    @cached_property
    def holds(self) -> tuple[Span, ...]:
        """One span a delivery: from the receive until its consumer lets go of it."""
        until = {}
        for event in self.log:
            if event.event in ("delivered", "extended"):
                until[event.message, event.attempt] = event.at_ms + self.visibility_ms
        return tuple(
            replace(span, hidden_until_ms=until[span.message, span.attempt])
            for span in spans_of(self.log, "delivered", ENDS_HOLD)
        )

    @cached_property
    def works(self) -> tuple[Span, ...]:
        """One span a try, from its beginning to its end."""
        return spans_of(self.log, "began", ENDS_WORK)

    @cached_property
    def doubled(self) -> tuple[Span, ...]:
        """The parts of tries while another is at the same work, or after it has been done."""
        parts = []
        for work in self.works:
            twice = [(other.start_ms, other.end_ms) for other in self._rivals(work)]
            twice.append((self._first_done.get(work.message, work.end_ms), work.end_ms))
            within = [(max(a, work.start_ms), min(b, work.end_ms)) for a, b in twice]
            parts += [replace(work, start_ms=a, end_ms=b) for a, b in union(within)]
        return tuple(parts)

    @cached_property
    def delays(self) -> tuple[tuple[int, int, int], ...]:
        """(message, from, until) for each wait that a message spends hidden in the queue."""
        waits = []
        for event in self.log:
            if event.event == "returned":
                early = event.at_ms < self.plan.eta_ms
                until_ms = self.plan.eta_ms if early else event.at_ms + self.plan.wait_ms
                waits.append((event.message, event.at_ms, until_ms))
        return tuple(waits)

    @property
    def deliveries(self) -> int:
        """How often the queue handed a message out."""
        return self._seen["delivered"]

    @property
    def duplicates(self) -> int:
        """Deliveries that nobody asked for: the one before had expired."""
        return self._seen["expired"]

    @property
    def parallel_runs(self) -> int:
        """Tries during which another consumer was at the same work."""
        return sum(bool(self._rivals(work)) for work in self.works)

    @property
    def done_again(self) -> int:
        """Tries that succeeded although the work had been done: customers told once more."""
        return self._seen["done"] - len(self._first_done)

    @property
    def refused(self) -> int:
        """Receipts that came too late."""
        return self._seen["refused"]

    @property
    def doubled_ms(self) -> int:
        """Work beyond one consumer at a time, and all work after the first success."""
        needed = 0
        for message in {work.message for work in self.works}:
            mine = [work for work in self.works if work.message == message]
            done_ms = self._first_done.get(message, self.ended_ms)
            needed += length((work.start_ms, min(work.end_ms, done_ms)) for work in mine)
        return self.working_ms - needed

    @property
    def working_ms(self) -> int:
        """Time that consumers spent on tries, useful or not."""
        return sum(work.end_ms - work.start_ms for work in self.works)

    @property
    def waiting_ms(self) -> int:
        """Time in which consumers held messages and did no work: slots taken for nothing."""
        held = 0
        for name in self.consumers:
            held += length((h.start_ms, h.end_ms) for h in self.holds if h.consumer == name)
        return held - self.working_ms

    @property
    def completed_ms(self) -> int:
        """When the last message was acknowledged or dead-lettered."""
        ends = (e.at_ms for e in self.log if e.event in ("acknowledged", "dead-lettered"))
        return max(ends, default=0)

    @property
    def ended_ms(self) -> int:
        """When the last event happened, useless work included."""
        return max((event.at_ms for event in self.log), default=0)

    @property
    def processed(self) -> int:
        """Messages that were acknowledged."""
        return self._seen["acknowledged"]

    @property
    def dead_lettered(self) -> int:
        """Messages whose attempts were over."""
        return self._seen["dead-lettered"]

    @property
    def consumers(self) -> tuple[str, ...]:
        """The consumers that took part, in order."""
        return tuple(sorted({span.consumer for span in self.holds}))

    @property
    def figures(self) -> dict[str, int]:
        """The figures named in `FIGURES`, by name."""
        return {name: getattr(self, name) for name in FIGURES}

    def _rivals(self, work: Span) -> list[Span]:
        return [
            other
            for other in self.works
            if other is not work
            and other.message == work.message
            and other.start_ms < work.end_ms
            and work.start_ms < other.end_ms
        ]

    @cached_property
    def _seen(self) -> Counter[str]:
        return Counter(event.event for event in self.log)

    @cached_property
    def _first_done(self) -> dict[int, int]:
        first: dict[int, int] = {}
        for event in self.log:
            if event.event == "done":
                first.setdefault(event.message, event.at_ms)
        return first
