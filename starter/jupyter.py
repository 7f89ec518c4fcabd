"""Hand this process over to JupyterLab."""

import os
import signal
import subprocess
import sys

from starter.course import Course
from starter.isolation import clean_environment

__all__ = ["open_lab"]


def open_lab(course: Course, port: int, browser: bool) -> int:
    """Run JupyterLab until it is ended; return its exit code.

    Where the system allows it, this process becomes the server: a signal reaches it directly, and
    no server can be left behind.
    """
    serve = str(course.root / "starter" / "serve.py")
    command = [str(course.python), "-I", "-X", "utf8", serve]
    command += [str(port), "browser" if browser else "no-browser"]
    variables = clean_environment(course)
    sys.stdout.flush()
    os.chdir(course.root)
    if os.name == "posix":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until serve.py can answer it
        os.execve(command[0], command, variables)
    with subprocess.Popen(command, env=variables) as server:  # Ctrl-C reaches it as well
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return server.wait()
