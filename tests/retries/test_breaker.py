"""The circuit breaker: its states, laws under any interleaving, and what it saves or costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.events import COLUMNS
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.breaker_run import run_through_outage
from lessons_lib.retries.schedules import Fixed
from lessons_lib.retries.tokens import TokenBucket
from lessons_lib.retries.trip import FailureShare, InARow


def opened(**settings):
    """Return a breaker that opened at 0."""
    breaker = Breaker(InARow(1), **settings)
    breaker.report(breaker.ask(0), 0, "failure")
    assert breaker.state(0) == "open"
    return breaker


def test_closed_open_half_open_closed():
    breaker = Breaker(InARow(2), pause_ms=100)
    for at_ms in (0, 10):
        breaker.report(breaker.ask(at_ms), at_ms, "failure")
    assert breaker.ask(109) is None
    probe = breaker.ask(110)
    assert breaker.state(110) == "half-open"
    breaker.report(probe, 120, "success")
    events = breaker.events()
    assert events.columns.tolist() == COLUMNS
    assert events["event"].tolist() == ["closed", "open", "half-open", "closed"]
    assert events["at_ms"].tolist() == [0, 10, 110, 120]


def test_a_success_starts_the_count_in_a_row_again():
    breaker = Breaker(InARow(3))
    for outcome in ("failure", "failure", "success", "failure", "failure"):
        breaker.report(breaker.ask(0), 0, outcome)
    assert breaker.state(0) == "closed"


def test_a_share_counts_only_the_window_and_only_when_it_holds_enough():
    breaker = Breaker(FailureShare(0.5, window_ms=100, at_least=4))
    for at_ms, outcome in [(0, "failure"), (1, "failure"), (2, "failure")]:
        breaker.report(breaker.ask(at_ms), at_ms, outcome)
    assert breaker.state(2) == "closed"  # three calls are too few
    for at_ms, outcome in [(110, "success"), (111, "success"), (112, "failure")]:
        breaker.report(breaker.ask(at_ms), at_ms, outcome)
    assert breaker.state(112) == "closed"  # the old failures have left the window
    breaker.report(breaker.ask(113), 113, "failure")
    assert breaker.state(113) == "open"  # two of four


def test_several_permits_must_all_succeed():
    breaker = opened(pause_ms=10, permits=2)
    first, second = breaker.ask(10), breaker.ask(10)
    assert breaker.ask(10) is None
    breaker.report(first, 11, "success")
    assert breaker.state(11) == "half-open"
    assert breaker.ask(11) is None  # one succeeded, one is under way: no third
    breaker.report(second, 12, "success")
    assert breaker.state(12) == "closed"


@pytest.mark.parametrize(
    ("excluded_is", "state"), [("nothing", "half-open"), ("success", "closed"), ("failure", "open")]
)
def test_what_an_excluded_error_counts_as_is_a_choice(excluded_is, state):
    breaker = opened(pause_ms=10, excluded_is=excluded_is)
    breaker.report(breaker.ask(10), 11, "excluded")
    assert breaker.state(11) == state
    if state == "half-open":
        assert breaker.ask(11) is not None  # the permit was given back


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Breaker(permits=0), "permits must be at least 1, got 0"),
        (lambda: Breaker(pause_ms=0), "pause_ms must be at least 1, got 0"),
        (lambda: InARow(0), "failures must be at least 1, got 0"),
        (lambda: FailureShare(0), "share must be more than 0"),
        (lambda: FailureShare(1.5), "share must be at most 1, got 1.5"),
        (lambda: Breaker().report(Breaker().ask(0), 0, "meh"), "got 'meh'"),
    ],
)
def test_bad_settings_are_refused_in_words(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_time_runs_forward():
    breaker = Breaker()
    breaker.ask(10)
    with pytest.raises(ValueError, match="time runs forward"):
        breaker.ask(9)


@given(
    permits=st.integers(1, 4),
    trip=st.sampled_from([InARow(1), InARow(3), FailureShare(0.5, 50, 2)]),
    excluded_is=st.sampled_from(["nothing", "success", "failure"]),
    steps=st.lists(
        st.tuples(
            st.integers(0, 30),
            st.sampled_from(["ask", "ask", "success", "failure", "excluded"]),
            st.integers(0, 50),
        ),
        max_size=80,
    ),
)
def test_law_any_interleaving(permits, trip, excluded_is, steps):
    breaker = Breaker(trip, pause_ms=20, permits=permits, probe_ms=15, excluded_is=excluded_is)
    now, held = 0, []
    through = {}  # half-open period -> probes let through that were not given back
    for later, what, which in steps:
        now += later
        state = breaker.state(now)
        period = len(breaker.events())
        if what == "ask":
            ticket = breaker.ask(now)
            if state == "open":
                assert ticket is None
            if state == "closed":
                assert ticket is not None
            if ticket:
                held.append((ticket, state, period))
                if state == "half-open":
                    through[period] = through.get(period, 0) + 1
                    assert through[period] <= permits
        elif held:
            ticket, begun_in, begun_period = held.pop(which % len(held))
            late = begun_period != period
            given_back = what == "excluded" and excluded_is == "nothing"
            if begun_in == "half-open" and not late and given_back:
                through[period] -= 1
            breaker.report(ticket, now, what)
            if late:  # a result from an earlier period changes nothing
                assert breaker.state(now) == state
            elif state == "half-open" and what == "failure":
                assert breaker.state(now) == "open"
    events = breaker.events()
    # Only these changes exist, and nothing leaves "open" before the pause is over.
    allowed = {("closed", "open"), ("open", "half-open"), ("half-open", "open"),
               ("half-open", "closed")}  # fmt: skip
    names, at_ms = events["event"].tolist(), events["at_ms"].tolist()
    for index in range(1, len(names)):
        assert (names[index - 1], names[index]) in allowed
        if names[index] == "half-open":
            assert at_ms[index] - at_ms[index - 1] == 20
    assert at_ms == sorted(at_ms)


# ---- what it saves, and what it costs -------------------------------------------------------


def test_every_call_has_one_fate():
    run = run_through_outage(Breaker(), tokens=TokenBucket(), attempts=3, schedule=Fixed(300))
    frame = run.to_frame()
    assert (frame["sent"].sum(), frame["refused"].sum()) == (
        frame["failed"].sum() + frame["succeeded"].sum(),
        run.refused,
    )
    assert run.wasted == frame["failed"].sum()


def test_a_breaker_trades_wasted_calls_for_time_to_resume():
    plain = run_through_outage()
    runs = [run_through_outage(Breaker(pause_ms=pause)) for pause in (1000, 5000, 20_000)]
    assert (plain.wasted, plain.late_ms) == (1500, 0)
    assert [run.wasted for run in runs] == sorted((run.wasted for run in runs), reverse=True)
    assert max(run.wasted for run in runs) < plain.wasted / 20
    assert all(run.late_ms > 0 for run in runs)
    assert runs[-1].late_ms > 10_000


def test_a_token_bucket_bounds_retries_and_a_breaker_stops_calls():
    retrying = {"attempts": 4, "schedule": Fixed(500)}
    unbounded = run_through_outage(**retrying)
    tokens = run_through_outage(tokens=TokenBucket(ratio=0.1, cap=10), **retrying)
    breaker = run_through_outage(Breaker(), **retrying)
    assert unbounded.wasted > 3.5 * 1500
    assert 1500 < tokens.wasted <= 1500 * 1.1 + 10
    assert breaker.wasted < 20


def test_one_bad_shard_of_ten_becomes_worse_with_one_breaker_for_all():
    def run(**settings):
        return run_through_outage(shards=10, rng=np.random.default_rng(1), **settings)

    touchy = Breaker(FailureShare(0.1, 10_000, 20))
    without, shared = run(), run(breaker=touchy)
    own = run(breaker=touchy, per_shard=True)
    assert without.success == pytest.approx(0.95, abs=0.01)  # one shard in ten, half of the time
    assert shared.success < without.success - 0.05
    assert shared.refused_healthy > 200
    assert own.success > shared.success + 0.05
    assert own.wasted < without.wasted / 5
    assert own.refused_healthy < 20
    assert own.states["actor"].nunique() == 10


def test_a_run_leaves_the_breaker_it_was_given_unused():
    breaker = Breaker()
    first = run_through_outage(breaker)
    assert len(breaker.events()) == 1
    assert run_through_outage(breaker).wasted == first.wasted
