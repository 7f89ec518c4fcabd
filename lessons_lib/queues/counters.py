"""A consumer and its counter in virtual time: what becomes of a message that kills its process."""

from collections import deque
from collections.abc import Collection

from lessons_lib.errors import whole_number
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.model_queue import ModelQueue
from lessons_lib.queues.outcome import RunResult
from lessons_lib.queues.workload import Workload

__all__ = ["run_consumer"]


def run_consumer(
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
    work_ms: int = 100,
    restart_ms: int = 200,
) -> RunResult:
    """Let one consumer, restarted whenever it dies, work through a queue.

    A consumer takes the waiting message that was sent first, deals with it, takes the next. It
    ends in peace when nothing waits. A deadly message ends its process: no handler runs, and
    everything it held goes back to its place in the queue at that moment (as a broker gives
    messages back when a connection drops). The supervisor then starts the next process, up to
    `max_starts`.

    Args:
        messages: how many wait at the beginning; they are called 1, 2, 3, …
        deadly: those whose body is well formed and ends the process.
        threshold: when a message is dead-lettered; what it means depends on `convention`.
        count_on: "delivery" or "caught error", see `Rule`.
        max_starts: where the experiment is stopped.
        failing: those that raise an error, each time; the consumer catches it, gives the
            message back at once and goes on.
        malformed: those whose body does not parse. Unvalidated, they are as deadly as the
            deadly ones.
        validate: whether the consumer looks at a body before the work. A malformed one is then
            dead-lettered at its first delivery. A deadly one passes: its form is right.
        prefetch: how many messages the consumer holds at once. It tops up to this number
            before it takes the next from its own buffer. A count that moves "on delivery" moves
            when the queue hands the message out, so it also moves for messages that are only
            held. Those held at a death come back and are handed out, and counted, again.
        convention: "reaches", "exceeds" or "RabbitMQ", see `Rule`.
        work_ms: virtual time from a delivery to its end, be it success, error or death.
            Taking, isolating and rejecting a message costs no time.
        restart_ms: virtual time from a death to the next start.

    Raises:
        ValueError: a number is out of range, a word is unknown, or one of the sets names a
            message that does not exist or that another set names too.

    Source: the lesson's experiment P.
    """
    load = Workload(messages, deadly, failing, malformed)
    rule = Rule(threshold, count_on, convention)
    max_starts = whole_number("max_starts", max_starts, low=1)
    prefetch = whole_number("prefetch", prefetch, low=1)
    work_ms = whole_number("work_ms", work_ms, low=0)
    restart_ms = whole_number("restart_ms", restart_ms, low=0)

    queue = ModelQueue(load.messages, rule, prefetch > 1)
    start = 0
    while start < max_starts:
        start += 1
        queue.log("supervisor", "started", None, start)
        if _one_life(queue, load, rule, validate, prefetch, work_ms):
            queue.log("consumer", "finished", None, start)
            break
        if start < max_starts:
            queue.now_ms += restart_ms
    else:
        queue.log("supervisor", "gave up", None, start)
    return RunResult.from_log(queue.events, load)


def _one_life(
    queue: ModelQueue, load: Workload, rule: Rule, validate: bool, prefetch: int, work_ms: int
) -> bool:
    """Return True if the process ended in peace, False if a message killed it."""
    held: deque[int] = deque()
    while True:
        held.extend(queue.hand_out(prefetch - len(held)))
        if not held:
            return True
        message = held.popleft()
        queue.tell(message, "consumer", "delivered")
        if rule.isolates_at("before work", queue.counts[message]):
            queue.dead_letter(message, "consumer")
        elif validate and message in load.malformed:
            queue.tell(message, "consumer", "rejected")
            queue.dead_letter(message, "consumer")
        else:
            queue.now_ms += work_ms
            if message in load.deadly or message in load.malformed:
                queue.tell(message, "consumer", "died")
                for lost in sorted([message, *held]):
                    queue.give_back(lost, caught=False)
                return False
            if message in load.failing:
                queue.tell(message, "consumer", "failed")
                queue.give_back(message, caught=True)
            else:
                queue.tell(message, "consumer", "acknowledged")
