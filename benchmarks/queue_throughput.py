"""The SQLite queue beside three others on SQLite: messages per second, in one run.

    python -m benchmarks.queue_throughput [--messages N] [--rounds N]

Every message is sent, received and acknowledged, each in a transaction of its own, from one
process and then from two at once. All files are in WAL mode with synchronous = FULL, so each
commit waits for the disk, in all of them. The libraries take turns; the median round counts.
They do not do the same: the last columns say what the figures leave out.
"""

import argparse
import contextlib
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

FULL = "PRAGMA synchronous = FULL"
PROCESSES = 2


class Ours:
    """The queue of the course, history included."""

    does = "count, visibility, receipts, dead letters, history"
    keeps = True

    def __init__(self, path):
        from lessons_lib.queues.sqlite_queue import Queue

        self.queue = Queue(path, busy_timeout_ms=60_000, keep_history=self.keeps)
        self.connections = [self.queue._connection._connect()]

    def put(self, body):  # noqa: D102
        self.queue.send(body)

    def take(self):  # noqa: D102
        message = self.queue.receive()
        if message is None:
            return None
        self.queue.acknowledge(message.receipt)
        return message.body


class OursWithoutHistory(Ours):
    """The same, without writing events."""

    does = "the same without history"
    keeps = False


class LiteQueue:
    """litequeue: put, pop, done."""

    does = "a lock that never expires; done messages stay in the file"

    def __init__(self, path):
        from litequeue import LiteQueue as Library

        self.queue = Library(path, timeout=60)
        self.connections = [self.queue.conn]

    def put(self, body):  # noqa: D102
        self.queue.put(body)

    def take(self):  # noqa: D102
        message = self.queue.pop()
        if message is None:
            return None
        self.queue.done(message.message_id)
        return message.data


class PersistQueue:
    """persist-queue: SQLiteAckQueue, whose rowid cursor is kept in each process."""

    does = "acknowledgement; made for one process"

    def __init__(self, path):
        import persistqueue

        self.empty = persistqueue.Empty
        Path(path).mkdir(exist_ok=True)
        self.queue = persistqueue.SQLiteAckQueue(
            str(path), multithreading=True, timeout=60, auto_resume=False
        )
        self.connections = [self.queue._putter, self.queue._getter]

    def put(self, body):  # noqa: D102
        self.queue.put(body)

    def take(self):  # noqa: D102
        try:
            body = self.queue.get(block=False)
        except self.empty:
            return None
        self.queue.ack(body)
        return body


class Huey:
    """huey's SQLite storage: enqueue, dequeue."""

    does = "deleted when taken: lost if the process then dies"

    def __init__(self, path):
        from huey.storage import SqliteStorage

        self.queue = SqliteStorage(filename=str(path), fsync=True, timeout=60)
        self.connections = [self.queue.conn]

    def put(self, body):  # noqa: D102
        self.queue.enqueue(body.encode())

    def take(self):  # noqa: D102
        body = self.queue.dequeue()
        return None if body is None else bytes(body).decode()


LIBRARIES = {
    "lessons_lib": Ours,
    "lessons_lib, no history": OursWithoutHistory,
    "litequeue": LiteQueue,
    "persist-queue": PersistQueue,
    "huey": Huey,
}


def opened(name, path):
    """Return a library's queue with the durability that all share, and prove it."""
    queue = LIBRARIES[name](path)
    for connection in queue.connections:
        connection.execute(FULL)
        level = connection.execute("PRAGMA synchronous").fetchone()[0]
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        assert (level, mode) == (2, "wal"), (name, level, mode)
    return queue


def work(name, path, share, number, barrier, results):
    """Send a share of the messages, take until nothing is left, and report what was taken."""
    queue = opened(name, path)
    taken, busy = [], 0
    barrier.wait()
    began = time.monotonic()
    for index in range(share):
        while True:
            try:
                queue.put(f"{number}:{index} " + "x" * 100)
                break
            except sqlite3.OperationalError:  # some give up at once when the file is busy
                busy += 1
    barrier.wait()  # so that no one finds the queue empty too early
    while True:
        try:
            body = queue.take()
        except sqlite3.OperationalError:
            busy += 1
            continue
        if body is None:
            break
        taken.append(body)
    results.put((began, time.monotonic(), taken, busy))


def one_round(name, processes, messages):
    """Return messages per second, and how many were taken more than once or not at all."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(processes), context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        share = messages // processes
        children = [
            context.Process(
                target=work, args=(name, f"{folder}/q", share, number, barrier, results)
            )
            for number in range(processes)
        ]
        for child in children:
            child.start()
        try:
            reports = [results.get(timeout=300) for _ in children]
        finally:
            for child in children:
                child.join(5)
                if child.is_alive():
                    child.kill()
    seconds = max(end for _, end, _, _ in reports) - min(begin for begin, _, _, _ in reports)
    taken = [body for _, _, bodies, _ in reports for body in bodies]
    twice = len(taken) - len(set(taken))
    missing = share * processes - len(set(taken))
    return share * processes / seconds, twice, missing


def main(argv: list[str] | None = None) -> None:
    """Measure all libraries in turn and print one line for each."""
    parser = argparse.ArgumentParser(description="Messages per second of queues on SQLite.")
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(argv)

    speeds = {(name, n): [] for n in (1, PROCESSES) for name in LIBRARIES}
    twice, missing = dict.fromkeys(LIBRARIES, 0), dict.fromkeys(LIBRARIES, 0)
    for _ in range(given.rounds):
        for name, processes in speeds:
            speed, again, lost = one_round(name, processes, given.messages)
            speeds[name, processes].append(speed)
            twice[name] += again
            missing[name] += lost
    median = {key: statistics.median(found) for key, found in speeds.items()}
    base = {n: median["lessons_lib", n] for n in (1, PROCESSES)}
    print(f"{given.messages} messages of 100 bytes, sent, received and acknowledged one by one;")
    print("WAL, synchronous = FULL everywhere; speed as a multiple of lessons_lib's\n")
    print(
        f"{'':24}{'1 process':>10}{f'{PROCESSES} processes':>13}{'twice':>7}{'lost':>6}  what it does"
    )
    for name, library in LIBRARIES.items():
        one, two = (f"{median[name, n] / base[n]:.2f}x" for n in (1, PROCESSES))
        print(f"{name:24}{one:>10}{two:>13}{twice[name]:7}{missing[name]:6}  {library.does}")
    rates = " and ".join(f"{base[n]:.0f} ({n})" for n in base)
    print(f"\nlessons_lib on this machine, by number of processes: {rates} messages per second.")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
