"""Two ways to save a state to a file, and what a process killed in the middle leaves behind."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["STEPS", "WAYS", "BrokenState", "load", "save_by_rename", "save_plain"]

STEPS = {
    "plain": ("opened", "half written", "written", "closed"),
    "rename": ("opened", "half written", "written", "synced", "closed", "renamed"),
}
"""The steps of each way to save; a process can be killed after any of them."""


class BrokenState(Exception):
    """The file is there, and what is in it is no state."""


def load(path: Path) -> dict[str, Any] | None:
    """Return the saved state, or None if none was ever saved.

    Raises:
        BrokenState: the file is empty or ends in the middle.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise BrokenState(f"{path.name} holds {len(text)} characters that are no state") from None


def save_plain(path: Path, state: dict[str, Any], after: Callable[[str], None]) -> None:
    """Write over the old state in place. Opening the file already empties it.

    Args:
        path: the file.
        state: whatever can be written as JSON.
        after: told the name of each step when it is done.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    after("opened")
    _write_in_two(file, state, after)
    os.close(file)
    after("closed")


def save_by_rename(path: Path, state: dict[str, Any], after: Callable[[str], None]) -> None:
    """Write beside the old state, then rename over it: a reader finds the old or the new one.

    Args:
        path: the file; the temporary one has ".tmp" added to its name.
        state: whatever can be written as JSON.
        after: told the name of each step when it is done.
    """
    beside = path.with_name(path.name + ".tmp")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    after("opened")
    _write_in_two(file, state, after)
    # Against a power cut, not against a kill: what a killed process wrote is with the system.
    os.fsync(file)
    after("synced")
    os.close(file)
    after("closed")
    os.replace(beside, path)
    after("renamed")


def _write_in_two(file: int, state: dict[str, Any], after: Callable[[str], None]) -> None:
    data = json.dumps(state).encode()
    os.write(file, data[: len(data) // 2])
    after("half written")
    os.write(file, data[len(data) // 2 :])
    after("written")


WAYS: dict[str, Callable[[Path, dict[str, Any], Callable[[str], None]], None]] = {
    "plain": save_plain,
    "rename": save_by_rename,
}
"""The ways to save, by name."""
