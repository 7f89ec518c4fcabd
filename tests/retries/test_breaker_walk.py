"""A walk tells what the breaker does; the real outage ends by itself and leaves nothing behind."""

import socket
import threading

import pytest

from lessons_lib.retries import real_breaker
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.breaker_walk import walk
from lessons_lib.retries.real_breaker import run_real_outage
from lessons_lib.retries.trip import InARow

SETTINGS = Breaker(InARow(2), pause_ms=1000, probe_ms=500)


def test_a_walk_shows_every_state_and_change():
    frames = walk(
        SETTINGS,
        [
            (0, "ask", 1), (50, "failure", 1), (50, "ask", 2), (100, "failure", 2),
            (200, "ask", 3), (1100, "wait", 0), (1200, "ask", 4), (1250, "success", 4),
        ],
    )  # fmt: skip
    assert [f.state for f in frames] == [
        "closed", "closed", "closed", "closed", "open", "open", "half-open", "half-open", "closed",
    ]  # fmt: skip
    assert [f.in_a_row for f in frames[:5]] == [0, 0, 1, 1, 0]
    assert frames[4].changes == (("closed", "open"),)
    assert "open from 100 ms to 1100 ms" in frames[4].words
    assert [c.leave for c in frames[-1].calls] == ["call", "call", "refused", "probe"]


def test_a_walk_tells_of_late_results_and_expired_probes():
    opening = [(0, "ask", 1), (0, "ask", 2), (0, "ask", 3), (10, "failure", 1), (10, "failure", 2)]
    frames = walk(SETTINGS, [*opening, (20, "success", 3), (1010, "ask", 4), (3000, "wait", 0)])
    assert frames[6].calls[2].ignored
    assert "ignored" in frames[6].words
    assert frames[6].state == "open"
    # The probe was out for 500 ms: open again from 1510, half-open from 2510.
    assert frames[-1].changes == (("half-open", "open"), ("open", "half-open"))
    assert frames[-1].since_ms == 2510


def test_a_walk_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="call 7 was never let through"):
        walk(SETTINGS, [(0, "success", 7)])
    with pytest.raises(ValueError, match="got 'jump'"):
        walk(SETTINGS, [(0, "jump", 1)])
    assert len(SETTINGS.events()) == 1, "the settings themselves stay unused"


def test_a_real_outage_opens_and_closes_a_real_breaker():
    before = threading.active_count()
    plain = run_real_outage()
    guarded = run_real_outage(Breaker(InARow(5), pause_ms=200))
    assert threading.active_count() == before
    states = guarded.states["event"].tolist()
    assert states[:3] == ["closed", "open", "half-open"]
    assert states[-1] == "closed"
    assert 0 < guarded.wasted < plain.wasted
    assert guarded.refused > 0
    assert plain.refused == 0
    assert plain.states.empty


def test_an_interrupted_real_outage_leaves_no_thread_and_no_port(monkeypatch):
    ports = []

    def interrupted(port):
        ports.append(port)
        raise KeyboardInterrupt

    monkeypatch.setattr(real_breaker, "_get", interrupted)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run_real_outage(Breaker())
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", ports[0])):
        pass


def test_a_real_outage_is_bounded():
    with pytest.raises(ValueError, match="until_ms must be at most 5000, got 60000"):
        run_real_outage(until_ms=60_000)
