"""The shutdown experiment: published order, model and real run, what each part is good for."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from lessons_lib.processes.balancer import simulate_balancer
from lessons_lib.processes.balancer_run import run_balancer
from lessons_lib.processes.parts import PARTS
from lessons_lib.processes.recorded import recorded_shutdowns
from lessons_lib.processes.shutdown_ablation import CASES, QUICK, ablation_table, run_ablation
from lessons_lib.processes.shutdown_model import simulate_shutdown
from lessons_lib.processes.shutdown_run import run_shutdown
from lessons_lib.processes.shutdown_timeline import PUBLISHED

published = json.loads(Path("tests/published.json").read_text("utf-8"))["shutdown"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def settings():
    names = {"slow_request_ms": "slow_ms", "signal_after_request_ms": "signal_after_ms"}
    names["ready_check_after_signal_ms"] = "ready_after_ms"
    return {names.get(name, name): value for name, value in published["setup"].items()}


@contextmanager
def both_cores_busy():
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def check_published():
    run = run_shutdown(**settings())
    assert run.order == published["events"] == list(PUBLISHED)
    assert (run.code, run.slow, run.ended_by) == (0, 200, "itself")
    return run


def test_the_model_tells_the_published_order():
    run = simulate_shutdown(**settings())
    assert run.order == published["events"]
    assert (run.code, run.slow, run.exit_ms) == (0, 200, 700)


@posix
def test_the_published_order():
    for _ in range(3):
        run = check_published()
    assert [name for name, *_ in run.phases] == [
        *("serving", "not ready, still serving", "finishing", "leaving")
    ]
    assert run.at("no new connections") - run.signal_at_ms >= 495
    assert [actor for actor, *_ in run.requests] == ["idle client", "slow request"]
    assert list(run.events.columns) == ["at_ms", "actor", "event", "message", "attempt"]
    assert run.events.at_ms.is_monotonic_increasing


@posix
@pytest.mark.slow
def test_the_published_order_forty_times_half_of_them_with_both_cores_busy():
    for _ in range(20):
        check_published()
    with both_cores_busy():
        for _ in range(20):
            check_published()


@posix
def test_the_published_order_with_both_cores_busy():
    with both_cores_busy():
        check_published()


@posix
def test_probes_and_clients_beside_it_change_nothing():
    run = run_shutdown(**settings(), clients=8, probe_every_ms=50)
    assert run.order == published["events"]
    assert run.lost == 0
    said = [e.event for e in run.log if e.event.startswith("probe=")]
    assert said == sorted(said)  # 200 first, then 503, then refused
    assert {"probe=200", "probe=503", "probe=refused"} == set(said)


@posix
def test_what_each_part_is_good_for():
    runs = run_ablation()
    table = ablation_table(runs)
    print(table.to_string())
    assert list(table.index) == list(CASES)
    lost = table["lost of 8"]
    gentle = ["all parts", "all parts, stuck client", "limit longer than the grace"]
    gentle += [f"without {part}" for part in ("idle closing", "waiting", "limit", "daemon timer")]
    assert (lost[gentle] == 0).all()
    assert (lost[["without handler", "without drain", "without announcement"]] >= 5).all()
    slow_lost = set(table.index[table["slow request"] == "lost"])
    assert slow_lost == {"without handler", "without waiting"}
    by = table["ended by"]
    assert set(by.index[by == "SIGKILL"]) == {"without limit", "limit longer than the grace"}
    assert set(by.index[by == "its limit"]) == {
        *("without idle closing", "without daemon timer", "all parts, stuck client")
    }
    late = QUICK["drain_ms"] + QUICK["limit_ms"]
    assert (table["ended after ms"][by == "its limit"] >= late - 20).all()
    assert table["ended after ms"]["all parts"] < late
    assert dict(table["exit code"][table["exit code"] != 0]) == {
        "without handler": -15,
        "without limit": -9,
        "limit longer than the grace": -9,
    }
    model = ablation_table(run_ablation(run=modelled))
    for column in ("slow request", "exit code", "ended by"):
        assert list(model[column]) == list(table[column]), column


def modelled(clients, progress, **changes):
    return simulate_shutdown(**changes)


def test_the_model_answers_any_settings():
    for drain in (0, 100, 500, 2000):
        for limit in (0, 500, 3000):
            for slow in (0, 100, 800, 5000):
                for grace in (0, 400, 2000, 10_000):
                    for part in (None, *PARTS):
                        without = () if part is None else part
                        run = simulate_shutdown(drain, limit, slow, grace, without)
                        assert run.exit_ms <= grace
                        assert (run.at("slow request lost") is None) == (run.slow == 200)
                        assert run.order.count(f"exit code {run.code}") == 1
                        assert run.phases[-1][2] == run.ended_at_ms
                        assert len(run.requests) == 2


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"drain_ms": -1}, r"drain_ms must be at least 0, got -1"),
        ({"limit_ms": 0.5}, r"limit_ms must be a whole number, got 0\.5"),
        ({"without": ["phase 9"]}, r"without must be one of 'handler', .*, got 'phase 9'"),
    ],
)
def test_errors_name_the_value(change, word):
    with pytest.raises(ValueError, match=word):
        simulate_shutdown(**change)
    if sys.platform != "win32":
        with pytest.raises(ValueError, match=word):
            run_shutdown(**change)


def test_a_drain_window_shorter_than_the_poll_loses_requests():
    failed = {drain: simulate_balancer(drain, 200).failed for drain in (0, 50, 100, 200, 300)}
    assert failed[0] > failed[50] > failed[100] > 0
    assert failed[200] == failed[300] == 0
    for poll in (10, 100, 500, 1000):
        for moment in (1, poll // 2, poll):
            assert simulate_balancer(poll, poll, after_poll_ms=moment).failed == 0
    assert simulate_balancer(500, 200, polls=3).failed > 0
    assert simulate_balancer(600, 200, polls=3).failed == 0
    many = simulate_balancer(0, 200, replicas=4, stopped=3)
    assert {e.actor for e in many.log if e.event == "request failed"} == {
        *("replica 1", "replica 2", "replica 3")
    }


@posix
def test_the_real_balancer_agrees():
    short, long = run_balancer(0, 200), run_balancer(500, 200)
    assert short.failed >= 4
    assert long.failed == 0
    assert abs(short.failed - simulate_balancer(0, 200, replicas=2, per_second=100).failed) <= 5
    assert [e.event for e in long.log] == ["SIGTERM sent", "off the list", "no new connections"]


def test_the_record_is_of_the_same_experiments():
    runs = recorded_shutdowns()
    assert runs.pop("published").order == published["events"]
    assert list(runs) == list(CASES)
    model = ablation_table(run_ablation(run=modelled))
    table = ablation_table(runs)
    for column in ("slow request", "exit code", "ended by"):
        assert list(model[column]) == list(table[column]), column
    assert table["lost of 8"]["all parts"] == 0


def test_without_signals_everything_can_be_imported_and_says_so():
    code = """if True:
        import importlib, pkgutil, signal, sys
        del signal.SIGKILL
        sys.modules["fcntl"] = None
        import lessons_lib.processes as room
        for module in pkgutil.iter_modules(room.__path__):
            importlib.import_module("lessons_lib.processes." + module.name)
        from lessons_lib.processes.recorded import recorded_shutdowns, run_shutdown, signals_here
        print(signals_here(), len(recorded_shutdowns()))
        run_shutdown()
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "False 11\n"
    assert "ValueError: this system has no signal that asks a process to stop" in run.stderr


def test_nothing_is_left():
    assert psutil.Process().children(recursive=True) == []
