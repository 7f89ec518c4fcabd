"""Producers and consumers killed at random moments, hundreds of times: nothing is lost."""

import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from lessons_lib.queues.clocks import monotonic_ms
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.sqlite_queue import Queue

KILLS = 200
LONGEST_S = 60
RULE = Rule(1, convention="exceeds")  # so that being held at one kill too many isolates

# Each line in a notebook of its own is one write: what is written before the kill is there.
PRODUCER = """if True:
    import os, sys
    from lessons_lib.queues.clocks import monotonic_ms
    from lessons_lib.queues.sqlite_queue import Queue
    queue = Queue(sys.argv[1], clock=monotonic_ms)
    confirmed = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        message = queue.send({"from": os.getpid()})
        os.write(confirmed, f"{message}\\n".encode())
"""

CONSUMER = """if True:
    import os, sys, time
    from lessons_lib.queues.clocks import monotonic_ms
    from lessons_lib.queues.conventions import Rule
    from lessons_lib.queues.queue_errors import ReceiptRefused
    from lessons_lib.queues.sqlite_queue import Queue
    queue = Queue(sys.argv[1], clock=monotonic_ms, rule=Rule(1, convention="exceeds"),
                  visibility_timeout_ms=150, name=f"consumer {os.getpid()}")
    acknowledged = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        for message in queue.receive_batch(3, buffered=True):
            try:
                queue.begin(message.receipt)
                queue.acknowledge(message.receipt)
            except ReceiptRefused:
                continue
            os.write(acknowledged, f"{message.id}\\n".encode())
"""


def lines(path):
    return [int(line) for line in path.read_text().split()] if path.exists() else []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_two_hundred_kills_lose_nothing(tmp_path):
    path = tmp_path / "a.queue"
    confirmed, acknowledged = tmp_path / "confirmed", tmp_path / "acknowledged"
    Queue(path).close()
    rng = random.Random(3)
    jobs = [(PRODUCER, confirmed), (CONSUMER, acknowledged), (CONSUMER, acknowledged)]

    def start(job):
        code, notes = job
        child = subprocess.Popen([sys.executable, "-c", code, path, notes])
        # From before the first transaction to the middle of hundreds.
        return child, job, time.monotonic() + rng.uniform(0.03, 0.35)

    kills, began = 0, time.monotonic()
    running = [start(job) for job in jobs]
    try:
        while kills < KILLS:
            assert time.monotonic() - began < LONGEST_S, f"only {kills} kills in time"
            time.sleep(0.002)
            for place, (child, job, until) in enumerate(running):
                assert child.poll() is None, f"ended by itself, code {child.returncode}"
                if time.monotonic() >= until:
                    child.kill()
                    assert child.wait() == -signal.SIGKILL
                    kills += 1
                    running[place] = start(job)
    finally:
        for child, _, _ in running:
            child.kill()
            child.wait()

    # One more consumer, which nobody kills, takes what is left as soon as it is visible.
    with Queue(path, clock=monotonic_ms, rule=RULE, name="last") as queue:
        deadline = time.monotonic() + 30
        while queue.peek(1) and time.monotonic() < deadline:
            for message in queue.receive_batch(500):
                queue.acknowledge(message.receipt)
        assert queue.peek(1) == []
        dead = {letter.id for letter in queue.dead_letters.peek(1_000_000)}
        log = queue.history.log()

    ends = [event.message for event in log if event.event == "acknowledged"]
    sent = [event.message for event in log if event.event == "sent"]
    assert len(sent) > KILLS
    assert len(set(ends)) == len(ends), "acknowledged twice"
    assert set(lines(confirmed)) <= set(sent)
    assert set(sent) == set(ends) | dead, "lost"
    assert not set(ends) & dead
    assert dead, "no consumer was ever killed while it held a message"
    assert set(lines(acknowledged)) <= set(ends), "confirmed as acknowledged, then undone"
    assert len(set(lines(acknowledged))) == len(lines(acknowledged))
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    print(f"{kills} kills, {len(sent)} sent, {len(ends)} acknowledged, {len(dead)} dead letters")
