"""The commands and their arguments."""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from starter import steps
from starter.course import Course, Problem
from starter.environment import ensure
from starter.jupyter import open_lab

__all__ = ["main"]

USAGE = """\
python3 start.py [--no-browser] [--port N]   set up once, then open the course in JupyterLab
                 [--extras]                  with the libraries that notebooks 10, 11 and 13 can use
python3 start.py test [--no-lint] [...]      set up, then run every check; the rest goes to pytest
python3 start.py build [NAME ...]            rebuild and execute notebooks (all, if none is named)
python3 start.py bench [NAME ...]            run benchmarks
python3 start.py lock [--upgrade]            remake the lock files from pyproject.toml
"""
COMMANDS = {
    "test": steps.run_tests,
    "build": steps.build,
    "bench": steps.bench,
    "lock": steps.remake_locks,
}


def main(arguments: list[str]) -> int:
    """Run one command; return the exit code."""
    sys.stdout.reconfigure(
        errors="replace", line_buffering=True
    )  # a folder's name may be in any script
    sys.stderr.reconfigure(errors="replace")
    course = Course(Path(__file__).resolve().parent.parent)
    try:
        # Both, and also where a script started this in the background with Ctrl-C ignored.
        signal.signal(signal.SIGINT, _end)
        signal.signal(signal.SIGTERM, _end)
        return _run(course, arguments)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on where this one ended.", file=sys.stderr)
        return 130


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    """Turn a request to end into what Ctrl-C does."""
    raise KeyboardInterrupt


def _run(course: Course, arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name, rest = arguments[0], arguments[1:]
        if rest[:1] in (["--help"], ["-h"]):
            print(USAGE, end="")
            return 0
        ensure(course, "dev")
        if name == "test":
            steps.self_check(course)
        return COMMANDS[name](course, rest)
    options = _parse(arguments)
    if options is None:
        return 2
    if options.help:
        print(USAGE, end="")
        return 0
    ensure(course, "extras" if options.extras else "course")
    return open_lab(course, options.port, options.browser)


def _parse(arguments: list[str]) -> argparse.Namespace | None:
    """Read the arguments of the command without a name; say what is wrong with them."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--no-browser", dest="browser", action="store_false")
    parser.add_argument("--extras", action="store_true")
    parser.add_argument("--port", type=int, default=8888)
    complaint = ""
    try:
        options, unknown = parser.parse_known_args(arguments)
        if unknown:
            kind = "option" if unknown[0].startswith("-") else "command"
            complaint = f"unknown {kind} {unknown[0]!r}"
        elif not 1 <= options.port <= 65535:
            complaint = f"--port must be between 1 and 65535, got {options.port}"
    except argparse.ArgumentError as error:
        complaint = str(error)
    if complaint:
        print(f"start.py: {complaint}\n{USAGE}", end="", file=sys.stderr)
        return None
    return options
