"""JupyterLab at the course's start page, run inside the environment until Ctrl-C.

Started by starter/jupyter.py, by its file name: it imports nothing else from this folder.
"""

import os
import signal
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path
from types import FrameType
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
START_PAGE = "notebooks/00-start-here.ipynb"
LOG = ROOT / ".jupyter" / "server.log"


def settings(port: int) -> dict[str, dict]:
    """Return Jupyter's settings: this machine only, this folder only, no first-run noise."""
    return {
        "ServerApp": {
            "ip": "127.0.0.1",
            "port": port,
            "root_dir": str(ROOT),
            "open_browser": False,  # done here, once the server answers
            "allow_root": getattr(os, "geteuid", lambda: 1)() == 0,
        },
        "LabApp": {"extension_manager": "readonly"},
        "KernelSpecManager": {"allowed_kernelspecs": {"python3"}},
        "KernelManager": {"shutdown_wait_time": 2.0},
    }


def forget_system_folders() -> None:
    """Leave out the machine's own Jupyter, installed beside the system's programs."""
    from jupyter_core import paths

    paths.SYSTEM_CONFIG_PATH[:] = []
    paths.SYSTEM_JUPYTER_PATH[:] = []


def can_open_browser() -> bool:
    """Say whether there is a screen to open a browser on."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def split_output() -> TextIO:
    """Send all that Jupyter and its kernels print to the log; return the terminal."""
    terminal = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    return terminal


class Session:
    """One run of the server: ready, then stopped."""

    def __init__(self, port: int, browser: bool, terminal: TextIO) -> None:
        """Set everything up; the port is bound when this returns."""
        self.asked_port, self.browser, self.terminal = port, browser, terminal
        self.exit_code = 0
        self.stopping = False
        check = [sys.executable, "-I", "-X", "utf8", str(Path(__file__).with_name("checks.py"))]
        # The check and the server each take a second or two: they run side by side.
        self.check = subprocess.Popen(check, stdout=subprocess.PIPE, encoding="utf-8", cwd=ROOT)

        forget_system_folders()
        from jupyterlab.labapp import LabApp
        from traitlets.config import Config

        self.server = LabApp.initialize_server(argv=[], config=Config(settings(port)))

    def say(self, text: str) -> None:
        """Print a line where the student sees it."""
        print(text, file=self.terminal, flush=True)

    def run(self) -> int:
        """Serve until a signal comes; return the exit code."""
        for name in ("SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"):
            number = getattr(signal, name, None)
            wanted = name != "SIGHUP" or signal.getsignal(signal.SIGHUP) != signal.SIG_IGN  # nohup
            if number is not None and wanted:
                signal.signal(number, self.stop)
        threading.Thread(target=self.announce_after_check, daemon=True).start()
        self.server.start()
        return self.exit_code

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """End the server and its kernels; at the second signal, at once."""
        if self.stopping:
            os._exit(1)
        self.stopping = True
        self.say("\nStopping the course.")
        self.server.stop(from_signal=True)

    def announce_after_check(self) -> None:
        """Wait for the self check, then hand over to the server's own thread."""
        complaint = self.check.communicate()[0].strip()
        self.server.io_loop.add_callback(self.announce, complaint)

    def announce(self, complaint: str) -> None:
        """Say where the course is and open it, now that the server answers; or what is wrong."""
        if self.stopping:
            return
        if self.check.returncode:
            (Path(sys.prefix) / "course.json").unlink(missing_ok=True)  # so that it is mended
            self.say(f"The installation is damaged: {complaint or f'see {LOG}'}")
            self.say("Run the same command again to mend it.")
            self.exit_code, self.stopping = 1, True
            self.server.stop()
            return
        if self.server.port != self.asked_port:
            self.say(f"Port {self.asked_port} is in use: {self.server.port} is taken instead.")
        page = f"/lab/tree/{START_PAGE}" if (ROOT / START_PAGE).is_file() else "/lab"
        address = f"http://127.0.0.1:{self.server.port}{page}?token={self.server.token}"
        self.say(f"Open {address}")
        self.say("The course runs as long as this window is open. Ctrl-C ends it.")
        if self.browser and can_open_browser():
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()


def main(port: int, browser: bool) -> int:
    """Run the server, or say in one line why it cannot run."""
    # Until the server can stop in order, any signal ends it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    terminal = split_output()
    try:
        if os.name == "posix":
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return Session(port, browser, terminal).run()
    except KeyboardInterrupt:
        print("\nStopped.", file=terminal, flush=True)
        return 0
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split()) or "no reason given"
        print(f"JupyterLab did not start: {type(error).__name__}: {reason}", file=terminal)
        print(f"(All of it: {LOG})", file=terminal, flush=True)
        import traceback

        traceback.print_exc()
        return 1


if __name__ == "__main__":
    sys.exit(main(port=int(sys.argv[1]), browser=sys.argv[2] == "browser"))
