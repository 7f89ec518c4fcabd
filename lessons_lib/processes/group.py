"""What differs between systems: a session of one's own, killing all of it, looking at its end."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

__all__ = ["exit_code", "kill_group", "own_session"]


def own_session() -> dict[str, Any]:
    """Return the arguments of Popen that give a child a session of its own."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def kill_group(process: subprocess.Popen) -> None:
    """Kill a child that leads its own session, and everything in it. Windows: only the child.

    It must not be reaped yet: until then its number belongs to it, and no stranger is hit.
    """
    if hasattr(os, "killpg"):
        # Gone already, or (macOS) only a zombie is left in the group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def exit_code(process: subprocess.Popen) -> int | None:
    """Return a child's exit code, or None while it runs; -9 means ended by signal 9.

    Where the system can, the child is only looked at and not reaped.
    """
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll()
    try:
        seen = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # somebody else reaped it; Popen knows how to cope
        return process.poll()
    if seen is None:
        return None
    return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status
