"""Everything that CI runs, step by step; the other commands of those who work on the course."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from starter.course import Course, Problem
from starter.isolation import clean_environment
from starter.stamp import LOCKS

__all__ = ["bench", "build", "remake_locks", "run_tests"]


def _call(course: Course, arguments: Sequence[str], state: str = "tests") -> int:
    """Run a program of the environment in the course's folder; return its exit code."""
    for folder in (course.state, course.state / state):
        folder.mkdir(mode=0o700, exist_ok=True)
    command = [str(course.python), *arguments]
    variables = clean_environment(course, state=state)
    with subprocess.Popen(command, cwd=course.root, env=variables) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            # A terminal's Ctrl-C has reached the program as well, a signal to this process has
            # not. Either way it gets the time to stop what it started.
            try:
                child.wait(timeout=1)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
                child.wait()
            raise


def self_check(course: Course) -> None:
    """Make one slider and one picture.

    Raises:
        Problem: what is wrong. The environment is marked, so that the next run mends it.
    """
    command = [course.python, "-I", "-X", "utf8", course.root / "starter" / "checks.py"]
    done = subprocess.run(
        command, env=clean_environment(course), stdout=subprocess.PIPE, encoding="utf-8"
    )
    if done.returncode:
        (course.venv / "course.json").unlink(missing_ok=True)
        raise Problem(
            f"The installation is damaged: {done.stdout.strip()}\n"
            "Run the same command again to mend it."
        )


def run_tests(course: Course, arguments: list[str]) -> int:
    """Run every check and stop at the first that fails; pytest's summary is the last line."""
    lint = "--no-lint" not in arguments
    rest = [a for a in arguments if a != "--no-lint"]
    steps = [["ruff", "check"], ["ruff", "format", "--check"]] if lint else []
    steps.append(["pytest", *rest])
    begun = time.monotonic()
    for number, step in enumerate(steps, start=1):
        name = " ".join(step)
        print(
            f"== {number} of {len(steps)}: {name} (after {time.monotonic() - begun:.0f} s)",
            flush=True,
        )
        if code := _call(course, ["-m", *step]):
            print(f"Failed: {name} (exit code {code})", flush=True)
            return code if code > 0 else 1
    return 0


def build(course: Course, names: list[str]) -> int:
    """Rebuild and execute notebooks; all of them if none is named."""
    return _call(course, ["-m", "tools.notebooks", "build", *names])


def bench(course: Course, names: list[str]) -> int:
    """Run benchmarks; all of them if none is named."""
    return _call(course, ["-m", "benchmarks", *names])


def remake_locks(course: Course, arguments: list[str]) -> int:
    """Remake the lock files from pyproject.toml; `--upgrade` takes the newest versions."""
    compiling = ["-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    compiling += ["--no-header", "--no-emit-index-url", *arguments, "pyproject.toml"]
    # The extras first: a student's versions must be those that the optional libraries can use.
    agreeing = ["--constraint", LOCKS["extras"]]
    options = {
        "extras": ["--all-extras"],
        "course": agreeing,
        "dev": ["--all-extras", "--group", "dev", "--group", "bench", *agreeing],
    }
    for level, chosen in options.items():
        if code := _call(course, [*compiling, *chosen, "--output-file", LOCKS[level]]):
            return code
    course_size, extras_size, dev_size = (
        sum("==" in line for line in Path(course.root, name).read_text("utf-8").splitlines())
        for name in LOCKS.values()
    )
    print(
        f"Locked {course_size} packages for students, {extras_size} with the extras, "
        f"{dev_size} with what the checks need."
    )
    return 0
