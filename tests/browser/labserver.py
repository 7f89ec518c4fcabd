"""A JupyterLab of its own for one test run, on a copy of the course, on a free port."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "test"


class LabServer:
    """Start JupyterLab over copies of notebooks/ and docs/; stop it with everything it started."""

    def __init__(self, folder: Path) -> None:
        self.course = folder / "course"
        for name in ("notebooks", "docs"):
            if (ROOT / name).exists():
                shutil.copytree(ROOT / name, self.course / name)
        self.folder = folder
        self.log = folder / "server.log"

    def __enter__(self) -> "LabServer":
        own = {
            name: str(self.folder / name.lower())
            for name in (
                "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
                "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR",
            )
        }  # fmt: skip
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "MPL", "PYTHON"))
        }
        own["JUPYTER_CONFIG_PATH"] = str(ROOT / "starter")
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1",
            "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.root_dir={self.course}", "--ServerApp.shutdown_no_activity_timeout=600",
        ]  # fmt: skip
        if getattr(os, "geteuid", lambda: 1)() == 0:
            command.append("--allow-root")
        self.process = subprocess.Popen(
            command,
            env=kept | own | {"PYTHONNOUSERSITE": "1"},
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.url = self._wait_until_it_answers(Path(own["JUPYTER_RUNTIME_DIR"]))
        return self

    def _wait_until_it_answers(self, runtime: Path) -> str:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text("utf-8")
            for file in runtime.glob("jpserver-*.json"):
                try:
                    url = json.loads(file.read_text("utf-8"))["url"]
                    urllib.request.urlopen(f"{url}api/status?token={TOKEN}", timeout=5)
                except (OSError, ValueError):
                    continue  # the file is being written, or the server not yet listening
                return url
            time.sleep(0.05)
        raise AssertionError("JupyterLab did not answer: " + self.log.read_text("utf-8"))

    def get(self, path: str):
        """Return the JSON answer of the server's own interface."""
        with urllib.request.urlopen(f"{self.url}{path}?token={TOKEN}", timeout=5) as answer:
            return json.load(answer)

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        for group_signal in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, group_signal)
            except (ProcessLookupError, PermissionError):
                break
            time.sleep(0.2)
