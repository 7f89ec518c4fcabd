"""What calls through an outage came to: wasted, refused, succeeded, and how late they resumed."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.events import event_table
from lessons_lib.retries.breaker import Breaker

__all__ = ["FATES", "BreakerRun", "states_of"]

FATES = ("sent", "failed", "succeeded", "refused")


@dataclass(frozen=True)
class BreakerRun:
    """What an outage cost.

    Args:
        calls: calls that were to be made.
        wasted: requests that met a failing service.
        refused: calls a breaker refused.
        refused_healthy: of those, calls that would have met a healthy service.
        succeeded: calls that succeeded.
        late_ms: time from the end of the outage to the first success on what had failed,
            or None if there was none.
        counts: how often each of `FATES` in each second, int64, shape (seconds, 4).
        states: event table of the breakers' changes of state; empty without a breaker.
    """

    calls: int
    wasted: int
    refused: int
    refused_healthy: int
    succeeded: int
    late_ms: int | None
    counts: np.ndarray
    states: pd.DataFrame

    @property
    def success(self) -> float:
        """Share of all calls that succeeded."""
        return self.succeeded / self.calls

    def to_frame(self) -> pd.DataFrame:
        """Return one row a second: from_ms, sent, failed, succeeded, refused."""
        frame = pd.DataFrame(self.counts, columns=list(FATES))
        frame.insert(0, "from_ms", np.arange(len(frame)) * 1000)
        return frame


def states_of(breakers: Iterable[Breaker]) -> pd.DataFrame:
    """Return the changes of state of several breakers as one event table, in order of time."""
    tables = [guard.events() for guard in dict.fromkeys(breakers)]
    if not tables:
        return event_table([])
    table = pd.concat(tables, keys=range(1, len(tables) + 1), names=["shard", None])
    if len(tables) > 1:
        table["actor"] += " " + table.index.get_level_values("shard").astype(str)
    return table.sort_values("at_ms", kind="stable").reset_index(drop=True)
