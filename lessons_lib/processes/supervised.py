"""What happened under a supervisor: starts, exit codes, waits, and why it ended."""

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from lessons_lib.events import Event, event_table

__all__ = ["Supervised"]


@dataclass(frozen=True, eq=False)
class Supervised:
    """What happened under a supervisor.

    Args:
        starts: processes started.
        codes: their exit codes; -15 and -9 are SIGTERM and SIGKILL.
        waits_ms: the waits between them, in milliseconds.
        ended: why it stopped: "wanted stop", "configuration error", "final code 5", "asked to
            stop", "12 starts".
        log: the events in order. The attempt is the number of the start.
    """

    starts: int
    codes: tuple[int, ...]
    waits_ms: tuple[int, ...]
    ended: str
    log: tuple[Event, ...] = field(repr=False)

    @cached_property
    def events(self) -> pd.DataFrame:
        """The event table."""
        return event_table(self.log)
