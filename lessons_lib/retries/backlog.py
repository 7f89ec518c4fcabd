"""A message that waits makes the queue wait: the backlog behind one held message."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.errors import whole_number
from lessons_lib.retries.outage import ThroughOutage

__all__ = ["Backlog", "backlog_behind"]


@dataclass(frozen=True)
class Backlog:
    """The queue's length while its only consumer waits, and while it catches up.

    Args:
        every_ms: distance between two samples.
        waiting: messages in the queue at each sample, int64, shape (samples,).
        peak: the longest queue.
        empty_at_ms: when the queue is empty again, or None if the consumer never catches up.
    """

    every_ms: int
    waiting: np.ndarray
    peak: int
    empty_at_ms: int | None

    def to_frame(self) -> pd.DataFrame:
        """Return one row a sample: at_ms, waiting."""
        at_ms = np.arange(len(self.waiting)) * self.every_ms
        return pd.DataFrame({"at_ms": at_ms, "waiting": self.waiting})


def backlog_behind(
    outage: ThroughOutage, *, arrival_ms: int, work_ms: int, until_ms: int, every_ms: int = 1000
) -> Backlog:
    """Count the messages that pile up behind one consumer that holds its message and waits.

    The consumer takes nothing else until its attempt succeeds at `outage.success_ms`. It
    then works through the queue in order. New messages arrive at a steady pace throughout.

    Args:
        outage: what became of the first message.
        arrival_ms: milliseconds between two arriving messages, at least 1.
        work_ms: milliseconds of work a message takes, at least 1.
        until_ms: where the picture ends.
        every_ms: distance between two samples, at least 1.
    """
    arrival_ms = whole_number("arrival_ms", arrival_ms, low=1)
    work_ms = whole_number("work_ms", work_ms, low=1)
    every_ms = whole_number("every_ms", every_ms, low=1)
    at_ms = np.arange(0, whole_number("until_ms", until_ms, low=0) + 1, every_ms)

    free_at = outage.success_ms + work_ms  # the held message itself is done first
    blocked = free_at // arrival_ms  # messages that arrived while the consumer was not free
    # Behind a full queue the k-th message is done at free_at + k·work. The queue is empty
    # when that catches up with the arrivals: free_at + k·work <= (k + 1)·arrival.
    if work_ms < arrival_ms:
        served = max(blocked, -(-(free_at - arrival_ms) // (arrival_ms - work_ms)))
        empty_at = free_at + served * work_ms if blocked else free_at
    else:
        served, empty_at = None, None

    arrived = at_ms // arrival_ms
    done = np.clip((at_ms - free_at) // work_ms, 0, None)
    waiting = np.maximum(arrived - np.minimum(arrived, done), 0)
    if empty_at is not None:
        waiting = np.where(at_ms >= empty_at, 0, waiting)
        peak = blocked
    else:
        peak = int(waiting.max(initial=0))
    return Backlog(
        every_ms, waiting.astype(np.int64), int(max(peak, waiting.max(initial=0))), empty_at
    )
