"""start.py as a whole: a real server in hostile surroundings, real interrupted installations."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
import websocket

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="a test cannot press Ctrl-C for another process"),
]


# --- the server ------------------------------------------------------------------------------


@pytest.fixture
def surroundings(tmp_path):
    """Variables and a home folder that would break a Jupyter which listens to them."""
    modules = tmp_path / "modules"
    modules.mkdir()
    for name in ("pandas", "json", "ipykernel_launcher"):
        (modules / f"{name}.py").write_text("raise RuntimeError('the wrong module')\n")
    home = tmp_path / "home"
    jupyter = home / ".jupyter"
    jupyter.mkdir(parents=True)
    for name in ("jupyter_server_config.py", "jupyter_lab_config.py", "jupyter_config.json"):
        (jupyter / name).write_text("this is ( no configuration\n")
    kernel = home / ".local/share/jupyter/kernels/python3"
    kernel.mkdir(parents=True)
    spec = {"argv": ["false"], "display_name": "The wrong kernel", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    startup = home / ".ipython/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("raise SystemExit\n")
    matplotlib = home / ".config/matplotlib"
    matplotlib.mkdir(parents=True)
    (matplotlib / "matplotlibrc").write_text("backend: nonsense\n")
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "PYTHONPATH": str(modules),
        "PYTHONSTARTUP": str(startup / "00.py"),
        "MPLBACKEND": "nonsense",
        "JUPYTER_CONFIG_DIR": str(jupyter),
        "JUPYTER_TOKEN": "known-to-everybody",
        "JUPYTER_PORT": "1",
    }


class Server:
    """A running start.py and what it said."""

    def __init__(self, variables, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "start.py", "--no-browser", *arguments],
            env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        )  # fmt: skip
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if found := re.match(r"Open (http://127\.0\.0\.1:(\d+)(/\S+)\?token=(\w+))$", line):
                self.address, self.port, self.page, self.token = found.groups()
            if "Ctrl-C" in line:
                return
        raise AssertionError(self.said)

    def ask(self, path, token=True, data=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data)
        if token:
            request.add_header("Authorization", f"token {self.token}")
        return urllib.request.urlopen(request, timeout=30)

    def run_in_kernel(self, kernel, code):
        """What the code prints, as a notebook would run it."""
        channel = websocket.create_connection(
            f"ws://127.0.0.1:{self.port}/api/kernels/{kernel}/channels?token={self.token}",
            timeout=60,
        )
        header = {"msg_id": "1", "msg_type": "execute_request", "session": "s", "username": "u",
                  "version": "5.4", "date": "2026-01-01T00:00:00Z"}  # fmt: skip
        channel.send(
            json.dumps(
                {"header": header, "parent_header": {}, "metadata": {}, "channel": "shell",
                 "content": {"code": code, "silent": False, "stop_on_error": True}}
            )
        )  # fmt: skip
        said = ""
        while True:
            message = json.loads(channel.recv())
            kind, content = message["msg_type"], message["content"]
            said += content.get("text", "") if kind == "stream" else ""
            said += "\n".join(content["traceback"]) if kind == "error" else ""
            ended = kind == "status" and content["execution_state"] == "idle"
            if ended and message["parent_header"].get("msg_id") == "1":
                channel.close()
                return said

    def end(self, number):
        self.process.send_signal(number)
        self.said += self.process.communicate(timeout=30)[0]
        return self.process.returncode


def family(pid):
    parent = psutil.Process(pid)
    return [parent, *parent.children(recursive=True)]


def test_hostile_surroundings_change_nothing(surroundings):
    server = Server(surroundings)
    everybody = family(server.process.pid)
    try:
        assert server.page.startswith("/lab")
        assert urllib.request.urlopen(server.address, timeout=30).status == 200
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.ask("/api/contents", token=False)
        assert refused.value.code == 403
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.ask("/api/contents?token=known-to-everybody", token=False)
        assert refused.value.code == 403
        files = {entry["name"] for entry in json.load(server.ask("/api/contents"))["content"]}
        assert {"notebooks", "README.md"} <= files, "the course's own folder is the root"

        kernels = json.load(server.ask("/api/kernelspecs"))["kernelspecs"]
        assert {k: v["spec"]["display_name"] for k, v in kernels.items()} == {
            "python3": "Python 3 (ipykernel)"
        }
        kernel = json.load(server.ask("/api/kernels", data=b'{"name": "python3"}'))["id"]
        said = server.run_in_kernel(
            kernel,
            "import os, sys, pandas, matplotlib.pyplot as plt, lessons_lib\n"
            "print(sys.executable, plt.get_backend(), lessons_lib.__file__, sep='\\n')\n"
            "print(sorted(n for n in os.environ if n in ('PYTHONPATH', 'PYTHONSTARTUP')))",
        )
        python, backend, library, strays = said.splitlines()
        assert Path(python).parent == ROOT / ".venv" / "bin"
        assert backend in ("inline", "module://matplotlib_inline.backend_inline")
        assert Path(library).parent == ROOT / "lessons_lib"
        assert strays == "[]"
        everybody = family(server.process.pid)
        assert len(everybody) >= 2
    finally:
        begun = time.monotonic()
        code = server.end(signal.SIGINT)
    assert code == 0, server.said
    assert time.monotonic() - begun < 10
    assert "Traceback" not in server.said
    assert len(server.said.splitlines()) <= 6, f"more noise than needed:\n{server.said}"
    _, alive = psutil.wait_procs(everybody, timeout=5)
    assert not alive


def test_a_port_in_use_picks_another_and_termination_is_clean():
    first = Server(os.environ)
    second = Server(os.environ, "--port", first.port)
    everybody = family(first.process.pid) + family(second.process.pid)
    try:
        assert second.port != first.port
        assert f"Port {first.port} is in use: {second.port} is taken instead." in second.said
        assert first.ask("/api/status").status == second.ask("/api/status").status == 200
    finally:
        codes = [server.end(signal.SIGTERM) for server in (first, second)]
    assert codes == [0, 0]
    assert "Traceback" not in first.said + second.said
    _, alive = psutil.wait_procs(everybody, timeout=5)
    assert not alive


# --- installation ----------------------------------------------------------------------------


@pytest.fixture
def small_course(tmp_path):
    """A copy of the course that needs two small packages only."""
    root = tmp_path / "Mein Kürs 课"
    root.mkdir()
    for name in ("start.py", "pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, root)
    for name in ("starter", "lessons_lib"):
        shutil.copytree(ROOT / name, root / name)
    pins = re.findall(r"(?m)^(?:six|flit-core)==\S+", (ROOT / "requirements.txt").read_text())
    assert len(pins) == 2
    for name in ("requirements.txt", "requirements-extras.txt", "requirements-dev.txt"):
        (root / name).write_text("\n".join(pins) + "\n")
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "__main__.py").write_text(
        "import importlib.metadata, lessons_lib, six\n"
        "print('ready', importlib.metadata.version('lessons-lib'), six.__version__)\n"
    )
    return root


def start(root):
    return subprocess.Popen(
        [sys.executable, "start.py", "bench"], cwd=root, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
    )  # fmt: skip


def finish(root):
    process = start(root)
    said = process.communicate(timeout=120)[0]
    if "could not be fetched" in said:
        pytest.skip("no network to install from")
    assert process.returncode == 0, said
    assert said.splitlines()[-1].startswith("ready 0."), said
    return said


def wait_until(condition, seconds=60):
    for _ in range(seconds * 20):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to that")


def test_an_interrupted_installation_mends_itself(small_course):
    root = small_course
    venv = root / ".venv"

    process = start(root)  # Ctrl-C while the environment is made
    wait_until((venv / "pyvenv.cfg").exists)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[0]
    assert process.returncode == 130
    assert "goes on where this one ended" in said
    assert "Traceback" not in said

    process = start(root)  # everything killed at once while pip works, as by a power cut
    wait_until((venv / "course.json").exists)
    wait_until(lambda: len(family(process.pid)) > 1)
    for member in family(process.pid):
        member.kill()
    process.communicate(timeout=30)

    assert "Bringing the installation up to date" in finish(root)
    assert finish(root).startswith("ready"), "the second time there is nothing to do"

    # A package cut off in the middle, which pip by itself takes for whole.
    (module,) = venv.glob("lib/python*/site-packages/six.py")
    module.write_bytes(module.read_bytes()[:1000])
    stamp = json.loads((venv / "course.json").read_text())
    (venv / "course.json").write_text(json.dumps(stamp | {"course": ""}))
    finish(root)

    moved = root.with_name("moved")
    root.rename(moved)
    assert "for another folder" in finish(moved)


def test_two_at_once_do_not_disturb_each_other(small_course):
    processes = [start(small_course) for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in processes]
    if "could not be fetched" in "".join(said):
        pytest.skip("no network to install from")
    assert [process.returncode for process in processes] == [0, 0], said
    assert sorted("waiting for it" in text for text in said) == [False, True]
