"""Off by one: the delivered and worked-on counts of each convention, written down."""

import pytest

from lessons_lib.queues.conventions import CONVENTIONS, COUNT_ON, Rule
from lessons_lib.queues.counters import run_consumer

# (convention, counted on, threshold): (deliveries, times worked on) of a message that never succeeds
TABLE = {
    ("reaches", "delivery", 1): (1, 0),
    ("reaches", "delivery", 2): (2, 1),
    ("reaches", "delivery", 3): (3, 2),
    ("exceeds", "delivery", 1): (1, 1),
    ("exceeds", "delivery", 2): (2, 2),
    ("exceeds", "delivery", 3): (3, 3),
    ("RabbitMQ", "delivery", 1): (2, 2),
    ("RabbitMQ", "delivery", 2): (3, 3),
    ("RabbitMQ", "delivery", 3): (4, 4),
    ("reaches", "caught error", 1): (2, 1),
    ("reaches", "caught error", 2): (3, 2),
    ("reaches", "caught error", 3): (4, 3),
    ("exceeds", "caught error", 1): (2, 2),
    ("exceeds", "caught error", 2): (3, 3),
    ("exceeds", "caught error", 3): (4, 4),
    ("RabbitMQ", "caught error", 1): (2, 2),
    ("RabbitMQ", "caught error", 2): (3, 3),
    ("RabbitMQ", "caught error", 3): (4, 4),
}


@pytest.mark.parametrize("case", TABLE)
def test_delivered_counts(case):
    convention, count_on, threshold = case
    run = run_consumer(
        1, (), failing={1}, threshold=threshold, count_on=count_on, convention=convention
    )
    worked_on = sum(event.event == "failed" for event in run.log)
    assert (run.deliveries, worked_on) == TABLE[case]
    assert (run.dead_lettered, run.left) == (1, 0)
    rule = Rule(threshold, count_on, convention)
    assert (rule.times_delivered(), rule.times_worked_on()) == TABLE[case]


@pytest.mark.parametrize("case", [case for case in TABLE if case[1] == "delivery"])
def test_a_death_counts_like_an_error_when_deliveries_are_counted(case):
    convention, count_on, threshold = case
    run = run_consumer(1, {1}, threshold=threshold, count_on=count_on, convention=convention)
    assert (run.deliveries, run.deaths) == TABLE[case]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_death_never_counts_when_only_caught_errors_do(convention):
    run = run_consumer(1, {1}, 1, "caught error", 30, convention=convention)
    assert run.figures == (30, 30, 30, 0, 0, 1)
    assert run.counts == {1: 0}


def test_a_threshold_of_one_that_is_reached_isolates_everything_unworked():
    assert run_consumer(threshold=1).figures == (1, 5, 0, 0, 5, 0)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("count_on", COUNT_ON)
def test_threshold_zero_is_an_error_in_words(convention, count_on):
    with pytest.raises(ValueError, match="threshold must be at least 1, got 0"):
        run_consumer(threshold=0, convention=convention, count_on=count_on)


@pytest.mark.parametrize(
    ("convention", "moment"),
    [("reaches", "before work"), ("exceeds", "handing out"), ("RabbitMQ", "return")],
)
def test_a_count_that_jumps_past_the_threshold_is_still_isolated(convention, moment):
    rule = Rule(3, "delivery", convention)
    assert rule.isolates_at(moment, 9)
    others = {"before work", "handing out", "return"} - {moment}
    assert not any(rule.isolates_at(other, 9) for other in others)


def test_a_count_that_jumps_in_a_run():
    # 1 fails, goes back and is handed out again, count 2, while 2 waits in the buffer. Then 2
    # kills the process, and the next hand-out takes 1's count to 3, past its threshold of 2.
    run = run_consumer(2, {2}, 2, failing={1}, prefetch=2)
    assert run.counts == {1: 3, 2: 2}
    assert run.ids("dead-lettered") == (1, 2)


def test_first_delivery_is_not_yet_counted_by_rabbitmq():
    run = run_consumer(1, (), convention="RabbitMQ")
    assert run.counts == {1: 0}
    assert [event.attempt for event in run.log if event.event == "delivered"] == [1]
