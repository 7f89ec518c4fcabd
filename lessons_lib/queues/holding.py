"""A consumer whose work fails at first, and three ways to wait before it tries again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lessons_lib.errors import one_of, whole_number
from lessons_lib.queues.queue_errors import ReceiptRefused
from lessons_lib.queues.receipts import Delivery

__all__ = ["WAYS_TO_WAIT", "WaitPlan", "consumer"]

WAYS_TO_WAIT = ("hold", "release", "extend")


@dataclass(frozen=True)
class WaitPlan:
    """What a consumer does with each message; times in milliseconds.

    Args:
        way: how it waits. "hold": it keeps the message and sleeps. "release": it gives the
            message back, visible again after the wait. "extend": it keeps it, and a heartbeat
            renews the visibility timeout of all it holds.
        work_ms: how long one try takes, at least 1.
        wait_ms: the backoff wait after a failed try.
        failing: messages 1 … `failing` fail at first; the others succeed at once.
        failures: how many tries of each of those fail.
        prefetch: messages taken in one receive, worked on one after the other.
        eta_ms: no work before this moment, counted from the clock's 0; waited for in the same way.
        attempts: most tries of a message; after them it is dead-lettered.
        beat_ms: time between two heartbeats, only for "extend".

    Raises:
        ValueError: a number is out of range, or the way is unknown.
    """

    way: str = "release"
    work_ms: int = 10_000
    wait_ms: int = 25_000
    failing: int = 1
    failures: int = 1
    prefetch: int = 1
    eta_ms: int = 0
    attempts: int = 5
    beat_ms: int = 15_000

    def __post_init__(self) -> None:
        one_of("way", self.way, WAYS_TO_WAIT)
        for name in ("work_ms", "prefetch", "attempts", "beat_ms"):
            whole_number(name, getattr(self, name), low=1)
        for name in ("wait_ms", "failing", "failures", "eta_ms"):
            whole_number(name, getattr(self, name), low=0)


def consumer(queue: Any, plan: WaitPlan, note: Callable[[str, int, int], None]) -> Iterator[Any]:
    """Work as a consumer; yield the milliseconds it spends, or None when nothing is visible.

    Whoever runs it decides what time is: a loop with a virtual clock, or a process that sleeps.

    Args:
        queue: a `MemoryQueue` or a `Queue`, with the consumer's name.
        plan: what it does.
        note: writes down what the queue cannot see: (event, message, attempt). The events are
            "began", "failed" and "done" for a try, "refused" for a receipt that came too late,
            "stopped" for work broken off because the heartbeat was refused.
    """
    held: list[Delivery] = []
    while True:
        held.extend(queue.receive_batch(plan.prefetch))
        if not held:
            yield None
        while held:
            yield from _handle(queue, plan, note, held)
            held.pop(0)


def _handle(
    queue: Any, plan: WaitPlan, note: Callable[[str, int, int], None], held: list[Delivery]
) -> Iterator[int]:
    """See the first delivery in `held` to its end."""
    mine = held[0]
    this = (mine.id, mine.attempt)
    until_eta_ms = plan.eta_ms - queue.clock()
    try:
        if until_eta_ms > 0 and plan.way == "release":
            queue.release(mine.receipt, until_eta_ms)
            return
        yield from _spend(queue, plan, held, max(0, until_eta_ms))
        tried = mine.attempt  # the first try of delivery 2 is attempt 2, as far as anybody knows
        while tried <= plan.attempts:
            note("began", *this)
            yield from _spend(queue, plan, held, plan.work_ms)
            if mine.id > plan.failing or tried > plan.failures:
                note("done", *this)
                queue.acknowledge(mine.receipt)
                return
            note("failed", *this)
            if plan.way == "release":
                queue.release(mine.receipt, plan.wait_ms)
                return
            yield from _spend(queue, plan, held, plan.wait_ms)
            tried += 1
        queue.dead_letter(mine.receipt, f"{plan.attempts} attempts are over")
    except _Lost:
        note("stopped", *this)
    except ReceiptRefused:
        note("refused", *this)


class _Lost(Exception):
    """The heartbeat of the message in work was refused: somebody else may have it."""


def _spend(queue: Any, plan: WaitPlan, held: list[Delivery], ms: int) -> Iterator[int]:
    """Let time pass; with "extend", renew all that is held at every heartbeat and at the end."""
    if plan.way != "extend":
        if ms:
            yield ms
        return
    while ms > 0:
        step = min(ms, plan.beat_ms)
        yield step
        ms -= step
        for delivery in list(held):
            try:
                queue.extend(delivery.receipt)
            except ReceiptRefused:
                if delivery is held[0]:
                    raise _Lost from None
