"""Two published studies, recomputed with their own parameters within their sampling error."""

import heapq
import random

import numpy as np
import pytest

from lessons_lib.retries.amplification import (
    amplification,
    amplification_table,
    calls_at_the_bottom,
    mean_amplification,
)
from lessons_lib.retries.closed_forms import load_of, success_of
from lessons_lib.retries.contention import BACKOFFS, contention_study
from lessons_lib.retries.study_clients import STRATEGIES
from lessons_lib.retries.study_tables import (
    contention_table,
    published_contention,
    published_tokens,
    token_table,
)
from lessons_lib.retries.token_study import token_study

# ---- AWS Architecture Blog: calls and time by kind of jitter ---------------------------------
# Mean calls and mean milliseconds over 100 trials of the original program, one seed.

CONTENTION = {
    10: [(50.7, 381), (50.1, 3311), (37.5, 435), (42.4, 701), (39.1, 466)],
    20: [(151.7, 599), (147.2, 13878), (100.5, 829), (108.0, 1685), (100.3, 1023)],
    50: [(689.2, 1138), (628.1, 36647), (373.7, 2137), (347.9, 4273), (332.7, 2870)],
    100: [(2427.6, 2035), (1854.5, 63452), (1005.2, 4632), (812.0, 6682), (796.8, 4910)],
    150: [(5144.7, 2878), (3560.6, 85424), (1751.8, 6476), (1325.3, 8367), (1317.5, 6387)],
    190: [(8011.6, 3541), (5144.0, 101030), (2434.7, 7911), (1760.3, 9469), (1771.8, 7364)],
}
# Both sides are means of 100 trials, so their difference has √2 times our standard error.
# Sixty comparisons are made; the largest of sixty normal deviations is above 4 once in 260
# runs. A wrong exponent or an off-by-one in the attempt moves most cells by more than 10.
CONTENTION_Z = 4.0


@pytest.mark.parametrize("clients", CONTENTION)
def test_contention_agrees_with_the_printed_table(clients):
    for backoff, (calls, time_ms) in zip(BACKOFFS, CONTENTION[clients], strict=True):
        ours = contention_study(backoff, clients, np.random.default_rng(clients)).means()
        assert abs(ours["calls"] - calls) < CONTENTION_Z * 2**0.5 * ours["calls_se"], backoff
        assert abs(ours["time_ms"] - time_ms) < CONTENTION_Z * 2**0.5 * ours["time_se"], backoff


def test_what_the_blog_says_and_what_it_leaves_out():
    at_100 = {
        backoff: contention_study(backoff, 100, np.random.default_rng(1)).means()
        for backoff in BACKOFFS
    }
    calls = {backoff: means["calls"] for backoff, means in at_100.items()}
    assert calls["full"] < 0.5 * calls["exponential"] < 0.5 * calls["none"]
    assert min(at_100, key=lambda backoff: at_100[backoff]["time_ms"]) == "none"


def event_by_event(clients, rng):
    """Return calls and time of one trial with full jitter, message by message."""

    def message():
        return abs(rng.gauss(10, 2))

    version = calls = order = 0
    end = 0.0
    heap = [(message(), client, "read", 0, 0) for client in range(clients)]
    heapq.heapify(heap)
    while heap:
        now, client, what, seen, failures = heapq.heappop(heap)
        order += 1
        if what == "read":
            heapq.heappush(heap, (now + message() + message(), client, "write", version, failures))
            continue
        calls += 1
        if seen == version:
            version += 1
            end = max(end, now + message())
        else:
            failures += 1
            wait = rng.uniform(0, min(2000, 5 * 2**failures))
            back = now + message() + message() + wait
            heapq.heappush(heap, (back, client, "read", 0, failures))
    return calls, end


def test_lockstep_agrees_with_one_event_after_another():
    rng = random.Random(1)
    plain = np.array([event_by_event(30, rng) for _ in range(200)])
    ours = contention_study("full", 30, np.random.default_rng(1), trials=200)
    for mine, theirs in ((ours.calls, plain[:, 0]), (ours.time_ms, plain[:, 1])):
        error = (mine.std() ** 2 / 200 + theirs.std() ** 2 / 200) ** 0.5
        assert abs(mine.mean() - theirs.mean()) < 4 * error


def test_every_contending_client_succeeds_once():
    for backoff in BACKOFFS:
        one = contention_study(backoff, 1, np.random.default_rng(1), trials=50)
        assert (one.calls == 1).all()
        assert one.time_ms.mean() == pytest.approx(40, abs=4 * 4 / 50**0.5)  # four messages
        two = contention_study(backoff, 2, np.random.default_rng(1), trials=50)
        assert (two.calls >= 2).all()


# ---- Brooker's token buckets: success and load against the failure rate ----------------------
# Percent of calls that succeed, percent of requests per call; 100 clients, 30 000 calls.

TOKENS = {
    "no retry": {0.05: (95.21, 100), 0.1: (90.10, 100), 0.2: (80.09, 100), 0.3: (69.85, 100),
                 0.5: (50.16, 100), 0.75: (25.11, 100), 1.0: (0, 100)},
    "3 retries": {0.05: (100, 105.2), 0.1: (99.99, 111.1), 0.2: (99.82, 124.6),
                  0.3: (99.06, 141.4), 0.5: (93.53, 188.1), 0.75: (68.69, 273.2), 1.0: (0, 400)},
    "token bucket": {0.05: (99.97, 105.1), 0.1: (98.77, 109.6), 0.2: (88.72, 111.2),
                     0.3: (77.63, 111.3), 0.5: (55.43, 111.4), 0.75: (27.41, 111.5),
                     1.0: (0, 111.5)},
    "breaker": {0.05: (99.54, 104.7), 0.1: (93.49, 103.6), 0.2: (80.40, 100.1),
                0.3: (70.05, 100), 0.5: (50.11, 100), 1.0: (0, 100)},
}  # fmt: skip


def _standard_errors(rate, strategy, runs=6):
    """Estimate both standard errors from independent runs: calls of a client are not independent."""
    seen = [token_study(rate, strategy, np.random.default_rng(seed)) for seed in range(runs)]
    both = np.array([[100 * run.success, 100 * run.load] for run in seen])
    return both.mean(axis=0), both.std(axis=0, ddof=1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_token_study_agrees_with_the_printed_table(strategy):
    for rate, published in TOKENS[strategy].items():
        mean, deviation = _standard_errors(rate, strategy)
        # Ours is a mean of six runs, the published figure one run: √(1 + 1/6) deviations, known
        # from six runs only: a t value of 5 degrees of freedom, beyond 4.5 once in 150. The
        # printed figures are rounded to 0.01 and 0.1 (half of it may be lost).
        allowed = 4.5 * (1 + 1 / 6) ** 0.5 * deviation + (0.005, 0.05)
        assert (np.abs(mean - published) <= allowed).all(), (rate, mean, published, allowed)


@pytest.mark.parametrize(
    ("clients", "success", "load"), [(10, 77.42, 111.3), (100, 86.61, 122.3), (1000, 98.64, 142.5)]
)
def test_few_calls_per_client_weaken_the_bucket(clients, success, load):
    run = token_study(
        0.3, "token bucket", np.random.default_rng(1), clients=clients, per_second=100 / clients
    )
    # Deviations over seeds, measured: at most 0.84 (success) and 1.5 (load); two single runs.
    assert 100 * run.success == pytest.approx(success, abs=4 * 2**0.5 * 0.84)
    assert 100 * run.load == pytest.approx(load, abs=4 * 2**0.5 * 1.5)


@pytest.mark.parametrize("rate", [0, 0.2, 0.5, 0.9, 1])
def test_closed_forms_lie_on_the_run(rate):
    run = token_study(rate, "3 retries", np.random.default_rng(9))
    deviation = (success_of(rate) * (1 - success_of(rate)) / run.calls) ** 0.5
    assert run.success == pytest.approx(success_of(rate), abs=4 * deviation + 1e-12)
    # The number of attempts lies between 1 and 4, so its deviation is at most 1.5.
    assert run.load == pytest.approx(load_of(rate), abs=4 * 1.5 / run.calls**0.5)


def test_closed_forms():
    assert success_of(0.5) == 1 - 0.5**4
    assert load_of(0.5) == pytest.approx((1 - 0.5**4) / (1 - 0.5))
    assert load_of(1) == 4
    assert load_of(0) == 1
    with pytest.raises(ValueError, match="failure_rate must be at most 1, got 2"):
        load_of(2)


# ---- both beside our runs --------------------------------------------------------------------


def test_the_tables_hold_the_published_figures():
    for row in published_contention().itertuples():
        cell = CONTENTION[row.clients][BACKOFFS.index(row.backoff)]
        assert (row.calls, row.time_ms) == cell
    for row in published_tokens().itertuples():
        success, load = TOKENS[row.strategy][row.failure_rate]
        assert (row.success, row.load) == (success / 100, load / 100)
    assert len(published_contention()) == 30
    assert len(published_tokens()) == sum(len(cells) for cells in TOKENS.values())


def test_the_tables_put_ours_beside_them():
    table = contention_table(np.random.default_rng(1), clients=(10, 15), trials=50)
    assert len(table) == 10
    assert table.loc[table["clients"] == 10, ["calls_z", "time_z"]].abs().max().max() < 4
    assert table.loc[table["clients"] == 15, "calls_published"].isna().all()
    table = token_table(np.random.default_rng(1), failure_rates=(0.3, 0.75))
    assert len(table) == 8
    assert table["success_exact"].notna().sum() == 4
    assert (table["success"] - table["success_exact"]).abs().max() < 0.02
    assert table["load_published"].isna().sum() == 1  # the breaker at 0.75 was not printed


# ---- amplification ---------------------------------------------------------------------------


def test_the_same_words_two_bases():
    assert amplification(5, attempts=3) == 243
    assert amplification(3, retries=3) == 64
    assert amplification(0, attempts=3) == 1
    for given in ({}, {"attempts": 3, "retries": 2}):
        with pytest.raises(ValueError, match="either attempts or retries"):
            amplification(3, **given)


def test_real_nested_loops_make_as_many_calls():
    for layers, attempts in ((5, 3), (3, 4)):
        succeeded, calls = calls_at_the_bottom(layers, attempts, lambda: False)
        assert (succeeded, calls) == (False, amplification(layers, attempts=attempts))
    assert calls_at_the_bottom(5, 3, lambda: True) == (True, 1)


@pytest.mark.parametrize("rate", [0, 0.3, 0.7, 0.9, 1])
def test_mean_amplification_is_what_the_loops_come_to(rate):
    rng = random.Random(5)
    calls = [calls_at_the_bottom(3, 3, lambda: rng.random() >= rate)[1] for _ in range(2000)]
    deviation = np.std(calls) / len(calls) ** 0.5
    expected = mean_amplification(3, 3, rate)
    assert len(expected) == 4
    assert expected[0] == 1
    assert np.mean(calls) == pytest.approx(expected[-1], abs=4 * deviation + 1e-9)


def test_a_budget_bounds_every_layer():
    table = amplification_table(5)
    assert table["three_attempts"].tolist() == [3, 9, 27, 81, 243]
    assert table["three_retries"].tolist() == [4, 16, 64, 256, 1024]
    assert table["with_budget"].iloc[-1] == pytest.approx(1.1**5)
