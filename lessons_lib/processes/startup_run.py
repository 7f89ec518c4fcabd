"""Kill a real process at every step of saving its state, start it again, and see what it finds."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lessons_lib.errors import one_of, whole_number
from lessons_lib.processes.child import Child
from lessons_lib.processes.saving import STEPS, WAYS
from lessons_lib.processes.startup import BROKEN, REFUSED, STARTS

__all__ = ["Interrupted", "kill_at_every_step", "run_interrupted"]

PROGRAM = "lessons_lib.processes.startup"


def kill_at_every_step(way: str) -> pd.DataFrame:
    """Kill a process after each step of saving, and start a new one each time.

    Args:
        way: "plain" or "rename".

    Returns:
        One row a step: "found" (by the next start: "old state", "new state" or "broken") and
        "leftover", the temporary file it had to clear away, or "".
    """
    rows = {}
    for step in STEPS[one_of("way", way, tuple(WAYS))]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            WAYS[way](folder / "state.json", {"count": 7}, lambda _step: None)
            _run(folder, "--way", way, "--die-after", step)
            _, told = _run(folder, "--way", way)
        found = {7: "old state", 8: "new state"}.get(told.get("count"), told["event"])
        rows[step] = {"found": found, "leftover": ", ".join(told["leftovers"])}
    return pd.DataFrame(rows).T.rename_axis("killed after")


@dataclass(frozen=True)
class Interrupted:
    """What became of many starts, each killed while it saved.

    Args:
        rounds: how many times it was tried to start.
        started: starts that came as far as work.
        refused: starts that took a dead process's mark for a running one.
        broken: starts that found a broken state. It was removed then, so all was lost.
        leftovers: starts that found a temporary file.
    """

    rounds: int
    started: int
    refused: int
    broken: int
    leftovers: int


def run_interrupted(
    start: str = "careful", way: str = "rename", *, rounds: int = 12, by_hand: bool = False
) -> Interrupted:
    """Start a process again and again; each is killed after another step of saving.

    Args:
        start: "careless" or "careful" about the leftovers of the run before.
        way: how it saves, "plain" or "rename".
        rounds: how many times.
        by_hand: whether somebody removes a refused start's mark, in the middle of the night.
    """
    one_of("start", start, STARTS)
    steps = STEPS[one_of("way", way, tuple(WAYS))]
    codes, leftovers, started = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(whole_number("rounds", rounds, low=1)):
            if by_hand:
                (folder / "pid").unlink(missing_ok=True)
            step = steps[started % len(steps)]
            code, told = _run(folder, "--way", way, "--start", start, "--die-after", step)
            codes.append(code)
            started += code not in (REFUSED, BROKEN)
            leftovers += bool(told.get("leftovers"))
            if code == BROKEN:
                (folder / "state.json").unlink()
    refused, broken = codes.count(REFUSED), codes.count(BROKEN)
    return Interrupted(rounds, started, refused, broken, leftovers)


def _run(folder: Path, *options: str) -> tuple[int, dict]:
    """Run the program once; return its exit code and the first thing that it told."""
    with Child(PROGRAM, folder, *options, module=True, name="start") as child:
        code = child.wait()
        if not child.events:
            raise RuntimeError("\n".join(child.output[-12:]))
        return code, child.events[0]
