"""What a child runs before its own code: watches, so that it never outlives its parent."""

import os
import runpy
import signal
import sys
import threading

__all__ = ["main"]


def _end_all() -> None:
    """End this process and everything it has started, at once."""
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _watch_stdin() -> None:
    # os.read, not sys.stdin: a thread inside a buffered read makes the interpreter abort at exit.
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    _end_all()  # the pipe's other end is closed: the parent is gone, by whatever way


def _kernel_watches_stdin() -> None:
    """Let the kernel send SIGKILL to the whole group when the pipe's other end closes; Linux.

    It needs no turn of the interpreter, so it also ends native code that never gives one.
    """
    import fcntl

    fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgid(0))
    fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _die_with_parent() -> None:
    """Ask the kernel for a SIGKILL when the parent's thread ends; Linux.

    For the case that somebody else, forked from the parent, keeps the pipe open.
    """
    import ctypes

    pr_set_pdeathsig = 1
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)


def main(arguments: list[str]) -> None:
    """Set the watches up and run the child's own code as `__main__`.

    Args:
        arguments: the parent's process id; "1" if the parent's thread lives as long as the
            parent; the time limit in seconds; "-m" or "-f"; the module or file; its arguments.
    """
    parent, kernel_watch, limit_s, kind, target, *rest = arguments
    threading.Thread(target=_watch_stdin, daemon=True).start()
    if sys.platform == "linux":
        if os.getpgid(0) == os.getpid():
            _kernel_watches_stdin()
        if kernel_watch == "1":
            _die_with_parent()
    if os.name == "posix" and os.getppid() != int(parent):
        _end_all()  # it died before the watches stood
    # Even a parent that lives but hangs gets rid of the child in the end.
    timer = threading.Timer(float(limit_s) + 5, _end_all)
    timer.daemon = True
    timer.start()
    # Started from a shell's or a loop's background, SIGINT is inherited as ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    sys.argv = [target, *rest]
    if kind == "-m":
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(target))  # as `python target` has it
        runpy.run_path(target, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
