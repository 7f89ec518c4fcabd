"""Waiting against the visibility timeout: smallest inputs, laws, and three worlds that agree."""

import os
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons_lib.processes.child import ChildError
from lessons_lib.queues.clocks import VirtualClock
from lessons_lib.queues.holding import WAYS_TO_WAIT
from lessons_lib.queues.memory_queue import MemoryQueue
from lessons_lib.queues.queue_errors import ReceiptRefused
from lessons_lib.queues.real_visibility import run_real_visibility
from lessons_lib.queues.sqlite_queue import Queue
from lessons_lib.queues.visibility import compare_ways, run_visibility

QUEUES = ("memory", "sqlite")
HOUR = 3_600_000


def moments(run, event):
    return [(e.at_ms, e.message, e.attempt) for e in run.log if e.event == event]


# The public faults, with the smallest input (SAM#1424, ecs-watchbot#203, kombu#337, celery#2599).


@pytest.mark.parametrize("queue", QUEUES)
def test_work_of_45_against_a_timeout_of_30_runs_twice_from_30_to_45(queue):
    run = run_visibility("hold", visibility_ms=30, work_ms=45, failing=0, attempts=2, queue=queue)
    assert moments(run, "delivered")[:2] == [(0, 1, 1), (30, 1, 2)]
    first, second = run.works
    assert (first.start_ms, first.end_ms, second.start_ms, second.end_ms) == (0, 45, 30, 75)
    assert first.consumer != second.consumer
    assert run.parallel_runs == 2
    assert [(d.start_ms, d.end_ms) for d in run.doubled] == [(30, 45), (30, 75)]
    assert run.doubled_ms == 45, "one whole try too many"
    assert (run.processed, run.dead_lettered, run.done_again) == (0, 1, 1)


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("way", ["hold", "release"])
def test_ten_prefetched_messages_of_5_outlast_a_timeout_of_30(way, queue):
    run = run_visibility(
        way, visibility_ms=30, work_ms=5, failing=0, prefetch=10, messages=10, consumers=1,
        queue=queue,
    )  # fmt: skip
    begun = {m: at for at, m, attempt in moments(run, "began") if attempt == 1}
    assert [m for m, at in begun.items() if at >= 30] == [7, 8, 9, 10]
    assert moments(run, "refused") == [(t, m, 1) for t, m in zip(range(30, 51, 5), range(6, 11), strict=True)]  # fmt: skip
    assert run.done_again == run.duplicates == 5, "6 was done on the very millisecond"
    assert run.processed == 10


@pytest.mark.parametrize("queue", QUEUES)
def test_an_eta_of_two_hours_held_under_a_timeout_of_one(queue):
    late = {"visibility_ms": HOUR, "eta_ms": 2 * HOUR, "work_ms": 1, "failing": 0, "queue": queue}
    held = run_visibility("hold", **late)
    assert moments(held, "delivered")[:2] == [(0, 1, 1), (HOUR, 1, 2)]
    assert held.done_again >= 1
    released = run_visibility("release", **late)
    assert moments(released, "delivered") == [(0, 1, 1), (2 * HOUR, 1, 2)]
    assert (released.duplicates, released.done_again, released.completed_ms) == (0, 0, 2 * HOUR + 1)
    assert released.delays == ((1, 0, 2 * HOUR),)
    extended = run_visibility("extend", **late)
    assert (extended.deliveries, extended.done_again) == (1, 0)


def test_the_very_millisecond():
    for visibility, duplicates in ((35, 1), (36, 0)):
        run = run_visibility("hold", visibility_ms=visibility, work_ms=5, wait_ms=25, consumers=1)
        assert run.duplicates == duplicates, "fails at 5, waits to 30, done at 35"
    for beat, deliveries in ((29, 1), (30, 3)):  # the third is dead-lettered
        run = run_visibility(
            "extend", visibility_ms=30, work_ms=31, failing=0, beat_ms=beat, attempts=2
        )
        assert run.deliveries == deliveries


def test_a_refused_heartbeat_ends_the_work():
    run = run_visibility("extend", visibility_ms=30, work_ms=45, failing=0, beat_ms=30, attempts=2)
    assert moments(run, "stopped") == [(30, 1, 1), (60, 1, 2)]
    assert run.parallel_runs == run.done_again == 0
    assert run.dead_lettered == 1


def test_the_lesson_s_experiment():
    runs = compare_ways(messages=6)
    figures = {way: tuple(run.figures.values()) for way, run in runs.items()}
    assert figures == {
        "hold": (7, 1, 2, 1, 1, 10_000, 25_000, 55_000),
        "release": (7, 0, 0, 0, 0, 0, 0, 45_000),
        "extend": (6, 0, 0, 0, 0, 0, 25_000, 50_000),
    }
    assert list(runs["hold"].events.columns) == ["at_ms", "actor", "event", "message", "attempt"]
    assert runs["hold"].consumers == ("consumer 1", "consumer 2")
    assert runs["release"].delays == ((1, 10_000, 35_000),)


def test_nothing_sent_is_nothing_done():
    run = run_visibility(messages=0)
    assert set(run.figures.values()) == {0}
    assert run.ended_ms == 0


# Laws.

small = st.fixed_dictionaries(
    {
        "visibility_ms": st.integers(1, 40),
        "work_ms": st.integers(1, 30),
        "wait_ms": st.integers(0, 40),
        "failing": st.integers(0, 4),
        "failures": st.integers(0, 3),
        "prefetch": st.integers(1, 4),
        "eta_ms": st.sampled_from([0, 0, 7, 60]),
        "attempts": st.integers(1, 5),
        "messages": st.integers(0, 4),
        "consumers": st.integers(1, 3),
    }
)
any_way = st.sampled_from(WAYS_TO_WAIT)


@given(way=any_way, given=small, beat_ms=st.integers(1, 50))
def test_no_message_is_lost_and_the_time_adds_up(way, given, beat_ms):
    run = run_visibility(way, beat_ms=beat_ms, **given)
    assert run.processed + run.dead_lettered == given["messages"]
    done = {m for _, m, _ in moments(run, "done")}
    assert {m for _, m, _ in moments(run, "acknowledged")} <= done
    assert run.done_again == len(moments(run, "done")) - len(done) >= 0
    assert len(run.holds) == run.deliveries, "every delivery has an end"
    assert 0 <= run.doubled_ms <= run.working_ms
    assert run.waiting_ms >= 0
    assert (run.doubled_ms > 0) == bool(run.doubled)
    assert run.completed_ms <= run.ended_ms
    for consumer in run.consumers:  # nobody does two things at once
        mine = sorted((w.start_ms, w.end_ms) for w in run.works if w.consumer == consumer)
        assert all(a[1] <= b[0] for a, b in pairwise(mine))


@given(given=small)
def test_release_makes_no_duplicate_if_a_batch_is_done_in_time(given):
    given["visibility_ms"] = given["prefetch"] * given["work_ms"] + 1
    run = run_visibility("release", **given)
    assert run.duplicates == run.parallel_runs == run.done_again == run.doubled_ms == 0
    if not given["eta_ms"]:
        tries = min(given["failures"], given["attempts"]) * min(given["failing"], given["messages"])
        assert len(run.works) == run.processed + tries
    assert given["prefetch"] > 1 or run.waiting_ms == 0


@given(given=small)
def test_hold_makes_a_duplicate_exactly_if_it_holds_as_long_as_the_message_is_hidden(given):
    given |= {"prefetch": 1, "eta_ms": 0, "attempts": 5}
    tries = given["failures"] + 1
    held_ms = given["work_ms"]
    if given["failing"]:
        held_ms = tries * given["work_ms"] + given["failures"] * given["wait_ms"]
    run = run_visibility("hold", **given)
    clean = given["messages"] == 0 or held_ms < given["visibility_ms"]
    assert (run.duplicates == 0) == clean
    if clean:
        assert run.parallel_runs == run.done_again == run.refused == 0


@given(given=small, data=st.data())
def test_extend_in_time_makes_no_duplicate_however_long_it_takes(given, data):
    given["visibility_ms"] += 1
    beat_ms = data.draw(st.integers(1, given["visibility_ms"] - 1))
    run = run_visibility("extend", beat_ms=beat_ms, **given)
    assert run.duplicates == run.done_again == run.refused == run.doubled_ms == 0
    assert run.deliveries == given["messages"]


@given(way=any_way, given=small)
def test_one_consumer_is_never_at_the_same_work_twice_at_once(way, given):
    assert run_visibility(way, **(given | {"consumers": 1})).parallel_runs == 0


@settings(max_examples=40, deadline=None)
@given(way=any_way, given=small, beat_ms=st.integers(1, 50))
def test_simulation_and_queue_file_tell_the_same_story(way, given, beat_ms):
    told = [run_visibility(way, queue=q, beat_ms=beat_ms, **given).log for q in QUEUES]
    assert told[0] == told[1]


def test_both_queues_refuse_a_receipt_for_the_same_reasons(tmp_path):
    """Each way for a receipt to be over, on both queues."""

    def reason(queue, clock, ending):
        first = queue.receive_batch(1)[0]
        if ending == "given back":
            queue.release(first.receipt, 5)
        elif ending == "gone":
            queue.acknowledge(first.receipt)
        elif ending == "dead-lettered":
            queue.dead_letter(first.receipt)
        else:
            clock.advance(30)
            if ending == "delivered again":
                queue.receive_batch(1)
            elif ending == "expired, and noticed":
                other = queue.receive_batch(2)[0]
                clock.advance(30)
                queue.receive_batch(1)
                first = other
        with pytest.raises(ReceiptRefused) as refused:
            queue.acknowledge(first.receipt)
        return refused.value.reason

    endings = ("given back", "gone", "dead-lettered", "expired", "delivered again", "expired, and noticed")  # fmt: skip
    for number, ending in enumerate(endings):
        clock = VirtualClock()
        memory = MemoryQueue(clock, 30)
        memory.send_batch(2)
        theirs = VirtualClock()
        with Queue(tmp_path / f"{number}.queue", clock=theirs, visibility_timeout_ms=30) as file:
            file.send_batch(range(2))
            assert reason(memory, clock, ending) == reason(file, theirs, ending) != "unknown"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"way": "wait"}, "way must be one of 'hold', 'release', 'extend', got 'wait'"),
        ({"work_ms": 0}, "work_ms must be at least 1, got 0"),
        ({"wait_ms": -1}, "wait_ms must be at least 0, got -1"),
        ({"visibility_ms": 0}, "visibility_ms must be at least 1, got 0"),
        ({"consumers": 0}, "consumers must be at least 1, got 0"),
        ({"prefetch": 0}, "prefetch must be at least 1, got 0"),
        ({"attempts": 0}, "attempts must be at least 1, got 0"),
        ({"beat_ms": 0}, "beat_ms must be at least 1, got 0"),
        ({"queue": "redis"}, "queue must be one of 'memory', 'sqlite', got 'redis'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(settings, words):
    with pytest.raises(ValueError, match=words):
        run_visibility(**settings)


# Real processes.

REAL = {"visibility_ms": 800, "work_ms": 600, "wait_ms": 400}


@pytest.mark.parametrize("way", WAYS_TO_WAIT)
def test_real_processes_tell_the_simulated_story(way):
    real, simulated = run_real_visibility(way, **REAL), run_visibility(way, **REAL)

    def story(run):
        return [(e.event, e.attempt) for e in run.log if e.event != "extended"]

    counts = ("deliveries", "duplicates", "parallel_runs", "done_again", "refused")
    assert {n: real.figures[n] for n in counts} == {n: simulated.figures[n] for n in counts}
    assert story(real) == story(simulated)
    assert real.completed_ms >= simulated.completed_ms


def test_real_processes_are_ended_when_their_time_is_over():
    began = time.monotonic()
    with pytest.raises(ChildError, match="did not finish, its time was over"):
        run_real_visibility(work_ms=60_000, max_seconds=1.5)
    assert time.monotonic() - began < 8
    if os.path.isdir("/proc"):
        mine = [p for p in os.listdir("/proc") if p.isdigit()]
        commands = []
        for pid in mine:
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    commands.append(file.read())
            except OSError:
                continue
        assert not [c for c in commands if b"waiting_process" in c and b"60000" in c]


def test_a_real_run_has_no_eta():
    with pytest.raises(ValueError, match="eta_ms must be 0 with real processes, got 5"):
        run_real_visibility(eta_ms=5)
