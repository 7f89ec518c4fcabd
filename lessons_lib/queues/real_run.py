"""The experiment with real processes: a supervisor, a queue file, and consumers that die."""

import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from lessons_lib.errors import one_of, real_number, whole_number
from lessons_lib.events import Event
from lessons_lib.processes.child import Child, ChildError
from lessons_lib.queues.clocks import monotonic_ms
from lessons_lib.queues.consumer import BROKEN
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.deaths import ways_here
from lessons_lib.queues.notifications import body_of
from lessons_lib.queues.outcome import RunResult
from lessons_lib.queues.sqlite_queue import Queue
from lessons_lib.queues.workload import Workload

__all__ = ["run_real_consumer"]

ENDS_WORK = ("acknowledged", "failed", "dead-lettered")
HIDDEN_MS = 3_600_000  # nothing expires: messages come back because the supervisor gives them back


def run_real_consumer(
    messages: int = 5,
    deadly: Collection[int] = frozenset({3}),
    threshold: int = 3,
    count_on: str = "delivery",
    max_starts: int = 12,
    *,
    failing: Collection[int] = (),
    malformed: Collection[int] = (),
    validate: bool = False,
    prefetch: int = 1,
    convention: str = "reaches",
    work_ms: int = 0,
    restart_ms: int = 0,
    death: str = "exit",
    watchdog_ms: int = 300,
    max_seconds: float = 60,
    progress: Callable[[str], None] | None = None,
) -> RunResult:
    """Let a real consumer process, restarted whenever it dies, work through a real queue file.

    The result and its events are those of `run_consumer`, in real milliseconds; the order and
    all counts are the same, whatever the machine is busy with. A dead consumer's messages are
    given back at once, as a broker does when a connection drops. The queue file is made in
    a temporary folder and removed.

    Args:
        messages: this and the next nine mean what they mean in `run_consumer`.
        deadly: well-formed messages that end the process.
        threshold: when a message is dead-lettered.
        count_on: where the counter moves.
        max_starts: where the experiment is stopped.
        failing: messages that raise an error.
        malformed: messages that do not parse.
        validate: whether bodies are looked at before the work.
        prefetch: messages held at once.
        convention: where the counter is compared, and how.
        work_ms: how long the work on a message takes, in milliseconds.
        restart_ms: the supervisor's pause before it restarts; starting itself takes some 50 ms.
        death: how a deadly message ends the process: "exit", "SIGKILL", "SIGSEGV", "memory
            limit" or "endless loop". Windows has "exit" and "endless loop", macOS all but
            "memory limit".
        watchdog_ms: work that takes longer than this besides `work_ms` is ended, process and
            all.
        max_seconds: the experiment is stopped after this time.
        progress: told in one line what is going on if it takes longer than a second.

    Raises:
        ValueError: as in `run_consumer`, or this system does not know the death.
        ChildError: the consumer failed for a reason of its own; its last output is shown.
    """
    load = Workload(messages, deadly, failing, malformed)
    rule = Rule(threshold, count_on, convention)
    one_of("death", death, ways_here())
    max_starts = whole_number("max_starts", max_starts, low=1)
    prefetch = whole_number("prefetch", prefetch, low=1)
    work_ms = whole_number("work_ms", work_ms, low=0)
    restart_ms = whole_number("restart_ms", restart_ms, low=0)
    watchdog_ms = whole_number("watchdog_ms", watchdog_ms, low=1)
    deadline = time.monotonic() + real_number("max_seconds", max_seconds, low=0.1)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "notifications.queue")
        options = [
            *(path, "--uptime", "--visibility-timeout-ms", HIDDEN_MS, "--death", death),
            *("--threshold", rule.threshold, "--count-on", count_on, "--convention", convention),
            *("--prefetch", prefetch, "--work-ms", work_ms),
            *("--watchdog-ms", work_ms + watchdog_ms, *(["--validate"] if validate else [])),
        ]
        with Queue(path, rule=rule, clock=monotonic_ms, name="supervisor") as queue:
            queue.send_batch(body_of(message, load, death) for message in load.ids)
            ended = _supervise(queue, options, max_starts, restart_ms, deadline, progress)
            log = [event for event in queue.history.log() if event.event != "sent"]
    began_ms = log[0].at_ms if log else 0
    if ended == "time":
        ended = f"stopped after {max_seconds:g} s"
    return RunResult.from_log(
        (replace(event, at_ms=event.at_ms - began_ms) for event in log), load, ended
    )


def _supervise(
    queue: Queue,
    options: list,
    max_starts: int,
    restart_ms: int,
    deadline: float,
    progress: Callable[[str], None] | None,
) -> str:
    """Start consumers until one ends in peace; return "time" if time ran out, else ""."""
    for start in range(1, max_starts + 1):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return "time"
        queue.history.note(queue.clock(), "supervisor", "started", None, start)
        with Child(
            *("lessons_lib.queues.consumer", *options),
            module=True,
            name=f"consumer {start} of at most {max_starts}",
            limit_s=max(left_s, 0.05),
            progress=progress,
        ) as child:
            code = child.wait()
        if code == 0:
            queue.history.note(queue.clock(), "consumer", "finished", None, start)
            return ""
        guilty = _in_work(queue.history.log())
        if not child.timed_out:
            if code == BROKEN or guilty is None:
                said = "\n".join(child.output[-12:])
                raise ChildError(f"{child.name} failed by itself, code {code}\n{said}")
            queue.history.note(queue.clock(), "consumer", "died", guilty.message, guilty.attempt)
        queue.give_back("consumer")
        if child.timed_out:
            return "time"
        if start < max_starts:
            time.sleep(restart_ms / 1000)
    queue.history.note(queue.clock(), "supervisor", "gave up", None, max_starts)
    return ""


def _in_work(log: list[Event]) -> Event | None:
    """Return the delivery that the last consumer had begun and not ended."""
    begun = None
    for event in log:
        if event.event == "delivered":
            begun = event
        elif event.event in ("started", *ENDS_WORK):
            begun = None
    return begun
