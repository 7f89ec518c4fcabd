"""Liveness and readiness: the known table's shape, wedged replicas, and the real run."""

import sys

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.processes.liveness import LIVENESS
from lessons_lib.processes.probe_run import run_probes
from lessons_lib.processes.probe_table import OUTAGES, probe_table
from lessons_lib.processes.probes import Probes, probe_load, simulate_probes

# Restarts, and seconds after the outage until the first and the last replica is ready.
KNOWN = [
    *((0, 0, 0), (0, 0, 0), (10, 3.4, 16.3)),
    *((0, 1.2, 9.3), (10, 1.6, 11.5), (10, 38.4, 51.3), (20, 19.9, 30.6), (15.4, 3.9, 36.6)),
    *((0, 1.1, 9.5), (21.6, 0.9, 40), (20, 57.7, 72.9), (40, 53.4, 66.3)),
    *((0, 1.1, 9.5), (50, 68.2, 90.6), (60, 152.2, 175.4), (29.5, 3.7, 40.2)),
]


def run(seed=0, **settings):
    probes = settings.pop("probes", Probes())
    return simulate_probes(probes, rng=np.random.default_rng(seed), **settings)


def test_the_known_table():
    few, many = probe_table(), probe_table(seeds=400)
    assert len(few) == len(KNOWN) == len(OUTAGES)
    for row, known in zip(many.itertuples(index=False), KNOWN, strict=True):
        # The known means are of 30 runs; the spread of one run is 2 to 10 s.
        assert row[0] == pytest.approx(known[0], abs=0.7)
        assert row[1] == pytest.approx(known[1], abs=3.5)
        assert row[2] == pytest.approx(known[2], abs=3.5)
    # One replica in some hundred escapes its last kill and is ready minutes before the others.
    assert ((few - many).abs() < 12).all(axis=None)
    own = many.xs("own state", level="liveness")
    assert (own["restarts"] == 0).all()
    assert (own["last s"] <= 10).all()


@given(
    liveness=st.sampled_from(tuple(LIVENESS)),
    outage_ms=st.integers(0, 600_000),
    period_ms=st.integers(100, 40_000),
    threshold=st.integers(1, 6),
    startup_ms=st.integers(0, 90_000),
    needs=st.booleans(),
    replicas=st.integers(1, 12),
    share=st.floats(0, 1),
    seed=st.integers(0, 9),
)
def test_laws(liveness, outage_ms, period_ms, threshold, startup_ms, needs, replicas, share, seed):
    wedged = int(replicas * share)
    result = run(
        seed,
        probes=Probes(
            liveness, period_ms, threshold, startup_ms=startup_ms, startup_needs_dependency=needs
        ),
        outage_ms=outage_ms,
        replicas=replicas,
        wedged=wedged,
    )
    at, counts = result.ready_counts
    assert at == sorted(at)
    assert all(0 <= count <= replicas for count in counts)
    assert counts[-1] == sum(back is not None for back in result.back_ms)
    if liveness != "dependency" and not wedged:
        assert result.restarts == 0
        assert result.last_ms <= 10_000
    if not wedged:
        assert counts[-1] == replicas
        assert result.first_ms <= result.last_ms
        assert result.unavailable_ms >= outage_ms
    if liveness == "always ok" and outage_ms:
        assert counts[-1] == replicas - wedged
        assert result.restarts == 0
    if liveness == "own state" and outage_ms:
        assert counts[-1] == replicas
        assert result.restarts == wedged
    started = [e for e in result.log if e.event == "started"]
    assert len(started) == result.restarts


def test_wedged_replicas_come_back_only_if_liveness_looks_at_its_own_state():
    green, own = (run(probes=Probes(word), wedged=4) for word in ("always ok", "own state"))
    assert (green.restarts, green.last_ms, green.back_ms.count(None)) == (0, None, 4)
    assert own.restarts == 4
    assert own.last_ms is not None
    assert run(probes=Probes("always ok"), wedged=10).unavailable_ms is None


def test_no_outage_no_events():
    result = run(outage_ms=0, wedged=3)
    assert (result.restarts, result.first_ms, result.last_ms, result.unavailable_ms) == (0, 0, 0, 0)


def test_the_same_seed_gives_the_same_run():
    assert run(3).log == run(3).log
    result = run(probes=Probes("dependency", 1000, 1), outage_ms=600_000, replicas=50)
    assert result.first_ms < result.last_ms
    assert result.unavailable_ms > 600_000


def test_probe_load():
    assert probe_load(10, 2, 10_000) == 2
    assert probe_load(200, 2, 1000) == 400
    assert probe_load(0, 2, 1000) == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Probes("database"), "liveness must be one of 'own state', .* got 'database'"),
        (lambda: Probes(period_ms=0), "period_ms must be at least 1, got 0"),
        (lambda: run(replicas=0), "replicas must be at least 1, got 0"),
        (lambda: run(wedged=11), "wedged must be at most 10, got 11"),
        (lambda: probe_load(1, 1, 0), "period_ms must be at least 1, got 0"),
    ],
)
def test_errors_name_the_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_the_real_run_has_the_same_shape():
    # A start-up longer than the rest of the outage: whoever is killed meanwhile is late for sure.
    words = ("own state", "dependency")
    own, wrong = (run_probes(word, replicas=2, startup_ms=2500) for word in words)
    assert own.restarts == 0
    assert wrong.restarts >= 2
    for real in (own, wrong):
        assert real.ready_counts[1][-1] == 2
        assert min(real.ready_counts[1]) == 0
        assert real.up_ms - real.down_ms >= 1500
    assert wrong.last_ms > own.last_ms
    assert list(wrong.events.columns) == ["at_ms", "actor", "event", "message", "attempt"]


def test_nothing_is_left():
    assert psutil.Process().children(recursive=True) == []
