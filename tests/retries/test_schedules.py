import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.retries.backlog import backlog_behind
from lessons_lib.retries.outage import ThroughOutage, through_outage
from lessons_lib.retries.schedules import LONGEST_WAIT_MS, Exponential, Fixed, Immediate
from lessons_lib.retries.time_budget import STOP_RULES, attempts_within

WAITS = st.integers(0, 10**6)
FACTORS = st.sampled_from([0, 0.25, 0.5, 1, 1.1, 1.5, 2, 3, 10])
SCHEDULES = st.one_of(
    st.just(Immediate()),
    st.builds(Fixed, WAITS),
    st.builds(Exponential, WAITS, FACTORS, st.one_of(st.none(), WAITS)),
)


@given(WAITS, FACTORS, st.one_of(st.none(), WAITS), st.integers(1, 40))
def test_a_wait_is_the_formula_in_exact_arithmetic(base, factor, cap, attempt):
    exact = base * Fraction(factor).limit_denominator(100) ** (attempt - 1)
    exact = min(exact, LONGEST_WAIT_MS if cap is None else cap)
    got = Exponential(base, factor, cap).wait(attempt)
    assert abs(got - exact) <= Fraction(1, 2) + exact / 10**12


@given(SCHEDULES, st.integers(1, 5000))
def test_no_wait_is_negative_endless_or_above_the_cap(schedule, attempt):
    wait = schedule.wait(attempt)
    assert isinstance(wait, int)
    assert 0 <= wait <= LONGEST_WAIT_MS
    if schedule.cap_ms is not None:
        assert wait <= schedule.cap_ms


@given(SCHEDULES, st.integers(1, 60))
def test_waits_lists_what_wait_says(schedule, attempts):
    waits = schedule.waits(attempts)
    assert waits.dtype == np.int64
    assert waits.tolist() == [schedule.wait(n) for n in range(1, attempts + 1)]


@given(SCHEDULES)
def test_a_schedule_is_settled_from_where_it_says_and_not_before(schedule):
    at = schedule.settles_at()
    assert {schedule.wait(at + more) for more in (0, 1, 2, 10, 1000)} == {schedule.wait(at)}
    assert at == 1 or schedule.wait(at - 1) != schedule.wait(at)


@pytest.mark.parametrize("cap", [30_000, None])
def test_attempt_2000_neither_overflows_nor_turns_negative(cap):
    assert Exponential(cap_ms=cap).wait(2000) == (LONGEST_WAIT_MS if cap is None else cap)


def test_a_cap_below_the_base_is_the_wait_and_a_cap_of_zero_is_no_wait():
    assert Exponential(100, 2, 50).waits(3).tolist() == [50, 50, 50]
    assert Exponential(100, 2, 0).waits(3).tolist() == [0, 0, 0]
    assert Exponential(0, 2, 50).waits(3).tolist() == [0, 0, 0]
    assert Exponential(1, 30, 30).wait(1) == 1  # the cap is no lower bound


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Fixed(-1), "wait_ms must be at least 0, got -1"),
        (lambda: Fixed("2000"), "wait_ms must be a number, got '2000'"),
        (lambda: Fixed(1.5), "wait_ms must be a whole number, got 1.5"),
        (lambda: Fixed(True), "wait_ms must be a number, got True"),
        (lambda: Exponential(base_ms=float("nan")), "base_ms must be a finite number, got nan"),
        (lambda: Exponential(factor=-2), "factor must be at least 0, got -2"),
        (lambda: Exponential(factor=math.inf), "factor must be a finite number, got inf"),
        (lambda: Exponential(cap_ms=-5), "cap_ms must be at least 0, got -5"),
        (lambda: Exponential().wait(0), "attempt must be at least 1, got 0"),
        (lambda: Immediate().wait("one"), "attempt must be a number, got 'one'"),
        (lambda: Immediate().waits(-1), "attempts must be at least 0, got -1"),
        (lambda: attempts_within(Immediate(), -1), "budget_ms must be at least 0, got -1"),
        (lambda: attempts_within(Immediate(), 1, rule="ends"), "rule must be one of"),
        (lambda: through_outage(Immediate(), None), "outage_ms must be a number, got None"),
    ],
)
def test_bad_input_is_one_clear_sentence(make, named):
    with pytest.raises((TypeError, ValueError), match=named):
        make()


@given(SCHEDULES, st.integers(0, 10**6), st.sampled_from(STOP_RULES), st.integers(0, 3000))
def test_attempts_within_agrees_with_counting_them_one_by_one(schedule, budget, rule, work):
    within = attempts_within(schedule, budget, rule=rule, work_ms=work)
    late = {
        "start at or before": lambda start: start > budget,
        "start before": lambda start: start >= budget,
        "finish by": lambda start: start + work > budget,
    }[rule]
    start = fit = last = 0
    while fit < 3000:
        start += work + schedule.wait(fit + 1)
        if late(start):
            break
        fit, last = fit + 1, start
    if fit < 3000:
        assert (within.attempts, within.elapsed_ms) == (fit, last)
    else:
        assert within.attempts is None or within.attempts >= 3000


def test_the_count_in_a_time_budget_for_three_rules_and_two_lengths_of_work():
    # calls, the first one included: start at or before / start before / finish by
    table = {
        (60_000, 0): [(61, 60, 61), (6, 6, 6), (6, 6, 6)],
        (60_000, 2000): [(21, 20, 20), (6, 6, 6), (6, 6, 6)],
        (300_000, 0): [(301, 300, 301), (9, 9, 9), (14, 14, 14)],
        (900_000, 2000): [(301, 300, 300), (10, 10, 10), (32, 32, 32)],
    }
    schedules = [Fixed(1000), Exponential(1000), Exponential(1000, cap_ms=30_000)]
    for (budget, work), rows in table.items():
        for schedule, row in zip(schedules, rows, strict=True):
            calls = tuple(
                attempts_within(schedule, budget, rule=rule, work_ms=work).attempts + 1
                for rule in ("start at or before", "start before", "finish by")
            )
            assert calls == row, (budget, work, schedule)


def test_unlimited_attempts_end_where_work_takes_time():
    assert attempts_within(Immediate(), 60_000).attempts is None
    assert attempts_within(Immediate(), 60_000, work_ms=2000).attempts == 30
    assert attempts_within(Exponential(factor=0.5), 10**9).attempts is None  # the waits shrink to 0
    assert attempts_within(Immediate(), 0, rule="start before").attempts == 0


@given(SCHEDULES, st.integers(0, 10**6), st.integers(0, 500))
def test_the_attempt_after_an_outage_is_the_first_one_late_enough(schedule, outage, work):
    result = through_outage(schedule, outage, work_ms=work)
    if result.wasted is None:
        assert result.late_ms == 0
        return
    assert result.late_ms > 0
    step = work + schedule.wait(result.wasted + 1)
    assert result.success_ms - step <= outage


def test_fixed_two_seconds_against_three_outages():
    assert through_outage(Fixed(2000), 1000).success_ms == 2000
    assert [through_outage(Fixed(2000), d).wasted for d in (60_000, 300_000)] == [30, 150]


def queue_by_hand(success, arrival, work, until, every):
    """Serve the messages one by one, first come first served."""
    arrivals = [arrival * k for k in range(1, until // arrival + 2)]
    done, free = [], success + work
    for at in arrivals:
        free = max(free, at) + work
        done.append(free)
    samples = range(0, until + 1, every)
    return [sum(a <= t for a in arrivals) - sum(d <= t for d in done) for t in samples]


@given(st.integers(0, 5000), st.integers(30, 600), st.integers(20, 700), st.integers(50, 300))
def test_the_backlog_agrees_with_serving_message_by_message(success, arrival, work, every):
    result = backlog_behind(
        ThroughOutage(0, 0, success),
        arrival_ms=arrival,
        work_ms=work,
        until_ms=8000,
        every_ms=every,
    )
    by_hand = queue_by_hand(success, arrival, work, 8000, every)
    ahead = np.abs(result.waiting - np.array(by_hand))
    assert ahead.max() <= 1  # after the queue has emptied the message in work is not waiting
    if result.empty_at_ms is not None and result.empty_at_ms <= 8000:
        assert result.peak >= max(by_hand) - 1
    assert (work >= arrival) == (result.empty_at_ms is None)
