"""How a child is started: under its guard, in a session of its own, with a pipe to live by."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from lessons_lib.processes.group import own_session

__all__ = ["launch"]


def launch(
    command: list[str],
    module: bool,
    limit_s: float,
    env: dict[str, str] | None,
    cwd: str | Path | None,
) -> subprocess.Popen:
    """Start a Python file or module under `guard`; whoever calls it must kill and reap it.

    Args:
        command: the file, or the module's name, and the arguments.
        module: which of the two.
        limit_s: after this and five seconds more the child ends itself.
        env: environment variables to add or change.
        cwd: the folder it runs in.
    """
    # The kernel's watch fires when the thread that made the child ends, not the process: only
    # the main thread is sure to last.
    lasting = threading.current_thread() is threading.main_thread()
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "lessons_lib.processes.guard"),
            *(str(os.getpid()), str(int(lasting)), str(limit_s), "-m" if module else "-f"),
            *command,
        ],
        stdin=subprocess.PIPE,  # never written to: it closes when this process ends
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment(env),
        cwd=cwd,
        **own_session(),
    )


def _environment(env: dict[str, str] | None) -> dict[str, str]:
    """Return the child's environment: it finds this library, and what it prints comes at once."""
    full = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", **(env or {})}
    home = str(Path(__file__).resolve().parents[2])
    before = [path for path in full.get("PYTHONPATH", "").split(os.pathsep) if path]
    return full | {"PYTHONPATH": os.pathsep.join(dict.fromkeys([*before, home]))}
