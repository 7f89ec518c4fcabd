"""The supervisor: exit codes, delays, SIGTERM before SIGKILL, and nobody left."""

import sys
import textwrap
import threading
import time

import psutil
import pytest
from kernelcase import alive

from lessons_lib.processes.restart_delay import KUBERNETES, RestartDelay
from lessons_lib.processes.storm import POLICIES, run_storm, simulate_storm, storm_table
from lessons_lib.processes.supervisor import Supervisor

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

CRASH = "lessons_lib.processes.crash"
AT_ONCE = RestartDelay(0)


def crashing(*options, **settings):
    return Supervisor(CRASH, *options, module=True, **settings)


def in_a_while(seconds, what):
    timer = threading.Timer(seconds, what)
    timer.start()
    return timer


@pytest.mark.parametrize(
    ("code", "ended"), [(0, "wanted stop"), (78, "configuration error"), (5, "final code 5")]
)
def test_a_final_code_is_not_retried(code, ended):
    run = crashing("--code", code, delay=AT_ONCE, final=(0, 78, 5)).run(for_ms=20_000)
    assert (run.starts, run.codes, run.waits_ms, run.ended) == (1, (code,), (), ended)
    assert [e.event for e in run.log] == ["started", f"exit code {code}", f"ends: {ended}"]


def test_a_crash_is_retried_with_a_growing_delay():
    run = crashing(delay=RestartDelay(20, cap_ms=70)).run(max_starts=5)
    assert run.codes == (1,) * 5
    assert run.waits_ms == (20, 40, 70, 70)
    assert run.ended == "5 starts"
    starts = [e.at_ms for e in run.log if e.event == "started"]
    ends = [e.at_ms for e in run.log if e.event.startswith("exit")]
    for end, start, wait in zip(ends, starts[1:], run.waits_ms, strict=False):
        assert start - end >= wait - 1
    assert [e.attempt for e in run.log if e.event == "started"] == [1, 2, 3, 4, 5]
    assert list(run.events.columns) == ["at_ms", "actor", "event", "message", "attempt"]


@pytest.mark.parametrize(("reset_after_ms", "waits"), [(1, (10, 10, 10)), (5000, (10, 20, 40))])
def test_the_reset_threshold_must_be_longer_than_a_crash_takes(reset_after_ms, waits):
    delay = RestartDelay(10, reset_after_ms=reset_after_ms)
    assert crashing("--lives-ms", 30, delay=delay).run(max_starts=4).waits_ms == waits


@pytest.mark.parametrize(("believes", "waits"), [(None, (10, 20, 40)), ("healthy", (10, 10, 10))])
def test_fake_success_keeps_the_delay_short_if_it_is_believed(believes, waits):
    run = crashing("--fake-success", delay=RestartDelay(10), believes=believes).run(max_starts=4)
    assert run.waits_ms == waits


@posix
def test_it_asks_before_it_kills():
    supervisor = crashing("--lives-ms", 60_000, grace_ms=20_000)
    run = stopped_when_running(supervisor)
    assert run.codes == (-15,)
    assert run.ended == "asked to stop"
    assert [e.event for e in run.log] == [
        *("started", "SIGTERM sent", "exit code -15", "ends: asked to stop")
    ]


@posix
def test_it_kills_what_is_deaf_after_the_grace_period():
    run = stopped_when_running(crashing("--lives-ms", 60_000, "--deaf", grace_ms=300))
    assert run.codes == (-9,)
    at = {e.event: e.at_ms for e in run.log}
    assert 295 <= at["SIGKILL sent"] - at["SIGTERM sent"] < 1500


@posix
def test_a_graceful_server_ends_with_code_zero():
    server = ("lessons_lib.processes.server", "--drain-ms", 50)
    run = stopped_when_running(Supervisor(*server, module=True), "listening")
    assert (run.codes, run.ended) == ((0,), "asked to stop")


def stopped_when_running(supervisor, event="running"):
    def stop():
        while not (supervisor.child and supervisor.child.events):
            time.sleep(0.01)
        supervisor.child.wait_event(event)
        supervisor.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    run = supervisor.run(for_ms=30_000)
    thread.join()
    return run


def test_it_stops_in_the_middle_of_a_wait():
    supervisor = crashing(delay=RestartDelay(60_000))
    in_a_while(0.8, supervisor.stop)
    began = time.monotonic()
    run = supervisor.run()
    assert time.monotonic() - began < 5
    assert (run.codes, run.waits_ms, run.ended) == ((1,), (60_000,), "asked to stop")


def test_it_ends_when_its_time_is_up():
    run = crashing("--lives-ms", 60_000, grace_ms=5000).run(for_ms=600)
    assert run.starts == 1
    assert run.ended == "asked to stop"


def test_it_restarts_on_request_even_after_code_zero():
    supervisor = Supervisor(
        *("lessons_lib.processes.server", "--drain-ms", 0), module=True, delay=AT_ONCE
    )

    def ask():
        while not (supervisor.child and supervisor.child.events):
            time.sleep(0.01)
        supervisor.restart("liveness probe failed")

    in_a_while(0, ask)
    in_a_while(2.5, supervisor.stop)
    run = supervisor.run()
    assert run.starts == 2
    assert "liveness probe failed" in [e.event for e in run.log]


@posix
@pytest.mark.parametrize("end", ["time.sleep(60)", "sys.exit(1)"])
def test_no_grandchildren_and_no_zombies(tmp_path, end):
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent("""
            import subprocess, sys, time
            from lessons_lib.processes.tell import tell
            below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            tell("below", pid=below.pid)
        """)
        + end
    )
    told = []

    class Watched(Supervisor):
        def _one_life(self, deadline):
            code = super()._one_life(deadline)
            told.extend(self.child.events)
            assert psutil.Process().children() == []  # a zombie would be one
            return code

    run = Watched(script, delay=AT_ONCE, grace_ms=300).run(
        for_ms=1500 if "sleep" in end else 30_000, max_starts=3
    )
    assert run.starts == (1 if "sleep" in end else 3)
    assert len(told) == run.starts
    for event in told:
        assert not psutil.pid_exists(event["pid"]) or not alive(psutil.Process(event["pid"]))


def test_delays():
    assert [KUBERNETES.wait_ms(n) // 1000 for n in range(1, 9)] == [
        0,
        10,
        20,
        40,
        80,
        160,
        300,
        300,
    ]
    assert [RestartDelay(1000, factor=1).wait_ms(n) for n in (1, 2, 999)] == [1000] * 3
    assert RestartDelay(0).wait_ms(7) == 0
    assert RestartDelay().wait_ms(10**6) == 60_000
    with pytest.raises(ValueError, match=r"crashes must be at least 1, got 0"):
        RestartDelay().wait_ms(0)
    with pytest.raises(ValueError, match=r"factor must be at least 1, got 0\.5"):
        RestartDelay(factor=0.5)


def test_the_storm_by_policy():
    table = storm_table(lives_ms=50)
    minute = table["a minute"]
    assert minute["no delay"] == 1200
    assert minute["no delay"] > minute["growing delay, fake success"] > minute["fixed delay"]
    assert minute["fixed delay"] > minute["growing delay"]
    assert minute["growing delay"] == 10
    assert minute["growing delay, fake success"] == 400


@pytest.mark.parametrize("name", POLICIES)
def test_a_long_storm_is_the_same_as_step_by_step(name):
    delay, fake = POLICIES[name]
    for lives in (1, 50, 20_000):
        storm = simulate_storm(delay, fake_success=fake, lives_ms=lives, for_ms=200_000)
        at, crashes, starts = 0, 0, []
        while at < storm.for_ms:
            starts.append(at)
            crashes = 1 if fake or lives >= delay.reset_after_ms else crashes + 1
            at += lives + delay.wait_ms(crashes)
        assert list(storm.starts_ms) == starts
        assert storm.per_second.sum() == storm.starts
    assert len(storm.events) >= storm.starts


def test_the_real_storm_has_the_same_shape():
    starts = {
        name: run_storm(delay, fake_success=fake, for_ms=1500).starts
        for name, (delay, fake) in POLICIES.items()
    }
    assert starts["fixed delay"] == 2
    assert starts["growing delay"] <= 4
    assert starts["no delay"] > starts["growing delay, fake success"] >= starts["growing delay"]


def test_nothing_is_left():
    assert psutil.Process().children(recursive=True) == []
