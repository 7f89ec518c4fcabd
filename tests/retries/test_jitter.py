import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons_lib.retries import theory
from lessons_lib.retries.bursts import burst_of_moments, retry_burst
from lessons_lib.retries.jitter import (
    AddedJitter,
    DecorrelatedJitter,
    EqualJitter,
    FullJitter,
    NoJitter,
    ScaledJitter,
)
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate
from lessons_lib.retries.stream import LessonStream

KINDS = [NoJitter(), FullJitter(), EqualJitter(), DecorrelatedJitter()]
KIND = st.sampled_from(KINDS)
SCHEDULE = st.one_of(
    st.just(Immediate()),
    st.builds(Fixed, st.integers(0, 5000)),
    st.builds(
        Exponential,
        st.integers(0, 2000),
        st.sampled_from([0.5, 1, 1.5, 2, 3]),
        st.one_of(st.none(), st.integers(0, 40_000)),
    ),
)


def rng(seed=1):
    return np.random.default_rng(seed)


@given(SCHEDULE, KIND, st.integers(1, 30), st.integers(1, 6), st.integers(0, 99))
def test_every_wait_lies_within_the_bounds_of_its_kind(schedule, kind, consumers, attempts, seed):
    waits = kind.waits(schedule, consumers, attempts, rng(seed))
    scheduled = schedule.waits(attempts)
    assert waits.shape == (consumers, attempts)
    assert waits.dtype == np.int64
    assert (waits >= 0).all()
    if schedule.cap_ms is not None:
        assert (waits <= schedule.cap_ms).all()
    if isinstance(kind, DecorrelatedJitter):
        previous = np.full(consumers, schedule.base_ms)
        for n in range(attempts):
            low = min(schedule.base_ms, schedule.cap_ms if schedule.cap_ms is not None else 2**60)
            assert (waits[:, n] >= low).all()
            assert (waits[:, n] <= np.maximum(3 * previous, low)).all()
            previous = waits[:, n]
    else:
        assert (waits <= scheduled).all()
        low = {NoJitter: 1.0, FullJitter: 0.0, EqualJitter: 0.5}[type(kind)]
        assert (waits >= np.floor(scheduled * low)).all()


@given(
    SCHEDULE, KIND, st.integers(1, 50), st.integers(1, 5), st.integers(1, 3000), st.integers(0, 9)
)
def test_the_total_never_changes_and_the_counts_add_up(s, kind, consumers, attempts, bucket, seed):
    burst = retry_burst(s, kind, consumers, attempts, rng(seed), bucket)
    assert burst.requests == burst.counts.sum() == consumers * attempts
    assert 1 <= burst.filled_buckets <= burst.last_bucket + 1
    assert burst.counts[burst.last_bucket] > 0
    assert burst.peak == burst.counts.max() == burst.counts[burst.peak_bucket]
    frame = burst.to_frame()
    assert frame["requests"].sum() == burst.requests
    assert (frame["from_ms"] == frame["bucket"] * bucket).all()


@given(KIND, st.integers(0, 10**6))
def test_the_same_seed_gives_the_same_burst(kind, seed):
    schedule = Exponential(cap_ms=30_000)
    one = retry_burst(schedule, kind, 20, 4, rng(seed))
    other = retry_burst(schedule, kind, 20, 4, rng(seed))
    assert np.array_equal(one.counts, other.counts)


def test_kinds_of_one_seed_do_not_depend_on_the_order_of_calls():
    schedule = Exponential(cap_ms=30_000)
    forward = [kind.waits(schedule, 30, 5, rng(3)).copy() for kind in KINDS]
    backward = [kind.waits(schedule, 30, 5, rng(3)).copy() for kind in reversed(KINDS)]
    for one, other in zip(forward, reversed(backward), strict=True):
        assert np.array_equal(one, other)


def test_the_counts_do_not_depend_on_the_chunks(monkeypatch):
    whole = retry_burst(Exponential(), DecorrelatedJitter(), 1000, 4, rng())
    monkeypatch.setattr("lessons_lib.retries.bursts.DRAWS_PER_CHUNK", 52)
    pieces = retry_burst(Exponential(), DecorrelatedJitter(), 1000, 4, rng())
    assert np.array_equal(whole.counts, pieces.counts)
    assert whole.mean_last_ms == pieces.mean_last_ms


def test_global_random_state_is_not_touched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    retry_burst(Exponential(), FullJitter(), 100, 4, rng())
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("kind", [FullJitter(), EqualJitter(), DecorrelatedJitter()])
@pytest.mark.parametrize("base_ms", [500, 333])
def test_mean_waits_agree_with_theory(kind, base_ms):
    schedule, fleet = Exponential(base_ms, cap_ms=5000), 40_000
    waits = kind.waits(schedule, fleet, 7, rng(11))
    for n in range(1, 8):
        sample = waits[:, n - 1]
        tolerance = 4.5 * sample.std() / fleet**0.5 + 0.01
        assert abs(sample.mean() - theory.mean_wait_ms(schedule, kind, n)) < tolerance


def test_decorrelated_means_without_a_cap_follow_the_closed_form():
    means = [theory.mean_wait_ms(Exponential(1000), DecorrelatedJitter(), n) for n in range(1, 9)]
    assert np.round(np.array(means) / 1000, 2).tolist() == [
        2,
        3.5,
        5.75,
        9.12,
        14.19,
        21.78,
        33.17,
        50.26,
    ]
    exact = theory.wait_distribution(Exponential(100), DecorrelatedJitter(), 4)
    assert exact @ np.arange(len(exact)) == pytest.approx(100 * (3 * 1.5**3 - 1))


@given(SCHEDULE, KIND, st.integers(1, 3))
def test_a_distribution_of_waits_is_one(schedule, kind, attempt):
    chance = theory.wait_distribution(schedule, kind, attempt)
    assert chance.sum() == pytest.approx(1)
    assert chance.min() >= -1e-12


@pytest.mark.parametrize("kind", [NoJitter(), FullJitter(), EqualJitter(), ScaledJitter(0.8, 1.2)])
@pytest.mark.parametrize("bucket_ms", [100, 37])
@pytest.mark.parametrize("base_ms", [500, 333])
def test_the_expected_profile_is_what_a_large_fleet_does(kind, bucket_ms, base_ms):
    schedule, fleet = Exponential(base_ms, cap_ms=3000), 200_000
    burst = retry_burst(schedule, kind, fleet, 5, rng(5), bucket_ms)
    expected = fleet * theory.expected_profile(schedule, kind, 5, bucket_ms)
    assert expected.sum() == pytest.approx(5 * fleet)
    counts = np.zeros(max(len(expected), len(burst.counts)))
    counts[: len(burst.counts)] = burst.counts
    expected = np.pad(expected, (0, len(counts) - len(expected)))
    z = (counts - expected) / np.sqrt(np.maximum(expected, 1))
    assert np.abs(z).max() < 5


def test_the_first_retry_of_decorrelated_jitter_has_a_profile_and_later_ones_say_why_not():
    profile = theory.expected_profile(Exponential(1000), DecorrelatedJitter(), attempts=1)
    assert profile[10:30] == pytest.approx(1 / 20, rel=0.01)
    with pytest.raises(ValueError, match="attempts=1 only, got 4"):
        theory.expected_profile(Exponential(1000), DecorrelatedJitter(), attempts=4)


def test_expected_first_retry_per_bucket_is_a_tenth_a_fifth_a_twentieth():
    schedule = Exponential(1000)
    for kind, share in ((FullJitter(), 10), (EqualJitter(), 5), (DecorrelatedJitter(), 20)):
        assert theory.expected_profile(schedule, kind, 1).max() == pytest.approx(
            1 / share, rel=0.01
        )


def test_jitter_added_before_the_cut_leaves_everybody_at_the_cap():
    schedule = Exponential(500, cap_ms=5000)
    waits = AddedJitter(1000).waits(schedule, 500, 6, rng())
    assert (waits[:, 4:] == 5000).all()
    assert (FullJitter().waits(schedule, 500, 6, rng())[:, 4:] == 5000).mean() < 0.01


def test_ten_million_consumers_go_through_the_same_function_in_little_memory():
    import tracemalloc

    schedule = Exponential(500, cap_ms=30_000)
    tracemalloc.start()
    burst = retry_burst(schedule, FullJitter(), 10_000_000, 1, rng())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert burst.requests == 10_000_000
    assert peak < 16 * 2**20


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"consumers": 0}, "consumers must be at least 1, got 0"),
        ({"consumers": "many"}, "consumers must be a number, got 'many'"),
        ({"attempts": 0}, "attempts must be at least 1, got 0"),
        ({"attempts": float("nan")}, "attempts must be a finite number, got nan"),
        ({"bucket_ms": 0}, "bucket_ms must be at least 1, got 0"),
        ({"bucket_ms": 0.5}, "bucket_ms must be a whole number, got 0.5"),
        ({"rng": 7}, r"rng must have a .random\(size\) method"),
        ({"attempts": 40}, "Set a cap, make fewer attempts or widen bucket_ms"),
    ],
)
def test_bad_input_is_one_clear_sentence(change, named):
    usual = {"consumers": 5, "attempts": 3, "rng": rng(), "bucket_ms": 100}
    with pytest.raises((TypeError, ValueError), match=named):
        retry_burst(Exponential(), FullJitter(), **(usual | change))


def test_moments_of_a_log_are_counted_like_a_burst():
    moments = FullJitter().waits(Exponential(), 20, 3, LessonStream()).cumsum(axis=1)
    burst = retry_burst(Exponential(), FullJitter(), 20, 3, LessonStream())
    assert np.array_equal(burst_of_moments(moments).counts, burst.counts)
    assert burst_of_moments([]).requests == 0
    with pytest.raises(ValueError, match="at least 0, got -1"):
        burst_of_moments([-1, 5])
    with pytest.raises(TypeError, match="whole numbers"):
        burst_of_moments([0.5])


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 50), st.integers(0, 10**6))
def test_clients_of_one_generator_do_not_all_draw_the_same(consumers, seed):
    waits = FullJitter().waits(Exponential(100_000), consumers, 1, rng(seed))
    assert len(set(waits.ravel().tolist())) > 1
