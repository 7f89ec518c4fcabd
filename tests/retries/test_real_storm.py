"""Real storms on loopback: they tell the model's story and leave nothing behind."""

import asyncio
import os
import signal
import sys
import threading
import time

import pytest

from lessons_lib.retries.budgets import Budget
from lessons_lib.retries.jitter import FullJitter
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.real_server import SlowServer, get
from lessons_lib.retries.real_storm import run_real_storms
from lessons_lib.retries.schedules import Exponential
from lessons_lib.retries.tokens import TokenBucket

FREE = Policy(Exponential(100), FullJitter(), Budget.of_retries(3))
HELD = Policy(FREE.schedule, FREE.jitter, FREE.budget, TokenBucket(ratio=0.1, cap=5))


def open_files():
    return len(os.listdir("/proc/self/fd"))


def test_unbounded_retries_keep_a_real_server_down_and_a_budget_does_not():
    threads = threading.active_count()
    real = run_real_storms({"free": FREE, "held": HELD})
    free, held = real["free"], real["held"]
    assert free.last_second("sent") > free.capacity_per_second == 50
    assert free.last_second("succeeded") < 0.1 * free.last_second("new")
    assert held.last_second("succeeded") > 0.9 * held.last_second("new")
    assert free.run.total("wasted") > 100 > held.run.total("wasted")
    for storm in real.values():
        ended = storm.run.total("succeeded") + storm.run.total("gave_up")
        assert ended <= storm.run.total("new") <= storm.run.total("sent")
        assert (storm.run.latency_ms >= 40).all()
    assert threading.active_count() == threads


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts open files in /proc")
def test_no_connection_or_thread_is_left_after_a_run_or_an_interrupt():
    files, threads = open_files(), threading.active_count()
    run_real_storms({"free": FREE}, seconds=2)
    assert (open_files(), threading.active_count()) == (files, threads)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.3)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_real_storms({"free": FREE, "held": HELD}, seconds=20)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 8
    deadline = time.monotonic() + 2  # the thread itself ends a moment after its work
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (open_files(), threading.active_count()) == (files, threads)


def test_it_runs_inside_a_cell_whose_loop_is_running():
    async def cell():
        return run_real_storms({"held": HELD}, seconds=2)

    assert asyncio.run(cell())["held"].run.total("succeeded") > 10


def test_the_server_works_for_clients_that_have_left():
    async def leave_early():
        async with SlowServer(workers=1, work_ms=200) as server:
            gone = await get(server.port, 50)
            stayed = await get(server.port, 5000)
            return gone, stayed, server.served, server.wasted

    assert asyncio.run(leave_early()) == (False, True, 2, 1)


def test_a_closed_port_is_a_failed_call():
    async def nobody_there():
        async with SlowServer() as server:
            port = server.port
        return await get(port, 1000)

    assert asyncio.run(nobody_there()) is False


def test_the_length_is_bounded():
    with pytest.raises(ValueError, match="seconds must be at most 20, got 60"):
        run_real_storms({"free": FREE}, seconds=60)
