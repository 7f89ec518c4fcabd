"""Retry budgets made of tokens: laws, published loads, and their variants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.retries.quotas import RetryQuota, Throttle, concurrent_retries
from lessons_lib.retries.token_run import run_with_budget
from lessons_lib.retries.tokens import TokenBucket


@pytest.mark.parametrize(
    ("failure_rate", "deposit", "load"),
    [
        (1.0, "at start", 1.104),
        (1.0, "on success", 1.005),
        (0.5, "at start", 1.104),
        (0.5, "on success", 1.057),
    ],
)
def test_deposit_at_start_against_on_success(failure_rate, deposit, load):
    bucket = TokenBucket(ratio=0.1, cap=5, deposit=deposit)
    run = run_with_budget(
        bucket, np.random.default_rng(1), failure_rate=failure_rate, clients=100, calls=1000
    )
    # At rate 1 nothing is random. At 0.5 the load's standard error is below 0.0002.
    assert run.load == pytest.approx(load, abs=1e-9 if failure_rate == 1 else 0.001)


@pytest.mark.parametrize(
    ("failure_rate", "success", "load"),
    [(0.05, 0.9994, 1.052), (0.09, 0.952, 1.046), (0.1, 0.920, 1.021), (0.2, 0.80, 1.000)],
)
def test_grpc_throttle_is_a_trigger_on_the_failure_rate(failure_rate, success, load):
    run = run_with_budget(
        Throttle(max_tokens=10, ratio=0.1),
        np.random.default_rng(2),
        failure_rate=failure_rate,
        clients=1,
        calls=100_000,
    )
    # The throttle opens and shuts for long stretches, so successes are far from independent:
    # over seeds the standard deviation is 0.005 near the trigger. Two runs: 4 · √2 · 0.005.
    assert run.success == pytest.approx(success, abs=0.028)
    assert run.load == pytest.approx(load, abs=0.028)


@pytest.mark.parametrize(
    ("failure_rate", "success", "load"), [(0.3, 0.973, 1.389), (0.5, 0.601, 1.204), (1.0, 0, 1.001)]
)
def test_botocore_quota(failure_rate, success, load):
    run = run_with_budget(
        RetryQuota(capacity=500, cost=5, refill=1),
        np.random.default_rng(3),
        failure_rate=failure_rate,
        clients=1,
        calls=100_000,
        attempts=3,
    )
    # Standard errors: √(0.6 · 0.4 / 100 000) = 0.0016 for success; load a little more.
    assert run.success == pytest.approx(success, abs=4 * 2**0.5 * 0.0016)
    assert run.load == pytest.approx(load, abs=4 * 2**0.5 * 0.0025)


def test_one_shared_bucket_bounds_the_fleet_and_one_each_bounds_the_clients():
    def extra(shared):
        run = run_with_budget(
            TokenBucket(ratio=0.1, cap=50),
            np.random.default_rng(4),
            failure_rate=1,
            clients=20,
            calls=100,
            shared=shared,
        )
        return run.requests - run.calls

    assert extra(shared=True) <= 50 + 0.1 * 20 * 100
    assert 50 * 20 < extra(shared=False) <= (50 + 0.1 * 100) * 20


def test_ten_deposits_of_a_tenth_are_exactly_one_token():
    bucket = TokenBucket(ratio=0.1, cap=5, start=0)
    bucket.started(0, calls=9)
    assert not bucket.may_retry(0)
    bucket.started(0)
    assert bucket.balance(0) == 1
    assert bucket.may_retry(0)
    assert bucket.balance(0) == 0


def test_tokens_expire_the_oldest_first():
    bucket = TokenBucket(ratio=1, cap=10, start=0, expiry_ms=100)
    bucket.started(0)
    bucket.started(50)
    assert bucket.balance(99) == 2
    assert bucket.balance(100) == 1
    assert bucket.may_retry(149)  # takes the token of 50 ms
    assert bucket.balance(150) == 0


def test_a_minimum_per_second_flows_in_by_the_clock():
    bucket = TokenBucket(ratio=0, cap=100, start=0, min_per_second=10, expiry_ms=10_000)
    assert bucket.balance(99) == pytest.approx(0.99)
    assert bucket.balance(1000) == 10
    assert TokenBucket(min_per_second=10, start=0, cap=3).balance(60_000) == 3


def test_a_fresh_bucket_is_unused_and_has_the_same_settings():
    used = TokenBucket(ratio=0.5, cap=2, cost=2, deposit="on success")
    assert used.may_retry(5)
    assert used.fresh().balance(0) == 2
    used.fresh().started(0)
    assert used.balance(5) == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cost": 0}, "cost must be more than 0"),
        ({"ratio": -1}, "ratio must be at least 0, got -1"),
        ({"cap": 5, "start": 6}, "start must be at most the cap of 5, got 6"),
        ({"deposit": "later"}, "got 'later'"),
        ({"expiry_ms": 0}, "expiry_ms must be at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, words):
    with pytest.raises(ValueError, match=words):
        TokenBucket(**settings)


def test_time_runs_forward():
    bucket = TokenBucket()
    bucket.started(10)
    with pytest.raises(ValueError, match="time runs forward"):
        bucket.started(9)


STEPS = st.lists(
    st.tuples(st.integers(0, 500), st.sampled_from(["start", "success", "fail", "retry"])),
    max_size=60,
)


@given(
    steps=STEPS,
    ratio=st.sampled_from([0, 0.1, 0.3, 1, 7]),
    cap=st.sampled_from([0, 1, 2.5, 10]),
    cost=st.sampled_from([0.5, 1, 3]),
    deposit=st.sampled_from(["at start", "on success"]),
    per_second=st.sampled_from([0, 1, 30]),
    expiry_ms=st.sampled_from([None, 1, 300]),
)
def test_law_tokens_stay_between_zero_and_the_cap_and_none_is_made(
    steps, ratio, cap, cost, deposit, per_second, expiry_ms
):
    bucket = TokenBucket(
        ratio=ratio, cap=cap, cost=cost, deposit=deposit,
        min_per_second=per_second, expiry_ms=expiry_ms,
    )  # fmt: skip
    now = retries = paying = 0
    for later, what in steps:
        now += later
        before = bucket.balance(now)
        assert 0 <= before <= cap
        if what == "start":
            bucket.started(now)
            paying += deposit == "at start"
        elif what == "success":
            bucket.succeeded(now)
            paying += deposit == "on success"
        elif what == "fail":
            bucket.failed(now)
        else:
            allowed = bucket.may_retry(now)
            assert allowed == (before >= cost)
            retries += allowed
        assert 0 <= bucket.balance(now) <= cap
    assert bucket.deposits == paying
    assert retries * cost <= cap + paying * ratio + now * per_second / 1000 + 1e-6


@given(steps=STEPS, budget=st.sampled_from([Throttle(max_tokens=3), RetryQuota(capacity=12)]))
def test_law_the_other_quotas_stay_between_zero_and_full(steps, budget):
    budget = budget.fresh()
    full = budget.balance()
    for _, what in steps:
        if what == "fail":
            budget.failed(0)
        elif what == "success":
            budget.succeeded(0, attempts=2)
        elif what == "retry":
            budget.may_retry(0)
        assert 0 <= budget.balance() <= full


@given(active=st.integers(0, 10_000), at_least=st.integers(0, 10))
def test_law_concurrent_retries_never_fall_below_the_minimum(active, at_least):
    allowed = concurrent_retries(active, share=0.2, at_least=at_least)
    assert allowed == max(at_least, active // 5)
