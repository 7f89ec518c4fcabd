"""Real consumer processes that really die: the same events as the model, in the same order."""

import contextlib
import multiprocessing
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lessons_lib.processes.child import ChildError
from lessons_lib.queues import notifications, real_run
from lessons_lib.queues.counters import run_consumer
from lessons_lib.queues.deaths import WAYS, ways_here
from lessons_lib.queues.outcome import FIGURES
from lessons_lib.queues.real_run import run_real_consumer
from lessons_lib.queues.workload import Workload

PUBLISHED = {"caught error": (12, 14, 12, 2, 0, 3), "delivery": (3, 7, 2, 4, 1, 0)}


def story(run):
    return [(event.actor, event.event, event.message, event.attempt) for event in run.log]


def check(death, watchdog_ms=150):
    """Run both counter positions once; each must tell the model's very story."""
    for count_on, figures in PUBLISHED.items():
        run = run_real_consumer(count_on=count_on, death=death, watchdog_ms=watchdog_ms)
        assert run.figures == figures, f"{death}, counted on {count_on}"
        assert story(run) == story(run_consumer(count_on=count_on))


@pytest.mark.parametrize("death", WAYS)
def test_every_way_of_dying_gives_the_published_table(death):
    if death not in ways_here():
        pytest.skip(f"this system has no death by {death!r}")
    check(death)


@contextlib.contextmanager
def busy_machine():
    """Keep every processor busy for the length of a block."""
    context = multiprocessing.get_context("spawn")
    burners = [context.Process(target=burn, daemon=True) for _ in range(os.cpu_count() or 2)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


def burn():
    while True:
        pass


@pytest.mark.slow
def test_twenty_times_with_the_machine_loaded():
    # Four at once, beside one busy loop for each processor. ALL_DEATHS=1: twenty of each way.
    each = 20 if "ALL_DEATHS" in os.environ else 4
    deaths = [death for _ in range(each) for death in ways_here()]
    with busy_machine(), ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda death: check(death, watchdog_ms=400), deaths):
            pass


@pytest.mark.parametrize(
    "settings",
    [
        {"deadly": (), "failing": {3}},
        {"deadly": (), "failing": {3}, "count_on": "caught error"},
        {"prefetch": 10},
        {"prefetch": 2, "max_starts": 2},
        {"threshold": 1, "convention": "RabbitMQ", "prefetch": 10},
        {"threshold": 2, "convention": "RabbitMQ", "failing": {2}, "count_on": "caught error"},
        {"threshold": 2, "convention": "exceeds"},
        {"threshold": 2, "convention": "exceeds", "prefetch": 3, "failing": {1}, "deadly": {5}},
        {"deadly": {2}, "malformed": {4}},
        {"deadly": {2}, "malformed": {4}, "validate": True, "prefetch": 2},
        {"messages": 0, "deadly": ()},
        {"threshold": 1},
    ],
    ids=str,
)
def test_any_setting_tells_the_models_story(settings):
    assert story(run_real_consumer(**settings)) == story(run_consumer(**settings))


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_the_processes_really_died_of_it(monkeypatch):
    codes = {}

    class Watched(real_run.Child):
        def wait(self):
            codes.setdefault(death, []).append(super().wait())
            return codes[death][-1]

    monkeypatch.setattr(real_run, "Child", Watched)
    for death in ways_here():
        run_real_consumer(1, {1}, 2, death=death, watchdog_ms=150)
    expected = {
        "exit": [3, 0],
        "SIGKILL": [-9, 0],
        "SIGSEGV": [-11, 0],
        "memory limit": [-11, 0],
        "endless loop": [1, 0],
    }
    assert codes == {death: expected[death] for death in ways_here()}


def test_real_time_is_on_the_events():
    run = run_real_consumer(2, (), work_ms=40)
    delivered, done = (
        [event.at_ms for event in run.log if event.event == name]
        for name in ("delivered", "acknowledged")
    )
    assert run.log[0].at_ms == 0
    assert all(end - begin >= 40 for begin, end in zip(delivered, done, strict=True))
    assert list(run.events.columns) == ["at_ms", "actor", "event", "message", "attempt"]
    assert run.frames[-1].where("processed") == (1, 2)
    assert tuple(getattr(run, name) for name in FIGURES) == (1, 2, 0, 2, 0, 0)


def test_a_run_is_stopped_when_its_time_is_up():
    began = time.monotonic()
    run = run_real_consumer(death="endless loop", watchdog_ms=60_000, max_seconds=0.8)
    assert time.monotonic() - began < 10
    assert run.ended == "stopped after 0.8 s"
    assert run.processed + run.dead_lettered + run.left == 5
    assert run.ids("waiting") == (3, 4, 5)


def test_progress_is_told_only_when_it_takes_longer_than_a_second():
    told = []
    run_real_consumer(progress=told.append, messages=1, deadly=())
    assert told == []
    run_real_consumer(progress=told.append, messages=1, deadly=(), work_ms=1500)
    assert told[0].startswith("consumer 1 of at most 12 is running, 1.")
    assert told[-1] == ""


def test_a_consumer_that_fails_by_itself_is_not_a_death(monkeypatch):
    monkeypatch.setattr(real_run, "body_of", lambda *_: '{"shipment": 1, "late_minutes": 1}')
    monkeypatch.setenv("PYTHONPATH", "/nonexistent")
    monkeypatch.setattr(real_run, "HIDDEN_MS", 0)  # refused by the consumer's queue
    with pytest.raises(ChildError, match=r"failed by itself, code 70[\s\S]*visibility_timeout_ms"):
        run_real_consumer()


def test_a_death_this_system_does_not_know(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert ways_here() == ("exit", "endless loop")
    with pytest.raises(ValueError, match="death must be one of 'exit', 'endless loop', got"):
        run_real_consumer(death="SIGKILL")


def test_validation_looks_at_form_only():
    load = Workload(4, deadly={1}, failing={2}, malformed={3})
    fine = [notifications.is_well_formed(notifications.body_of(m, load, "exit")) for m in load.ids]
    assert fine == [True, True, False, True]
    for body in ("", "[]", "3", '{"shipment": "1", "late_minutes": 2}', "{}", "nul"):
        assert not notifications.is_well_formed(body)
