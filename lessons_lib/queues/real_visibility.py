"""Hold, release or extend with real processes: two consumers on one queue file, in real time."""

import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

from lessons_lib.errors import real_number, whole_number
from lessons_lib.processes.child import Child, ChildError
from lessons_lib.queues.clocks import monotonic_ms
from lessons_lib.queues.holding import WaitPlan
from lessons_lib.queues.sqlite_queue import Queue
from lessons_lib.queues.visibility_run import VisibilityRun

__all__ = ["run_real_visibility"]


def run_real_visibility(
    way: str = "release",
    *,
    visibility_ms: int = 800,
    messages: int = 1,
    consumers: int = 2,
    beat_ms: int | None = None,
    max_seconds: float = 20,
    progress: Callable[[str], None] | None = None,
    **plan: int,
) -> VisibilityRun:
    """Let real consumer processes work through a real queue file; the result is a simulation's.

    Each process runs the very consumer that `run_visibility` simulates, and sleeps where that
    one lets virtual time pass. Which of the processes gets a message first is up to the
    machine; the counts are not, as long as the times given differ by more than it is late.

    Args:
        way: "hold", "release" or "extend".
        visibility_ms: the visibility timeout in milliseconds.
        messages: how many messages; they are sent when all consumers are ready.
        consumers: how many processes.
        beat_ms: time between heartbeats; None: half of the visibility timeout.
        max_seconds: the experiment is stopped after this time.
        progress: told in one line what is going on if it takes longer than a second.
        plan: the other fields of `WaitPlan`, `eta_ms` excepted: this clock has no known 0.

    Raises:
        ValueError: a number is out of range, or a word is unknown.
        ChildError: a consumer failed, or time ran out; its last output is shown.
    """
    visibility_ms = whole_number("visibility_ms", visibility_ms, low=1)
    messages = whole_number("messages", messages, low=1)
    consumers = whole_number("consumers", consumers, low=1)
    max_seconds = real_number("max_seconds", max_seconds, low=0.1)
    beat_ms = max(1, visibility_ms // 2) if beat_ms is None else beat_ms
    chosen = WaitPlan(way, beat_ms=beat_ms, **plan)
    if chosen.eta_ms:
        raise ValueError(f"eta_ms must be 0 with real processes, got {chosen.eta_ms}")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = Path(folder, "visibility.queue")
        queue = stack.enter_context(Queue(path, clock=monotonic_ms, name="producer"))
        children = [
            stack.enter_context(
                Child(
                    "lessons_lib.queues.waiting_process",
                    *(path, f"consumer {n}", visibility_ms, json.dumps(asdict(chosen))),
                    module=True,
                    name=f"consumer {n}",
                    limit_s=max_seconds,
                    progress=progress,
                )
            )
            for n in range(1, consumers + 1)
        ]
        for child in children:
            child.wait_event("ready")
        queue.send_batch(range(1, messages + 1))
        for child in children:
            if child.wait() != 0:
                said = "\n".join(child.output[-12:])
                how = "its time was over" if child.timed_out else f"code {child.code}"
                raise ChildError(f"{child.name} did not finish, {how}\n{said}")
        log = [event for event in queue.history.log() if event.event != "counted"]
    began_ms = log[0].at_ms
    moved = tuple(replace(event, at_ms=event.at_ms - began_ms) for event in log)
    return VisibilityRun(moved, chosen, visibility_ms)
