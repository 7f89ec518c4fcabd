"""Killed at every step of saving, interrupted starts, and memory that a restart must let go."""

import sys

import psutil
import pytest

from lessons_lib.processes.child import Child
from lessons_lib.processes.in_place_run import run_corruption
from lessons_lib.processes.saving import STEPS, WAYS, BrokenState, load
from lessons_lib.processes.startup import REFUSED
from lessons_lib.processes.startup_run import Interrupted, kill_at_every_step, run_interrupted


@pytest.mark.parametrize("way", WAYS)
def test_the_steps_are_named_and_the_state_comes_back(way, tmp_path):
    seen = []
    path = tmp_path / "state.json"
    assert load(path) is None
    WAYS[way](path, {"count": 1}, seen.append)
    assert tuple(seen) == STEPS[way]
    assert load(path) == {"count": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_a_plain_write_is_broken_in_the_middle():
    table = kill_at_every_step("plain")
    assert list(table.index) == list(STEPS["plain"])
    assert list(table.found) == ["broken", "broken", "new state", "new state"]


def test_a_rename_is_never_broken():
    table = kill_at_every_step("rename")
    assert list(table.index) == list(STEPS["rename"])
    assert list(table.found) == ["old state"] * 5 + ["new state"]
    assert list(table.leftover) == ["state.json.tmp"] * 5 + [""]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"start": "careless", "way": "plain"}, Interrupted(12, 1, 11, 0, 0)),
        ({"start": "careless", "way": "plain", "by_hand": True}, Interrupted(12, 8, 0, 4, 0)),
        ({"start": "careful", "way": "rename"}, Interrupted(12, 12, 0, 0, 10)),
    ],
    ids=str,
)
def test_a_start_after_a_killed_run(settings, expected):
    assert run_interrupted(**settings) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="looks at the lock as this system has it")
@pytest.mark.parametrize("start", ["careful", "careless"])
def test_two_at_once_are_refused(start, tmp_path):
    import fcntl

    (tmp_path / "pid").touch()
    with open(tmp_path / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ("lessons_lib.processes.startup", tmp_path, "--start", start)
        with Child(*command, module=True) as child:
            assert child.wait() == REFUSED


@pytest.mark.parametrize("text", ["", '{"count"', "\x00\x00"])
def test_a_broken_state_is_said_to_be_one(text, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(BrokenState, match=rf"state\.json holds {len(text)} characters"):
        load(path)


def test_a_restart_in_place_keeps_the_corruption():
    in_place, fresh = run_corruption("in place"), run_corruption("new process")
    assert (in_place.served, in_place.failed, in_place.processes) == (3, 7, 1)
    assert (fresh.served, fresh.failed, fresh.processes) == (9, 1, 2)
    assert [e.message for e in fresh.log if e.event in ("served", "failed")] == [*range(1, 11)]
    last = run_corruption("new process", spoils=10)
    assert (last.served, last.failed, last.processes) == (9, 1, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kill_at_every_step("luck"), "way must be one of 'plain', 'rename', got 'luck'"),
        (lambda: run_interrupted("lazy"), "start must be one of 'careless', 'careful', got 'lazy'"),
        (lambda: run_corruption("never"), "restart must be one of 'in place', .* got 'never'"),
    ],
)
def test_errors_name_the_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_nothing_is_left():
    assert psutil.Process().children(recursive=True) == []
