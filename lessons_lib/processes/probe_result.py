"""What an outage did to the replicas, simulated or real: restarts, and who was ready when."""

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from lessons_lib.events import Event, event_table

__all__ = ["ProbeRun"]


@dataclass(frozen=True, eq=False)
class ProbeRun:
    """One outage of a dependency and the replicas that need it.

    Args:
        replicas: how many there are; all are ready before the outage.
        down_ms: when the dependency went away.
        up_ms: when it was back.
        log: events of "dependency" ("down", "up") and of "replica 1", … ("not ready", "ready",
            "killed", "crashed", "started"), in order.
    """

    replicas: int
    down_ms: int
    up_ms: int
    log: tuple[Event, ...] = field(repr=False)

    @cached_property
    def events(self) -> pd.DataFrame:
        """The event table."""
        return event_table(self.log)

    @property
    def restarts(self) -> int:
        """Processes that a probe killed, or that crashed during their start-up."""
        return sum(event.event in ("killed", "crashed") for event in self.log)

    @cached_property
    def back_ms(self) -> list[int | None]:
        """For each replica, milliseconds after the outage until it was ready for good.

        0 if it was ready all the time, None if it never is again.
        """
        last = {f"replica {n}": Event(0, "", "ready") for n in range(1, self.replicas + 1)}
        for event in self.log:
            if event.event in ("ready", "not ready"):
                last[event.actor] = event
        return [
            max(0, event.at_ms - self.up_ms) if event.event == "ready" else None
            for event in last.values()
        ]

    @property
    def first_ms(self) -> int | None:
        """Milliseconds after the outage until the first replica is ready; None: none ever."""
        return min((back for back in self.back_ms if back is not None), default=None)

    @property
    def last_ms(self) -> int | None:
        """Milliseconds after the outage until all are ready; None: never."""
        return None if None in self.back_ms else max(self.back_ms)

    @property
    def ready_counts(self) -> tuple[list[int], list[int]]:
        """How many replicas are ready: moments in milliseconds, and the number from each on."""
        at, count = [0], [self.replicas]
        for event in self.log:
            step = {"ready": 1, "not ready": -1}.get(event.event, 0)
            if step:
                at.append(event.at_ms)
                count.append(count[-1] + step)
        return at, count

    @property
    def unavailable_ms(self) -> int | None:
        """How long nothing could be answered: the dependency away or no replica ready.

        None: for ever.
        """
        if self.first_ms is None:
            return None
        return self.up_ms - self.down_ms + self._dark_ms()

    def _dark_ms(self) -> int:
        """Milliseconds after the outage in which no replica was ready."""
        at, count = self.ready_counts
        ends = [*at[1:], max(at[-1], self.up_ms)]
        return sum(
            max(0, end - max(start, self.up_ms))
            for start, end, n in zip(at, ends, count, strict=True)
            if n == 0
        )
