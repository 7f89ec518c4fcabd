"""One installation at a time, by a lock that the operating system gives back by itself."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from starter.course import Course

__all__ = ["only_one"]


def _taken(file: int) -> bool:
    """Try to take the lock; say whether somebody else has it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some network folders know no locks: there, going on beats never starting.
        return error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return False


@contextmanager
def only_one(course: Course) -> Iterator[int]:
    """Hold the lock on this copy of the course; wait while another process has it.

    The file descriptor is handed to pip, so that a pip whose start.py was killed still counts.
    """
    file = os.open(course.state / "setup.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _taken(file):
            print("Another start.py is setting up this folder: waiting for it.", flush=True)
            while _taken(file):
                time.sleep(0.2)
        yield file
    finally:
        os.close(file)
