"""The consumer as a process of its own: it takes messages until none waits, or one kills it.

python -m lessons_lib.queues.consumer --help
"""

import argparse
import faulthandler
import os
import sys
import time
import traceback
from collections import deque

from lessons_lib.queues.clocks import monotonic_ms, wall_ms
from lessons_lib.queues.conventions import CONVENTIONS, COUNT_ON, Rule
from lessons_lib.queues.deaths import WAYS
from lessons_lib.queues.notifications import is_well_formed, work_on
from lessons_lib.queues.receipts import Delivery
from lessons_lib.queues.sqlite_queue import Queue

__all__ = ["BROKEN", "consume", "main"]

BROKEN = 70
"""The exit code if the consumer itself failed: an error of the queue or a bug, no message's."""


def consume(
    queue: Queue,
    rule: Rule,
    *,
    prefetch: int = 1,
    validate: bool = False,
    death: str = "exit",
    work_ms: int = 0,
    watchdog_ms: int = 0,
) -> None:
    """Take messages, work on each, acknowledge it; return when none waits.

    Args:
        queue: opened with the same rule.
        rule: "reaches" is compared here, before the work; the others are the queue's.
        prefetch: how many messages to hold at once.
        validate: whether to look at a body before the work.
        death: how a body that does not parse ends the process if nobody looked.
        work_ms: how long the work takes, in milliseconds.
        watchdog_ms: work that takes longer ends the process. 0: no watchdog.
    """
    held: deque[Delivery] = deque()
    while True:
        if len(held) < prefetch:
            held.extend(queue.receive_batch(prefetch - len(held), buffered=prefetch > 1))
        if not held:
            return
        message = held.popleft()
        if prefetch > 1:
            queue.begin(message.receipt)
        if rule.isolates_at("before work", message.count):
            queue.dead_letter(message.receipt, f"its count {message.count} reached the threshold")
        elif validate and not is_well_formed(message.body):
            queue.history.note(queue.clock(), queue.name, "rejected", message.id, message.attempt)
            queue.dead_letter(message.receipt, "malformed")
        else:
            try:
                _watched(message.body, death, work_ms, watchdog_ms)
            except Exception:  # whatever the work raises is a failure of this message
                queue.release(message.receipt, failed=True)
            else:
                queue.acknowledge(message.receipt)


def _watched(text: str, death: str, work_ms: int, watchdog_ms: int) -> None:
    if watchdog_ms:
        # A thread outside the interpreter: it ends the process even from within native code.
        faulthandler.dump_traceback_later(watchdog_ms / 1000, exit=True)
    try:
        time.sleep(work_ms / 1000)
        work_on(text, death)
    finally:
        faulthandler.cancel_dump_traceback_later()


def main(argv: list[str] | None = None) -> None:
    """Run a consumer from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lessons_lib.queues.consumer", description="Take messages from a queue file."
    )
    parser.add_argument("path", help="the queue file")
    parser.add_argument("--name", default="consumer", help="who holds the messages it takes")
    parser.add_argument("--threshold", type=int, default=3)
    parser.add_argument("--count-on", choices=COUNT_ON, default="delivery")
    parser.add_argument("--convention", choices=CONVENTIONS, default="reaches")
    parser.add_argument("--prefetch", type=int, default=1, help="messages held at once")
    parser.add_argument("--validate", action="store_true", help="look at a body before the work")
    parser.add_argument("--death", choices=WAYS, default="exit", help="by a malformed body")
    parser.add_argument("--work-ms", type=int, default=0)
    parser.add_argument("--watchdog-ms", type=int, default=0, help="0: none")
    parser.add_argument("--visibility-timeout-ms", type=int, default=30_000)
    parser.add_argument("--uptime", action="store_true", help="clock: monotonic, not the wall's")
    given = parser.parse_args(argv)
    try:
        rule = Rule(given.threshold, given.count_on, given.convention)
        clock = monotonic_ms if given.uptime else wall_ms
        hidden_ms = given.visibility_timeout_ms
        with Queue(
            given.path, rule=rule, clock=clock, name=given.name, visibility_timeout_ms=hidden_ms
        ) as queue:
            consume(
                queue,
                rule,
                prefetch=given.prefetch,
                validate=given.validate,
                death=given.death,
                work_ms=given.work_ms,
                watchdog_ms=given.watchdog_ms,
            )
    except Exception:
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(BROKEN)  # told apart from a death that a message brought about


if __name__ == "__main__":
    main()
