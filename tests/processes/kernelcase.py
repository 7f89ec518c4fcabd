"""A real kernel with a child in it, and the question who is left afterwards."""

import contextlib
import os
import signal
import sys
import time

import psutil
from jupyter_client.manager import KernelManager

CHILD = """\
import subprocess, sys, time
from lessons_lib.processes.tell import tell
# A grandchild without any guard of its own: only its group tells that it belongs here.
below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
tell("ready", below=below.pid)
time.sleep(120)
"""


class Kernel:
    """A kernel, started for one test and killed after it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "sleeper.py").write_text(CHILD)
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder), env=os.environ | {"PYTHONPATH": os.getcwd()})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.family = []

    def run(self, code, timeout=60):
        """Run a cell to its end and return the name of its error, or None."""
        reply = self.client.execute_interactive(
            code, timeout=timeout, output_hook=lambda message: None
        )
        return reply["content"].get("ename")

    def begin(self, code):
        """Start a cell, wait until its child is there, and remember child and grandchild."""
        mark = self.folder / "family"
        self.client.execute(code.replace("FAMILY", repr(str(mark))))
        deadline = time.monotonic() + 30
        while not (mark.exists() and len(mark.read_text().split()) == 2):
            assert time.monotonic() < deadline, "the child did not start"
            time.sleep(0.02)
        self.family = [psutil.Process(int(pid)) for pid in mark.read_text().split()]
        assert len(self.left()) == 2

    def left(self, within_s=0.0):
        """Return which of child and grandchild still run after waiting for their end."""
        deadline = time.monotonic() + within_s
        while True:
            running = [one for one in self.family if alive(one)]
            if not running or time.monotonic() >= deadline:
                return running
            time.sleep(0.02)

    def interrupt(self):
        self.manager.interrupt_kernel()

    def restart(self):
        self.manager.restart_kernel(now=False)

    def shutdown(self):
        self.manager.shutdown_kernel(now=False)

    def shutdown_now(self):
        self.manager.shutdown_kernel(now=True)

    def kill(self):
        os.kill(self.manager.provisioner.pid, signal.SIGKILL)

    def close(self):
        self.client.stop_channels()
        with contextlib.suppress(Exception):
            self.manager.shutdown_kernel(now=True)
        for one in self.family:
            if alive(one):
                one.kill()


def alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


ALL_EVENTS = ["interrupt", "restart", "shutdown", "shutdown_now", "kill"]
if sys.platform == "win32":
    ALL_EVENTS = ["shutdown"]
