"""Faults that real libraries had in public, each as the smallest input that must come out right.

A thread is cited as repository#number. The kind each fault belongs to is covered by a law
(hypothesis) at the end of its part, or in test_budgets, test_tokens and test_breaker.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.budgets import ASK_AFTER, Budget, RetryAt
from lessons_lib.retries.course import course_of
from lessons_lib.retries.jitter import (
    AddedJitter,
    DecorrelatedJitter,
    EqualJitter,
    FullJitter,
    NoJitter,
    ScaledJitter,
)
from lessons_lib.retries.quotas import RetryQuota, concurrent_retries
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate
from lessons_lib.retries.tokens import TokenBucket
from lessons_lib.retries.trip import FailureShare, InARow

CITED: list[str] = []


def fault(*threads):
    """Note which public threads a test stands for."""
    CITED.extend(threads)
    return lambda test: test


def rng():
    return np.random.default_rng(20250720)


# ---- schedules and jitter --------------------------------------------------------------------


@fault("hynek/stamina#137", "hynek/stamina#104", "jd/tenacity#526")
def test_attempt_2000_is_the_cap_and_no_overflow():
    assert Exponential(500, 2, 30_000).wait(2000) == 30_000


@fault("App-vNext/Polly#2163")
def test_attempt_2000_without_a_cap_is_finite_and_not_negative():
    assert 0 <= Exponential(500, 2).wait(2000) < 2**63


@fault("App-vNext/Polly#1866")
def test_an_overflow_does_not_forget_the_cap():
    for attempt in (62, 63, 64, 65, 1024, 1025, 5000):
        assert Exponential(1000, 2, 30_000).wait(attempt) == 30_000


@fault("scylladb/latte#208", "garethgeorge/backrest#618")
def test_attempt_64_does_not_wrap_round_to_zero():
    waits = Exponential(1, 2).waits(64)
    assert waits[-1] > 0
    assert (np.diff(waits) >= 0).all()


@fault("onosproject/onos-lib-go#127")
def test_attempt_41_is_not_negative():
    assert Exponential(1000, 2).wait(41) >= 0


@fault("boto/botocore#3178", "aws/aws-sdk-go-v2#3091")
def test_full_jitter_has_no_heap_of_draws_at_the_cap():
    # Attempt 10 of base 1 s, cap 20 s: the clamp after the draw gave 96 % exactly at the cap.
    waits = FullJitter().waits(Exponential(1000, 2, 20_000), 5000, 10, rng())[:, 9]
    assert np.mean(waits == 20_000) < 0.002
    assert waits.mean() == pytest.approx(10_000, abs=4 * 5774 / 5000**0.5)


@fault("LionSR/TeXRA#9107")
def test_half_of_all_draws_at_the_cap_is_the_sign_of_a_clamp():
    at_cap = Exponential(500, 2, 8000)
    assert np.mean(ScaledJitter(0.8, 1.2).waits(at_cap, 2000, 8, rng())[:, 7] == 8000) < 0.01


@fault("NousResearch/hermes-agent#40606", "openai/openai-agents-python#2676", "agenda/agenda#1748")
def test_no_wait_exceeds_the_cap():
    for jitter in (FullJitter(), EqualJitter(), DecorrelatedJitter(), NoJitter(), AddedJitter(900)):
        assert jitter.waits(Exponential(100, 2, 2000), 500, 12, rng()).max() <= 2000


@fault("TrueLayer/retry-policies#10")
def test_decorrelated_draws_at_the_cap_by_step():
    # 10.7 %, 36 % and 40 % of the draws sit exactly at the cap on steps 4, 8 and 12.
    waits = DecorrelatedJitter().waits(Exponential(100, 2, 2000), 20_000, 12, rng())
    for step, share in ((4, 0.107), (8, 0.36), (12, 0.40)):
        assert np.mean(waits[:, step - 1] == 2000) == pytest.approx(share, abs=0.015)


@fault("snowflakedb/snowflake-jdbc#2744", "redis/lettuce#2115")
def test_decorrelated_with_a_base_above_the_cap_waits_the_cap():
    waits = DecorrelatedJitter().waits(Exponential(100, 2, 50), 20, 5, rng())
    assert (waits == 50).all()
    assert (DecorrelatedJitter().waits(Immediate(), 20, 5, rng()) == 0).all()


@fault("google/dart-neats#46")
def test_the_first_wait_is_the_base_and_not_the_cap():
    assert Exponential(1, 2, 30).wait(1) == 1


@fault("heroiclabs/nakama-dotnet#105", "dapr/dapr#9788")
def test_a_hundred_clients_do_not_draw_the_same_numbers():
    waits = FullJitter().waits(Fixed(100_000), 100, 1, rng())
    assert len(np.unique(waits)) > 90


@fault("databricks/appkit#269", "JasperFx/wolverine#2504")
def test_full_jitter_begins_at_zero():
    waits = FullJitter().waits(Fixed(1000), 20_000, 1, rng())
    assert waits.min() <= 1
    assert waits.max() >= 999
    assert waits.max() <= 1000


@fault("grpc/grpc-java#12639")
def test_a_range_is_the_range_that_was_asked_for():
    waits = ScaledJitter(0.8, 1.2).waits(Fixed(10_000), 20_000, 1, rng())
    assert (waits.min(), waits.max()) == (
        pytest.approx(8000, abs=5),
        pytest.approx(12_000, abs=5),
    )


@fault("yoshuawuyts/exponential-backoff#36")
def test_jitter_that_was_asked_for_is_there():
    for jitter in (FullJitter(), EqualJitter(), DecorrelatedJitter(), ScaledJitter(0.9, 1.1)):
        assert jitter.waits(Fixed(1000), 50, 1, rng()).std() > 0


@fault("jd/tenacity#175", "smallrye/smallrye-mutiny#1447", "slok/goresilience#29")
def test_the_first_wait_is_not_twice_the_base():
    assert Exponential(500, 2).wait(1) == 500
    assert NoJitter().waits(Exponential(500, 2), 1, 2, rng()).tolist() == [[500, 1000]]


@fault("fleetdm/fleet#53357")
def test_at_the_cap_there_is_still_spread():
    # The fault itself: jitter added first and cut at the cap afterwards leaves none.
    at_cap = Exponential(60_000, 2, 300_000)
    assert AddedJitter(30_000).waits(at_cap, 200, 8, rng())[:, 7].std() == 0
    for jitter in (FullJitter(), EqualJitter(), DecorrelatedJitter()):
        assert jitter.waits(at_cap, 200, 8, rng())[:, 7].std() > 10_000


@given(
    base=st.integers(0, 10**6),
    factor=st.sampled_from([0.5, 1, 1.5, 2, 10]),
    cap=st.one_of(st.none(), st.integers(0, 10**6)),
    attempt=st.integers(1, 5000),
    jitter=st.sampled_from([NoJitter(), FullJitter(), EqualJitter(), DecorrelatedJitter()]),
)
def test_law_every_wait_is_finite_not_negative_and_under_the_cap(
    base, factor, cap, attempt, jitter
):
    schedule = Exponential(base, factor, cap)
    assert 0 <= schedule.wait(attempt) <= (2**53 if cap is None else cap)
    waits = jitter.waits(schedule, 3, min(attempt, 70), rng())
    assert (waits >= 0).all()
    assert (waits <= (2**53 if cap is None else cap)).all()


# ---- budgets ---------------------------------------------------------------------------------


@fault("twitter/finagle#956")
def test_a_call_deposits_once():
    bucket = TokenBucket(ratio=0.2, cap=200, start=100)
    for _ in range(5):
        bucket.started(0)
        bucket.succeeded(0)
    assert bucket.deposits == 5
    assert bucket.balance(0) == 101  # twice as many would make it 102


@fault("aws/aws-sdk-java-v2#5345")
def test_a_drained_budget_fills_up_again_on_success():
    for budget in (RetryQuota(capacity=10, cost=5), TokenBucket(cap=2, deposit="on success")):
        while budget.may_retry(0):
            pass
        for _ in range(10):
            budget.succeeded(0)
        assert budget.may_retry(0)


@fault("envoyproxy/envoy-mobile#811")
def test_the_last_active_call_may_still_retry():
    assert concurrent_retries(10, share=0.2, at_least=0) == 2
    assert concurrent_retries(1, share=0.2, at_least=0) == 0  # the base has shrunk
    assert concurrent_retries(1, share=0.2, at_least=3) == 3


@fault("jd/tenacity#423")
def test_a_limit_of_5_s_does_not_end_at_7_s():
    overrun = course_of(Fixed(2000), Budget(time_ms=5000, rule=ASK_AFTER), work_ms=1000)
    assert overrun.ended_ms == 7000
    kept = course_of(Fixed(2000), Budget(time_ms=5000, rule="finish by"), work_ms=1000)
    assert kept.ended_ms == 4000


@fault("litl/backoff#186")
def test_the_time_the_call_took_counts():
    # A call of 3 s, a budget of 5 s, a wait of 2.5 s: 5.5 s are too late.
    verdict = Budget(time_ms=5000).verdict(attempt=1, now_ms=3000, wait_ms=2500)
    assert "5500 ms" in verdict.because
    assert Budget(time_ms=5000).verdict(attempt=1, now_ms=3000, wait_ms=2000) == RetryAt(5000)


# ---- the circuit breaker, half-open ------------------------------------------------------------


def half_open(**settings):
    """Return a breaker that becomes half-open at 100."""
    breaker = Breaker(InARow(1), pause_ms=100, **settings)
    breaker.report(breaker.ask(0), 0, "failure")
    return breaker


@fault("resilience4j/resilience4j#935", "resilience4j/resilience4j#903")
def test_a_probe_that_never_returns_expires():
    breaker = half_open(probe_ms=50)
    assert breaker.ask(100) is not None
    assert breaker.ask(149) is None
    assert breaker.state(150) == "open"  # the silence counts as a failure
    assert breaker.ask(249) is None
    assert breaker.ask(250) is not None  # …and the pause ran from there: a new probe
    assert breaker.events()["at_ms"].tolist() == [0, 0, 100, 150, 250]


def test_a_silence_over_several_pauses_is_one_expiry():
    breaker = half_open(probe_ms=50)
    assert breaker.ask(100) is not None
    assert breaker.state(10_000) == "half-open"
    assert breaker.events()["at_ms"].tolist() == [0, 0, 100, 150, 250]


@fault("resilience4j/resilience4j#1432", "diegosouzapw/OmniRoute#13836", "nodeshift/opossum#119")
def test_of_twenty_simultaneous_calls_one_goes_through():
    breaker = half_open(permits=1)
    answers = [breaker.ask(100) for _ in range(20)]
    assert sum(ticket is not None for ticket in answers) == 1
    breaker.report(answers[0], 110, "failure")
    assert breaker.state(110) == "open"  # and it does open again


@fault("msoedov/agentic_security#328", "App-vNext/Polly#311", "Comcast/jrugged#21")
def test_a_failed_probe_opens_and_the_timer_starts_again():
    breaker = half_open()
    breaker.report(breaker.ask(100), 130, "failure")
    assert breaker.state(130) == "open"
    assert breaker.ask(229) is None
    assert breaker.ask(230) is not None


@fault("msoedov/agentic_security#328")
def test_one_failed_probe_among_successes_opens():
    breaker = half_open(permits=3)
    tickets = [breaker.ask(100) for _ in range(3)]
    breaker.report(tickets[0], 101, "success")
    breaker.report(tickets[1], 102, "failure")
    breaker.report(tickets[2], 103, "success")
    assert breaker.state(103) == "open"


@fault("auth0/disyuntor#6")
def test_after_a_good_probe_the_breaker_is_as_patient_as_before():
    breaker = Breaker(InARow(3), pause_ms=100)
    for _ in range(3):
        breaker.report(breaker.ask(0), 0, "failure")
    breaker.report(breaker.ask(100), 100, "success")
    for _ in range(2):
        breaker.report(breaker.ask(100), 100, "failure")
    assert breaker.state(100) == "closed"  # half-open for good would have opened at the first


@fault("smallrye/smallrye-fault-tolerance#320")
def test_an_excluded_error_is_excluded_in_half_open_too():
    breaker = half_open()
    breaker.report(breaker.ask(100), 110, "excluded")
    assert breaker.state(110) == "half-open"
    breaker.report(breaker.ask(110), 120, "success")
    assert breaker.state(120) == "closed"


def test_a_late_success_from_before_opening_is_ignored():
    breaker = Breaker(InARow(1), pause_ms=100)
    slow, failing = breaker.ask(0), breaker.ask(0)
    breaker.report(failing, 10, "failure")
    probe = breaker.ask(110)
    breaker.report(slow, 120, "success")  # begun before it opened: proves nothing
    assert breaker.state(120) == "half-open"
    breaker.report(probe, 130, "success")
    assert breaker.state(130) == "closed"


def test_a_late_failure_does_not_open_the_next_closed_period():
    breaker = Breaker(InARow(1), pause_ms=100)
    slow, failing = breaker.ask(0), breaker.ask(0)
    breaker.report(failing, 10, "failure")
    breaker.report(breaker.ask(110), 120, "success")
    breaker.report(slow, 130, "failure")
    assert breaker.state(130) == "closed"


@given(
    hangs=st.lists(st.booleans(), min_size=1, max_size=12),
    permits=st.integers(1, 3),
    trip=st.sampled_from([InARow(1), FailureShare(0.1, 1000, 1)]),
)
def test_law_a_breaker_never_stays_half_open_for_ever(hangs, permits, trip):
    breaker = Breaker(trip, pause_ms=100, permits=permits, probe_ms=50)
    breaker.report(breaker.ask(0), 0, "failure")
    now = 0
    for hung in hangs:
        now += 150  # long enough for any pause and any silence
        ticket = breaker.ask(now)
        if ticket and not hung:
            breaker.report(ticket, now, "success")
    asked = [breaker.ask(now + later) for later in range(0, 301, 10)]
    assert any(asked)  # within a pause and a silence somebody gets through again


def test_at_least_fifteen_public_threads_are_covered():
    assert len(set(CITED)) >= 15
