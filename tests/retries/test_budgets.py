"""The two budgets of one message, and its whole course."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.events import COLUMNS
from lessons_lib.retries.budgets import ASK_AFTER, Budget, DeadLetter, RetryAt
from lessons_lib.retries.course import course_of
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate
from lessons_lib.retries.time_budget import STOP_RULES, attempts_within

CAPPED = Exponential(500, 2, 30_000)


def test_attempts_count_the_first_and_retries_do_not():
    assert course_of(Fixed(10), Budget(attempts=3)).attempts == 3
    assert course_of(Fixed(10), Budget.of_retries(3)).attempts == 4
    assert Budget.of_retries(3) == Budget(attempts=4)


def test_five_minutes_hold_fourteen_capped_retries():
    course = course_of(CAPPED, Budget(time_ms=300_000))
    assert course.attempts == 15  # the first delivery and the published 14
    assert course.ended_ms == 271_500
    assert "301500" in course.because


def test_the_first_bound_reached_ends_it():
    course = course_of(CAPPED, Budget(attempts=3, time_ms=300_000))
    assert course.because == "attempt 3 of 3 failed"
    course = course_of(CAPPED, Budget(attempts=30, time_ms=1000))
    assert course.attempts == 2


def test_a_first_wait_longer_than_the_budget_is_said():
    verdict = Budget(time_ms=5000).verdict(attempt=1, now_ms=0, wait_ms=30_000)
    assert isinstance(verdict, DeadLetter)
    assert "first wait of 30000 ms" in verdict.because
    assert "5000 ms" in verdict.because


@pytest.mark.parametrize(
    ("rule", "starts"),
    [
        ("start before", 4),  # at 0, 1, 2 and 3 s
        ("start at or before", 5),  # and on the fourth second itself
        ("finish by", 4),
        (ASK_AFTER, 5),
    ],
)
def test_four_rules_at_the_same_limit(rule, starts):
    work_ms = 1 if rule == "finish by" else 0
    course = course_of(Fixed(1000 - work_ms), Budget(time_ms=4000, rule=rule), work_ms=work_ms)
    assert course.attempts == starts


def test_a_success_ends_the_course_without_a_reason():
    course = course_of(CAPPED, Budget(attempts=10), outage_ms=3000, work_ms=5)
    assert course.succeeded
    assert course.because is None
    assert course.steps[-1].at_ms >= 3000
    assert course.to_frame()["verdict"].iloc[-1] == "succeeded"


def test_a_row_of_jittered_waits_is_a_schedule_too():
    course = course_of(np.array([7, 11]), Budget(attempts=3))
    assert course.to_frame()["at_ms"].tolist() == [0, 7, 18]
    with pytest.raises(ValueError, match="only 2 waits"):
        course_of([7, 11], Budget(attempts=4))


def test_the_course_is_an_event_table():
    events = course_of(Fixed(100), Budget(attempts=2), work_ms=5).events(message=7)
    assert events.columns.tolist() == COLUMNS
    assert events["event"].tolist() == [
        "delivered",
        "failed",
        "delivered",
        "failed",
        "dead-lettered",
    ]
    assert events["at_ms"].tolist() == [0, 5, 105, 110, 110]
    assert set(events["message"]) == {7}


def test_a_message_that_nothing_stops_is_refused():
    with pytest.raises(ValueError, match="never stops"):
        course_of(Immediate(), Budget(time_ms=1000))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "needs attempts, time_ms or both"),
        ({"attempts": 0}, "attempts must be at least 1, got 0"),
        ({"time_ms": -1}, "time_ms must be at least 0, got -1"),
        ({"time_ms": 5, "rule": "sometimes"}, "got 'sometimes'"),
    ],
)
def test_bad_budgets_are_refused_in_words(settings, words):
    with pytest.raises(ValueError, match=words):
        Budget(**settings)


@given(
    rule=st.sampled_from(STOP_RULES),
    time_ms=st.integers(0, 10_000),
    wait_ms=st.integers(0, 12_000),
    first_ms=st.integers(0, 100),
    passed_ms=st.integers(0, 11_000),
    work_ms=st.integers(0, 3000),
    attempt=st.integers(1, 5),
)
def test_law_no_sleep_crosses_the_deadline(
    rule, time_ms, wait_ms, first_ms, passed_ms, work_ms, attempt
):
    verdict = Budget(time_ms=time_ms, rule=rule).verdict(
        attempt=attempt,
        now_ms=first_ms + passed_ms,
        wait_ms=wait_ms,
        first_ms=first_ms,
        work_ms=work_ms,
    )
    deadline = first_ms + time_ms
    retry = first_ms + passed_ms + wait_ms
    fits = {
        "start before": retry < deadline,
        "start at or before": retry <= deadline,
        "finish by": retry + work_ms <= deadline,
    }[rule]
    assert isinstance(verdict, RetryAt) == fits
    if fits:
        assert verdict.at_ms == retry
    else:
        assert verdict.because


@given(
    base=st.integers(1, 5000),
    cap=st.integers(1, 30_000),
    budget=st.integers(0, 100_000),
    work=st.integers(0, 2000),
    rule=st.sampled_from(STOP_RULES),
)
def test_law_the_course_agrees_with_the_count_of_attempts_within(base, cap, budget, work, rule):
    schedule = Exponential(base, 2, max(cap, budget // 5000 + 1))
    within = attempts_within(schedule, budget, rule=rule, work_ms=work)
    course = course_of(schedule, Budget(time_ms=budget, rule=rule), work_ms=work)
    assert course.attempts == within.attempts + 1
