"""A program that starts from a saved state, counts one further, and saves; it may be killed there.

python -m lessons_lib.processes.startup FOLDER --way rename --start careful --die-after written
"""

import argparse
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from lessons_lib.processes.saving import STEPS, WAYS, BrokenState, load
from lessons_lib.processes.tell import tell

__all__ = ["BROKEN", "REFUSED", "STARTS", "main"]

STARTS = ("careless", "careful")
REFUSED, BROKEN = 3, 4
"""Exit codes: another one seems to run; the saved state is broken."""


def claim(folder: Path, start: str) -> Path | int | None:
    """Make sure that this is the only process at work here; None if it is not.

    A careless start leaves a mark in a file, which outlives a killed process. A careful one
    locks a file: the system gives the lock back, however the process ends.

    Returns:
        The careless mark, to be removed at a clean end, or the careful lock.
    """
    if start == "careless":
        mark = folder / "pid"
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return None
        return mark
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return lock


def main(argv: list[str] | None = None) -> None:
    """Start, tell what was found, count one further, and save."""
    parser = argparse.ArgumentParser(prog="python -m lessons_lib.processes.startup")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--way", choices=tuple(WAYS), default="rename", help="how to save")
    parser.add_argument("--start", choices=STARTS, default="careful")
    parser.add_argument("--die-after", default="", help="the step of saving to be killed after")
    given = parser.parse_args(argv)
    if given.die_after and given.die_after not in STEPS[given.way]:
        parser.error(f"--die-after must be one of {', '.join(STEPS[given.way])}")
    claimed = claim(given.folder, given.start)
    if claimed is None:
        tell("refused")
        sys.exit(REFUSED)
    state = given.folder / "state.json"
    leftovers = sorted(path.name for path in given.folder.glob("*.tmp"))
    if given.start == "careful":
        for name in leftovers:  # half of something that never counted
            with suppress(FileNotFoundError):
                (given.folder / name).unlink()
    try:
        found = load(state) or {"count": 0}
    except BrokenState as error:
        tell("broken", why=str(error), leftovers=leftovers)
        sys.exit(BROKEN)
    tell("started", count=found["count"], leftovers=leftovers)

    def after(step: str) -> None:
        if step == given.die_after:
            tell("killed", step=step)
            _die()

    WAYS[given.way](state, {"count": found["count"] + 1}, after)
    tell("saved", count=found["count"] + 1)
    if isinstance(claimed, Path):
        claimed.unlink()


def _die() -> None:
    """End at once, with nothing cleaned up: SIGKILL, or its like on Windows."""
    if hasattr(signal, "SIGKILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(9)


if __name__ == "__main__":
    main()
