"""Make the course's environment from its lock file, or mend it, or leave it alone."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from starter.course import Course, Problem
from starter.isolation import clean_environment, pip_environment
from starter.leftovers import half_installed, remove
from starter.onlyone import only_one
from starter.progress import PipReader, ProgressLine
from starter.stamp import LEVELS, LOCKS, Stamp, fingerprint
from starter.trouble import explain

__all__ = ["ensure"]


def ensure(course: Course, level: str) -> bool:
    """Make sure that everything a level asks for is installed.

    Args:
        course: the copy of the course.
        level: "course" (what a student needs), "extras" (and the libraries that some notebooks
            compare with) or "dev" (and what the checks need).

    Returns:
        Whether anything had to be done. Where nothing has, no other program is started.

    Raises:
        Problem: it cannot be done, and why.
    """
    course.make_state_folder()
    if _is_ready(course, level):
        return False
    with only_one(course) as lock:
        if _is_ready(course, level):  # the other start.py did it
            return False
        course.setup_log.write_bytes(b"")
        line = ProgressLine(sys.stdout)
        stamp = _begin(course, line, lock)
        for name in LEVELS[: LEVELS.index(level) + 1]:
            _install(course, LOCKS[name], line, lock)
            stamp = Stamp(**{**vars(stamp), name: fingerprint(course, name)})
        _install_lessons(course, line, lock)
        stamp.write(course)
        line.clear()
    return True


def _is_ready(course: Course, level: str) -> bool:
    stamp = Stamp.read(course)
    return stamp is not None and stamp.is_whole(course, level) and os.access(course.python, os.X_OK)


def _begin(course: Course, line: ProgressLine, lock: int) -> Stamp:
    """Leave an environment with a working pip and an empty stamp."""
    stamp = Stamp.wanted(course)
    remove(broken := half_installed(course.site_packages))
    pip_is_broken = any(folder.name.startswith("pip-") for folder in broken)
    if pip_is_broken or not _is_usable(course):
        found = Stamp.read(course)
        if found is not None and not found.fits(stamp):
            print("The environment in .venv is for another folder or Python: making a new one.")
        elif course.venv.exists():
            print("The environment in .venv is unfinished or damaged: making it again.")
        else:
            print("Setting up the course. This is done once; it needs the network.")
        (course.venv / "course.json").unlink(missing_ok=True)
        line.show("Making the environment")
        command = [course.base_python, "-I", "-m", "venv", "--clear", str(course.venv)]
        _run(course, command, line, lock, lambda _: "Making the environment")
    else:
        print("Bringing the installation up to date.")
    stamp.write(course)
    return stamp


def _is_usable(course: Course) -> bool:
    """Say whether the environment's Python runs, is the right one and has pip."""
    stamp = Stamp.read(course)
    if stamp is not None and not stamp.fits(Stamp.wanted(course)):
        return False
    question = "import sys, pip; print(sys.version_info[:2]); print(sys.prefix)"
    try:
        answer = subprocess.run(
            [course.python, "-I", "-X", "utf8", "-c", question],
            capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=True,
            env=clean_environment(course),
        ).stdout.splitlines()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return answer[0] == str(sys.version_info[:2]) and Path(answer[1]).resolve() == course.venv


def _install(course: Course, lock_file: str, line: ProgressLine, lock: int) -> None:
    """Let pip install every package of a lock file, and no other."""
    text = (course.root / lock_file).read_text("utf-8")
    reader = PipReader(sum("==" in entry for entry in text.splitlines()))
    before: list[int] = []

    def progress(new_lines: list[str]) -> str:
        for entry in new_lines:
            reader.feed(entry)
        if not reader.installing:
            return reader.text()
        records = sum(1 for _ in course.site_packages.glob("*.dist-info/RECORD"))
        before[:] = before or [records]
        return reader.text(max(0, records - before[0]))

    # Nothing is compiled on a student's machine; .pyc files are made when first used, which
    # saves a quarter of the time here.
    command = _pip(course, "--only-binary", ":all:", "--no-compile", "--no-deps", "-r", lock_file)
    _run(course, command, line, lock, progress)


def _install_lessons(course: Course, line: ProgressLine, lock: int) -> None:
    """Install lessons_lib as a link to the course's own folder."""
    command = _pip(course, "--no-deps", "--no-build-isolation", "-e", ".")
    _run(course, command, line, lock, lambda _: "Installing the lessons' own library")
    _make_link_relative(course)


def _make_link_relative(course: Course) -> None:
    """Write the link to lessons_lib with dots: before 3.13, Python misreads other letters in it.

    There a .pth file is read in the system's own encoding but written as UTF-8, so a folder with
    an accent in its name would not be found on Windows, or would keep Python from starting.
    """
    packages = course.site_packages
    link = packages / "lessons_lib.pth"
    for record in packages.glob("lessons_lib-*.dist-info/RECORD"):
        entries = record.read_text("utf-8").splitlines(keepends=True)
        changed = [
            "lessons_lib.pth,,\n" if e.startswith("lessons_lib.pth,") else e for e in entries
        ]
        record.write_text("".join(changed), "utf-8")
    link.write_text(os.path.relpath(course.root, packages) + "\n", "ascii")


def _pip(course: Course, *arguments: str) -> list[str]:
    return [str(course.python), "-I", "-X", "utf8", "-m", "pip", "install", *arguments]


def _run(course, command, line, lock, progress) -> None:  # noqa: ANN001
    """Run a program with its output in the log, and show progress from what it writes there."""
    # A group of its own, so that what it started can be ended with it.
    options = {"pass_fds": [lock], "process_group": 0} if os.name == "posix" else {}
    with (
        course.setup_log.open("ab") as log,
        course.setup_log.open(encoding="utf-8", errors="replace") as reading,
    ):
        reading.seek(0, os.SEEK_END)
        child = subprocess.Popen(
            command, cwd=course.root, env=pip_environment(course), stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, **options,
        )  # fmt: skip
        output, rest = "", ""
        try:
            while True:
                try:
                    ended = child.wait(timeout=0.2) is not None
                except subprocess.TimeoutExpired:
                    ended = False
                new = reading.read()
                output += new
                *lines, rest = (rest + new).split("\n")
                line.show(progress(lines))
                if ended:
                    break
        finally:
            line.clear()
            if child.poll() is None:
                if os.name == "posix":
                    os.killpg(child.pid, signal.SIGTERM)
                else:
                    child.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=10)
                child.kill()
                child.wait()
    if child.returncode:
        raise Problem(explain(course, output, child.returncode))
