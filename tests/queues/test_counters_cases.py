"""Prefetch, validation, known faults and bad arguments of the model consumer."""

import numpy as np
import pytest

from lessons_lib.queues.counters import run_consumer
from lessons_lib.queues.replay import replay


def test_prefetch_counts_what_was_only_held():
    run = run_consumer(prefetch=10)
    assert run.figures == (3, 7, 2, 2, 3, 0)
    assert run.handed_out == 11  # 5 + 3 + 3
    assert run.innocents == (4, 5)
    assert run.counts == {1: 1, 2: 1, 3: 3, 4: 3, 5: 3}


@pytest.mark.parametrize(("prefetch", "innocents"), [(1, ()), (2, (4,)), (3, (4, 5))])
def test_innocents_by_prefetch(prefetch, innocents):
    assert run_consumer(prefetch=prefetch).innocents == innocents


def test_prefetch_tops_up_after_each_message():
    run = run_consumer(4, (), prefetch=2)
    order = [(e.event, e.message) for e in run.log if e.event in ("handed out", "delivered")]
    out, taken = "handed out", "delivered"
    assert order == [
        *((out, 1), (out, 2), (taken, 1), (out, 3), (taken, 2)),
        *((out, 4), (taken, 3), (taken, 4)),
    ]


def test_prefetch_and_errors_only():
    run = run_consumer(count_on="caught error", prefetch=10)
    assert run.figures == (12, 14, 12, 2, 0, 3)
    assert run.handed_out == 5 + 11 * 3


def test_validation_stops_the_malformed_and_only_them():
    without = run_consumer(deadly={2}, malformed={4})
    assert without.figures == (5, 9, 4, 3, 2, 0)
    checked = run_consumer(deadly={2}, malformed={4}, validate=True)
    assert checked.figures == (3, 7, 2, 3, 2, 0)
    only_malformed = run_consumer(deadly=(), malformed={3}, validate=True, count_on="caught error")
    assert only_malformed.figures == (1, 5, 0, 4, 1, 0)
    assert run_consumer(validate=True).deaths == 2  # its form is right, so it passes


def test_oban_137_max_attempts_one_and_a_crash_is_one_delivery():
    assert run_consumer(1, {1}, 1, convention="exceeds").figures == (2, 1, 1, 0, 1, 0)


def test_bullmq_4220_two_deaths_with_one_allowed_fail_on_the_second():
    run = run_consumer(1, {1}, 1, convention="RabbitMQ")
    kinds = [event.event for event in run.log]
    assert run.deaths == 2
    assert kinds.index("dead-lettered") > len(kinds) - 4


def test_celery_1628_uncounted_deaths_go_on_until_the_guard():
    assert run_consumer(1, {1}, 3, "caught error", 500).figures == (500, 500, 500, 0, 0, 1)


def test_newchat_346_without_a_delay_the_limit_is_burnt_at_once():
    run = run_consumer(1, (), 5, failing={1}, work_ms=100)
    assert [e.at_ms for e in run.log if e.event == "dead-lettered"] == [400]


def test_virtual_time_is_made_of_work_and_restarts():
    run = run_consumer(work_ms=7, restart_ms=30)
    assert run.events.at_ms.iloc[-1] == 6 * 7 + 2 * 30
    assert run_consumer(work_ms=0, restart_ms=0).events.at_ms.max() == 0


def test_an_empty_queue_is_one_start():
    assert run_consumer(0, ()).figures == (1, 0, 0, 0, 0, 0)


def test_numbers_of_numpy_are_numbers():
    run = run_consumer(np.int64(5), {np.int64(3)}, np.int64(3))
    assert run.figures == (3, 7, 2, 4, 1, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"deadly": {9}}, "deadly names message 9, but the messages are 1 to 5"),
        ({"deadly": {0}}, "deadly names message 0"),
        ({"deadly": {3}, "failing": {3}}, "message 3 is named by both deadly and failing"),
        ({"max_starts": 0}, "max_starts must be at least 1, got 0"),
        ({"prefetch": 0}, "prefetch must be at least 1, got 0"),
        ({"messages": -1}, "messages must be at least 0, got -1"),
        ({"messages": 2.5, "deadly": ()}, "messages must be a whole number, got 2.5"),
        ({"count_on": "error"}, "count_on must be one of 'delivery', 'caught error', got 'error'"),
        ({"convention": "SQS"}, "convention must be one of 'reaches', 'exceeds', 'RabbitMQ'"),
        ({"work_ms": -1}, "work_ms must be at least 0, got -1"),
    ],
)
def test_bad_arguments_are_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        run_consumer(**arguments)


@pytest.mark.parametrize("deadly", [3, "3", {"3"}, {None}])
def test_a_set_must_be_a_set_of_numbers(deadly):
    with pytest.raises(TypeError, match="deadly"):
        run_consumer(deadly=deadly)


def test_frames_tell_the_story():
    run = run_consumer()
    first, *_, last = run.frames
    assert len(run.frames) == len(run.log) + 1
    assert str(first) == "0 ms: 5 messages wait"
    assert str(last) == "1000 ms: nothing waits: process 3 ends in peace"
    deaths = [frame for frame in run.frames if frame.event and frame.event.event == "died"]
    assert [(str(frame), frame.alive, frame.where("in work")) for frame in deaths] == [
        ("300 ms: message 3 kills the process", False, (3,)),
        ("600 ms: message 3 kills the process", False, (3,)),
    ]
    assert last.where("dead-lettered") == (3,)
    assert last.states == run.states
    assert last.counts == run.counts


def test_replay_refuses_a_message_that_does_not_exist():
    with pytest.raises(ValueError, match="names message 3, of 2 messages"):
        replay(run_consumer().log, 2)


def test_the_result_shows_its_six_figures():
    assert repr(run_consumer()) == (
        "RunResult(starts=3, deliveries=7, deaths=2, processed=4, dead_lettered=1, left=0)"
    )
