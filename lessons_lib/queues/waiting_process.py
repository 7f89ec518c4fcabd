"""The consumer that waits, as a process of its own on a real queue file.

python -m lessons_lib.queues.waiting_process FILE NAME VISIBILITY_TIMEOUT_MS PLAN_AS_JSON
"""

import json
import sys
import time

from lessons_lib.processes.tell import tell
from lessons_lib.queues.clocks import monotonic_ms
from lessons_lib.queues.holding import WaitPlan, consumer
from lessons_lib.queues.noting import noting
from lessons_lib.queues.sqlite_queue import Queue

__all__ = ["main"]

POLL_S = 0.01


def main(path: str, name: str, visibility_ms: int, plan: WaitPlan) -> None:
    """Tell that it is ready, wait for the first message, and work until none is left.

    Args:
        path: the queue file.
        name: of this consumer.
        visibility_ms: the visibility timeout in milliseconds.
        plan: what to do with each message.
    """
    with Queue(path, name=name, visibility_timeout_ms=visibility_ms, clock=monotonic_ms) as queue:
        tell("ready")
        while not queue.statistics().sent:
            time.sleep(POLL_S)
        for pause_ms in consumer(queue, plan, noting(queue)):
            if pause_ms is not None:
                time.sleep(pause_ms / 1000)
            elif queue.peek(1):
                time.sleep(POLL_S)  # somebody holds it, or it is delayed: it may come back
            else:
                return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), WaitPlan(**json.loads(sys.argv[4])))
