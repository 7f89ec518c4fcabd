"""What went wrong in an installation and what to do, in one line, from what pip or venv printed."""

import sys

from starter.course import Course

__all__ = ["explain"]

_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"

# The first entry of which a word is found in the output wins.
_KNOWN = (
    (
        ("No space left on device", "Errno 28", "not enough space"),
        "The disk is full: the course needs about 800 MB. Make room and run the same command again.",
    ),
    (
        ("ensurepip is not available", "No module named ensurepip", "No module named venv"),
        "This Python cannot make environments. On Debian or Ubuntu: sudo apt install python3-venv, "
        "then run the same command again.",
    ),
    (
        ("CERTIFICATE_VERIFY_FAILED", "SSLError"),
        "The network's certificate was not accepted, as happens behind a school's or firm's proxy. "
        "Ask for pip's settings there, then run the same command again.",
    ),
    (
        ("Retrying (Retry(", "NewConnectionError", "ProxyError", "Read timed out", "ReadTimeout",
         "IncompleteRead", "ConnectionResetError"),
        "The packages could not be fetched: no network, or a slow one. Connect and run the same "
        "command again; what was fetched is kept.",
    ),
    (
        ("Permission denied", "Errno 13", "WinError 5", "WinError 32", "Access is denied"),
        "Some files in .venv cannot be replaced. Close every window in which the course runs, "
        "then run the same command again.",
    ),
)  # fmt: skip


def explain(course: Course, output: str, code: int = 1) -> str:
    """Return one line on what is wrong, and one that says where the whole output is.

    Args:
        course: the copy of the course.
        output: what the program printed.
        code: its exit code; below zero where a signal ended it.
    """
    log = f"(All of it: {course.setup_log})"
    if code < 0:
        return f"The installation was ended from outside (signal {-code}). Run it again.\n{log}"
    for words, advice in _KNOWN:
        if any(word in output for word in words):
            return f"{advice}\n{log}"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    missing = [line for line in lines if "No matching distribution found for" in line]
    if missing:
        package = missing[-1].split("found for", 1)[1].split()[0]
        return (
            f"There is no ready-made {package} for Python {_VERSION} on this machine. "
            f"Try another Python, 3.11 to 3.14.\n{log}"
        )
    errors = [line for line in lines if line.lower().startswith(("error", "fatal"))]
    last = (errors or lines or ["the program ended without a word"])[-1]
    return f"The installation stopped: {last[:200]}\n{log}"
