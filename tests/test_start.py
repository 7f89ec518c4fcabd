"""The pieces of start.py, each by itself; test_start_real.py runs the whole of it."""

import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import psutil
import pytest

from starter import checks, cli, environment, onlyone, serve, stamp, steps, trouble
from starter.course import Course, Problem
from starter.isolation import clean_environment, pip_environment
from starter.leftovers import half_installed, remove
from starter.progress import PipReader, ProgressLine

ROOT = Path(__file__).resolve().parent.parent

PIP = """\
Looking in links: /somewhere
Ignoring appnope: markers 'sys_platform == "darwin"' don't match your environment
Requirement already satisfied: six==1.17.0 in ./.venv/lib (from -r requirements.txt (line 3)) (1.17.0)
Collecting anyio==4.16.0 (from -r requirements.txt (line 1))
  Downloading anyio-4.16.0-py3-none-any.whl (134 kB)
Processing /somewhere/files/argon2_cffi-25.1.0-py3-none-any.whl (from -r requirements.txt (line 9))
Collecting ruamel.yaml==0.19.1 (from -r requirements.txt (line 11))
"""


@pytest.fixture
def course(tmp_path):
    """An empty course in a folder with a space and letters beyond ASCII."""
    root = tmp_path / "Mein Kürs 课"
    root.mkdir()
    for name in (*stamp.LOCKS.values(), "pyproject.toml"):
        (root / name).write_bytes((ROOT / name).read_bytes())
    course = Course(root)
    course.make_state_folder()
    return course


# --- Python and commands ---------------------------------------------------------------------


def test_an_old_python_gets_one_line():
    text = (ROOT / "start.py").read_text("utf-8")
    assert text.isascii(), "Python 2 reads no other letters without a declaration"
    program = f"import sys; sys.version_info = (3, 8, 1, 'final', 0); exec({text!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "needs Python 3.11 or newer; this is Python 3.8" in done.stderr


OLDER = [
    path
    for path in sorted(Path.home().glob(".pyenv/versions/[23].*/bin/python"))
    if tuple(map(int, path.parts[-3].split(".")[:2])) < (3, 11)
]


@pytest.mark.parametrize("path", OLDER)
def test_older_pythons_of_this_machine_get_one_line(path):
    done = subprocess.run([path, ROOT / "start.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "needs Python 3.11" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["tset"], "unknown command 'tset'"),
        (["--no-brower"], "unknown option '--no-brower'"),
        (["--port", "x"], "invalid int value: 'x'"),
        (["--port", "0"], "--port must be between 1 and 65535, got 0"),
        (["--port", "70000"], "got 70000"),
        (["--no-browser", "extra"], "unknown command 'extra'"),
    ],
)
def test_a_wrong_command_is_named(capsys, arguments, complaint):
    assert cli.main(arguments) == 2
    said = capsys.readouterr().err
    assert complaint in said.splitlines()[0]
    assert cli.USAGE in said


@pytest.mark.parametrize("arguments", [["--help"], ["test", "--help"], ["lock", "-h"]])
def test_help_sets_nothing_up(capsys, arguments):
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out == cli.USAGE


def test_stray_module_folders_are_not_searched(tmp_path):
    (tmp_path / "argparse.py").write_text("raise RuntimeError('the wrong module')")
    done = subprocess.run(
        [sys.executable, ROOT / "start.py", "--help"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == cli.USAGE


# --- the stamp -------------------------------------------------------------------------------


def stamped(course, /, **values):
    course.venv.mkdir(exist_ok=True)
    full = {level: stamp.fingerprint(course, level) for level in stamp.LEVELS}
    made = stamp.Stamp(**{**vars(stamp.Stamp.wanted(course)), **full, **values})
    made.write(course)
    return made


def test_a_stamp_says_what_is_installed(course):
    assert stamp.Stamp.read(course) is None
    made = stamped(course)
    assert stamp.Stamp.read(course) == made
    assert made.is_whole(course, "course")
    assert made.is_whole(course, "dev")
    assert not stamped(course, dev="").is_whole(course, "dev")
    assert stamped(course, dev="").is_whole(course, "course")
    assert not stamped(course, course="").is_whole(course, "dev")
    assert not stamped(course, extras="").is_whole(course, "extras")
    assert not stamped(course, extras="").is_whole(course, "dev")
    assert stamped(course, extras="", dev="").is_whole(course, "course")
    assert not stamped(course, folder="/elsewhere").is_whole(course, "course")
    assert not stamped(course, python="3.8").is_whole(course, "course")


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_a_changed_lock_is_noticed(course, name):
    made = stamped(course)
    path = course.root / name
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", b"\r\n"))
    assert made.is_whole(course, "course"), "line endings are no change"
    path.write_bytes(text + b"six==1.0\n")
    assert not made.is_whole(course, "course")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"folder": "/"}', '{"other": 1}'])
def test_a_broken_stamp_counts_as_none(course, text):
    course.venv.mkdir()
    (course.venv / "course.json").write_text(text)
    assert stamp.Stamp.read(course) is None


def test_nothing_is_started_where_all_is_installed(course, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    stamped(course)
    course.scripts.mkdir()
    shutil.copy(sys.executable, course.python)
    assert environment.ensure(course, "dev") is False


# --- interrupted installations ---------------------------------------------------------------


def package(folder, name, record="RECORD"):
    (folder / f"{name}.py").write_text("x = 1\n")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n")
    (info / record).write_text(
        f'{name}.py,sha256=x,6\n"{info.name}/METADATA",,\n__pycache__/{name}.pyc,,9\n'
    )
    return info


def test_half_installed_packages_are_found_and_removed(tmp_path):
    whole = package(tmp_path, "whole")
    unrecorded = package(tmp_path, "unrecorded", record="INSTALLER")
    lost = package(tmp_path, "lost")
    (tmp_path / "lost.py").unlink()
    cut = package(tmp_path, "cut")
    (tmp_path / "cut.py").write_text("x =")
    garbled = package(tmp_path, "garbled")
    (garbled / "RECORD").write_text("garbled.py\n")
    (replaced := tmp_path / "~andas").mkdir()
    found = half_installed(tmp_path)
    assert set(found) == {unrecorded, lost, cut, garbled, replaced}
    remove(found)
    assert half_installed(tmp_path) == []
    assert whole.is_dir()
    assert half_installed(tmp_path / "nowhere") == []


def test_this_environment_is_whole():
    assert half_installed(Path(sysconfig.get_path("purelib"))) == []


def test_one_installation_at_a_time(course, capsys):
    """A killed start.py whose pip still runs keeps the next one waiting: pip has the lock too."""
    if os.name != "posix":
        pytest.skip("there the lock ends with start.py itself")
    with onlyone.only_one(course) as lock:
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(0.7)"], pass_fds=[lock]
        )
        begun = time.monotonic()
    with onlyone.only_one(course):
        waited = time.monotonic() - begun
        assert child.poll() is not None
    assert waited > 0.4
    assert "waiting for it" in capsys.readouterr().out


def test_a_program_that_fails_is_explained(course):
    course.setup_log.touch()
    line = ProgressLine(io.StringIO())
    command = [
        sys.executable,
        "-c",
        "import sys; sys.exit('OSError: [Errno 28] No space left on device')",
    ]
    with onlyone.only_one(course) as lock, pytest.raises(Problem, match="disk is full"):
        environment._run(course, command, line, lock, lambda _: "")


def test_an_interrupt_ends_what_was_started_too(course):
    if os.name != "posix":
        pytest.skip("no process groups there")
    course.setup_log.touch()
    code = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "print(child.pid, flush=True); time.sleep(60)"
    )
    pids = []

    def progress(lines):
        pids.extend(int(line) for line in lines if line.isdigit())
        if pids:
            raise KeyboardInterrupt
        return ""

    line = ProgressLine(io.StringIO())
    with onlyone.only_one(course) as lock, pytest.raises(KeyboardInterrupt):
        environment._run(course, [sys.executable, "-c", code], line, lock, progress)
    try:
        psutil.Process(pids[0]).wait(timeout=5)
    except psutil.NoSuchProcess:
        pass
    except psutil.TimeoutExpired:
        # Ended, but nobody collects it where process 1 is no real init.
        assert psutil.Process(pids[0]).status() == psutil.STATUS_ZOMBIE


def test_the_link_to_the_library_has_no_letters_to_misread(course):
    packages = course.site_packages
    info = packages / "lessons_lib-0.1.0.dist-info"
    info.mkdir(parents=True)
    (packages / "lessons_lib.pth").write_text(str(course.root), "utf-8")
    (info / "RECORD").write_text("lessons_lib.pth,sha256=abc,44\nother,,1\n")
    environment._make_link_relative(course)
    link = (packages / "lessons_lib.pth").read_text("ascii").strip()
    assert (packages / link).resolve() == course.root.resolve()
    assert (info / "RECORD").read_text() == "lessons_lib.pth,,\nother,,1\n"


# --- progress --------------------------------------------------------------------------------


def test_progress_is_read_from_pip():
    reader = PipReader(6)
    assert reader.text() == "Fetching 0 of 6: asking for the first one"
    for line in PIP.splitlines():
        reader.feed(line)
    assert reader.text() == "Fetching 4 of 5: ruamel.yaml"
    reader.feed("WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by ...")
    assert "no answer from the network" in reader.text()
    reader.feed("Installing collected packages: ruamel.yaml, argon2-cffi, anyio")
    assert reader.text() == "Installing 1 of 3: ruamel.yaml"
    assert reader.text(installed=2) == "Installing 3 of 3: anyio"
    assert reader.text(installed=9) == "Installing 3 of 3: anyio"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_on_a_terminal_is_one_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    line = ProgressLine(out := Terminal())
    line.show("Fetching 1 of 5: a-package-with-a-very-long-name")
    line.show("Fetching 2 of 5: b")
    line.clear()
    assert "\n" not in out.getvalue()
    shown = out.getvalue().split("\r")[1:]
    assert all(len(text) <= 30 for text in shown)
    assert shown[1].startswith("Fetching 2 of 5: b (0 s)")
    assert shown[-2].strip() == "", "the line is wiped"


def test_progress_in_a_file_is_a_line_now_and_then():
    line = ProgressLine(out := io.StringIO(), every_s=0.2)
    for number in range(6):
        line.show(f"Fetching {number}")
        time.sleep(0.1)
    line.clear()
    assert "\r" not in out.getvalue()
    assert 1 <= out.getvalue().count("\n") <= 3


# --- what goes wrong -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("The virtual environment was not created successfully because ensurepip is not available.",
         "sudo apt install python3-venv"),
        ("/usr/bin/python3: No module named venv", "python3-venv"),
        ("WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'\n"
         "ERROR: No matching distribution found for anyio==4.16.0", "no network"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'", "certificate"),
        ("PermissionError: [WinError 5] Access is denied: 'C:\\\\x'", "Close every window"),
        ("ERROR: No matching distribution found for numpy==2.4.6", "no ready-made numpy==2.4.6"),
        ("Collecting x\nERROR: something unheard of\n", "stopped: ERROR: something unheard of"),
        ("", "ended without a word"),
    ],
)  # fmt: skip
def test_each_failure_has_its_own_line(course, output, advice):
    first, *rest = trouble.explain(course, output).splitlines()
    assert advice in first
    assert rest == [f"(All of it: {course.setup_log})"]


def test_a_killed_installer_is_not_called_an_error(course):
    assert "signal 9" in trouble.explain(course, "Installing collected packages: a", -9)


def test_a_folder_that_cannot_be_written_to(tmp_path):
    if os.name != "posix":
        pytest.skip("no such folder there")
    with pytest.raises(Problem, match=r"Cannot write to .*Copy the course") as caught:
        Course(Path("/proc/self")).make_state_folder()
    assert "\n" not in str(caught.value)


def test_the_self_check_passes_here_and_names_what_fails():
    assert checks.check(checks.CHECKS) == ""

    def broken():
        raise ImportError("DLL load failed:\n  no such file")

    said = checks.check({"a picture cannot be made": broken})
    assert said == "a picture cannot be made: ImportError: DLL load failed: no such file"


# --- isolation -------------------------------------------------------------------------------

HOSTILE = {
    "PATH": "/usr/bin",
    "HOME": "/home/someone",
    "LANG": "de_DE.UTF-8",
    "HTTPS_PROXY": "proxy.example",
    "PYTHONPATH": "/x",
    "PYTHONHOME": "/x",
    "PYTHONSTARTUP": "/x",
    "PYTHONWARNINGS": "error",
    "PYTHONUNBUFFERED": "1",
    "MPLBACKEND": "nonsense",
    "MPLCONFIGDIR": "/x",
    "MATPLOTLIBRC": "/x",
    "JUPYTER_CONFIG_DIR": "/x",
    "JUPYTER_CONFIG_PATH": "/x",
    "JUPYTER_PATH": "/x",
    "JUPYTER_TOKEN": "x",
    "JUPYTERLAB_DIR": "/x",
    "JPY_PARENT_PID": "1",
    "IPYTHONDIR": "/x",
    "VIRTUAL_ENV": "/x",
    "PYTEST_ADDOPTS": "--nonsense",
    "PIP_USER": "1",
    "PIP_TARGET": "/x",
    "PIP_REQUIRE_VIRTUALENV": "1",
    "PIP_NO_BINARY": ":all:",
    "PIP_CERT": "/certificate",
}


def test_nothing_stray_reaches_the_course(course):
    kept = clean_environment(course, HOSTILE)
    assert not {name for name, value in kept.items() if value == "/x" and "PIP" not in name}
    for name in ("PYTHONPATH", "PYTHONHOME", "MPLBACKEND", "JUPYTER_TOKEN", "PYTEST_ADDOPTS"):
        assert name not in kept
    assert kept["PATH"].split(os.pathsep) == [str(course.scripts), "/usr/bin"]
    for name in ("HOME", "LANG", "HTTPS_PROXY", "PYTHONUNBUFFERED"):
        assert kept[name] == HOSTILE[name]
    folders = [
        v for k, v in kept.items() if k.startswith(("JUPYTER", "IPYTHON")) and k.endswith("DIR")
    ]
    assert len(folders) == 6
    assert all(Path(folder).is_relative_to(course.state) for folder in folders)
    assert (
        Path(kept["JUPYTER_CONFIG_PATH"]) / "labconfig"
    ) == course.root / "starter" / "labconfig"


def test_tests_do_not_read_the_students_settings(course):
    student, tests = clean_environment(course, {}), clean_environment(course, {}, state="tests")
    for name in ("JUPYTER_CONFIG_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR"):
        assert student[name] != tests[name]


def test_pip_keeps_mirrors_and_certificates_only(course):
    kept = pip_environment(course, HOSTILE)
    assert kept["PIP_CERT"] == "/certificate"
    assert kept["PIP_USER"] == "0"
    assert not {"PIP_TARGET", "PIP_REQUIRE_VIRTUALENV", "PIP_NO_BINARY"} & kept.keys()


def test_the_news_question_is_off():
    settings = json.loads((ROOT / "starter" / "labconfig" / "page_config.json").read_text())
    assert settings["disabledExtensions"] == {"@jupyterlab/apputils-extension:announcements": True}


def test_only_this_machine_can_reach_the_server(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    server = serve.settings(8888)["ServerApp"]
    assert server["ip"] == "127.0.0.1"
    assert server["root_dir"] == str(ROOT)
    assert server["allow_root"] is False
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert serve.settings(8888)["ServerApp"]["allow_root"] is True


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="a screen is taken for granted")
def test_no_browser_without_a_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not serve.can_open_browser()
    monkeypatch.setenv("DISPLAY", ":0")
    assert serve.can_open_browser()


# --- the steps of `test` ---------------------------------------------------------------------


def recorded(monkeypatch, failing=None):
    calls = []

    def call(_course, arguments, state="tests"):
        calls.append(" ".join(arguments[1:]))
        return 3 if failing and failing in calls[-1] else 0

    monkeypatch.setattr(steps, "_call", call)
    return calls


def test_every_step_is_run_in_order(monkeypatch, course, capsys):
    calls = recorded(monkeypatch)
    assert steps.run_tests(course, ["-k", "jitter"]) == 0
    assert calls == ["ruff check", "ruff format --check", "pytest -k jitter"]
    assert "== 3 of 3: pytest -k jitter" in capsys.readouterr().out


def test_the_first_failure_stops_and_is_named(monkeypatch, course, capsys):
    calls = recorded(monkeypatch, failing="format")
    assert steps.run_tests(course, []) == 3
    assert calls == ["ruff check", "ruff format --check"]
    assert capsys.readouterr().out.splitlines()[-1] == "Failed: ruff format --check (exit code 3)"


def test_lint_can_be_left_out(monkeypatch, course):
    calls = recorded(monkeypatch)
    assert steps.run_tests(course, ["--no-lint", "-x"]) == 0
    assert calls == ["pytest -x"]


def test_other_commands_call_their_tools(monkeypatch, course):
    calls = recorded(monkeypatch)
    assert steps.build(course, ["03-jitter"]) == 0
    assert steps.bench(course, []) == 0
    assert steps.remake_locks(course, ["--upgrade"]) == 0
    assert calls[0] == "tools.notebooks build 03-jitter"
    assert calls[1] == "benchmarks"
    assert all("--upgrade pyproject.toml" in call for call in calls[2:])
    assert calls[2].endswith("--all-extras --output-file requirements-extras.txt")
    assert calls[3].endswith("--constraint requirements-extras.txt --output-file requirements.txt")
    assert "--group dev" in calls[4]
    assert calls[4].endswith(
        "--constraint requirements-extras.txt --output-file requirements-dev.txt"
    )
