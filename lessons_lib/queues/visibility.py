"""Waiting and the visibility timeout: hold, release or extend, on a virtual clock."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event
from lessons_lib.queues.clocks import VirtualClock
from lessons_lib.queues.holding import WaitPlan, consumer
from lessons_lib.queues.memory_queue import MemoryQueue
from lessons_lib.queues.noting import noting
from lessons_lib.queues.sqlite_queue import Queue
from lessons_lib.queues.visibility_run import VisibilityRun

__all__ = ["compare_ways", "run_visibility"]


def run_visibility(
    way: str = "release",
    *,
    visibility_ms: int = 30_000,
    messages: int = 1,
    consumers: int = 2,
    beat_ms: int | None = None,
    queue: str = "memory",
    **plan: int,
) -> VisibilityRun:
    """Let consumers work through messages that all wait at 0, and return who held what when.

    Args:
        way: "hold", "release" or "extend".
        visibility_ms: the visibility timeout in milliseconds, counted from the receive.
        messages: how many messages.
        consumers: how many consumers; one that has nothing to do takes what becomes visible
            in the same millisecond.
        beat_ms: time between heartbeats; None: half of the visibility timeout.
        queue: "memory", or "sqlite" for the real queue file on the same virtual clock. Both
            give the same events.
        plan: the other fields of `WaitPlan`: work_ms, wait_ms, failing, failures, prefetch,
            eta_ms, attempts.

    Raises:
        ValueError: a number is out of range, or a word is unknown.
    """
    one_of("queue", queue, ("memory", "sqlite"))
    visibility_ms = whole_number("visibility_ms", visibility_ms, low=1)
    messages = whole_number("messages", messages, low=0)
    consumers = whole_number("consumers", consumers, low=1)
    beat_ms = max(1, visibility_ms // 2) if beat_ms is None else beat_ms
    chosen = WaitPlan(way, beat_ms=beat_ms, **plan)
    names = [f"consumer {n}" for n in range(1, consumers + 1)]
    run = _in_memory if queue == "memory" else _in_sqlite
    return VisibilityRun(run(chosen, visibility_ms, messages, names), chosen, visibility_ms)


def compare_ways(**settings: Any) -> dict[str, VisibilityRun]:
    """Return the run of each way to wait, by name; the settings are those of `run_visibility`."""
    return {way: run_visibility(way, **settings) for way in ("hold", "release", "extend")}


def _in_memory(
    plan: WaitPlan, visibility_ms: int, messages: int, names: list[str]
) -> tuple[Event, ...]:
    clock = VirtualClock()
    queue = MemoryQueue(clock, visibility_ms)
    queue.send_batch(messages)
    views = [queue.seen_by(name) for name in names]
    _drive([consumer(view, plan, view.note) for view in views], clock, queue.next_visible_ms)
    return queue.log


def _in_sqlite(
    plan: WaitPlan, visibility_ms: int, messages: int, names: list[str]
) -> tuple[Event, ...]:
    clock = VirtualClock()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visibility.queue")

        def opened(name: str) -> Queue:
            return Queue(
                path, visibility_timeout_ms=visibility_ms, clock=clock, name=name, durable=False
            )

        queue = opened("producer")
        views = [opened(name) for name in names]
        try:
            queue.send_batch(range(1, messages + 1))
            _drive(
                [consumer(view, plan, noting(view)) for view in views],
                clock,
                lambda: min((m.visible_at_ms for m in queue.peek(messages + 1)), default=None),
            )
            return tuple(event for event in queue.history.log() if event.event != "counted")
        finally:
            for one in (queue, *views):
                one.close()


def _drive(
    consumers: list[Iterator[Any]], clock: VirtualClock, next_visible: Callable[[], int | None]
) -> None:
    """Let time jump from one moment at which something can happen to the next."""
    wakes: list[int | None] = [0] * len(consumers)  # None: idle, it takes what becomes visible
    while True:
        for due in (clock.now_ms, None):  # whoever ends something now acts before the idle do
            for number, one in enumerate(consumers):
                if wakes[number] == due:
                    pause = next(one)
                    wakes[number] = None if pause is None else clock.now_ms + pause
        moments = [at_ms for at_ms in wakes if at_ms is not None]
        visible = next_visible()
        if None in wakes and visible is not None:
            moments.append(max(visible, clock.now_ms))
        if not moments:
            return
        clock.until(min(moments))
