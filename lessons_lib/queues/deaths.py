"""Ways in which a process ends without any error handler having a say."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from lessons_lib.errors import one_of

__all__ = ["WAYS", "die", "ways_here"]

WAYS = ("exit", "SIGKILL", "SIGSEGV", "memory limit", "endless loop")

EXIT_CODE = 3
ROOM_BYTES = 32 << 20
BLOCK_BYTES = 4 << 20


def ways_here() -> tuple[str, ...]:
    """Return the ways that this system knows: all on Linux, two on Windows."""
    if sys.platform == "linux":
        return WAYS
    if sys.platform == "win32":
        return ("exit", "endless loop")
    return tuple(way for way in WAYS if way != "memory limit")  # macOS enforces no such limit


def die(way: str) -> None:
    """End this process, for real.

    - "exit": leaves at once, as a library does that calls exit() in the middle of things.
    - "SIGKILL": what the kernel's out-of-memory killer and `kill -9` send.
    - "SIGSEGV": reads address 0, as a bug in native code does.
    - "memory limit": limits its memory to 32 MiB more than it has, then runs native code
      that does not check whether it got what it asked for. (Python's own MemoryError would be
      an error like any other: a handler catches it, and the process lives on.)
    - "endless loop": never returns. Only a watchdog ends it.

    Raises:
        ValueError: the way is unknown, or does not exist on this system.
    """
    one_of("way", way, WAYS)
    if way not in ways_here():
        known = ", ".join(repr(here) for here in ways_here())
        raise ValueError(f"this system has no death by {way!r}; it has {known}")
    _no_core_file()
    if way == "exit":
        os._exit(EXIT_CODE)
    if way == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "SIGSEGV":
        ctypes.string_at(0)
    if way == "memory limit":
        _exhaust_memory()
    while True:
        pass


def _no_core_file() -> None:
    with suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _exhaust_memory() -> None:
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    limit = pages * resource.getpagesize() + ROOM_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    native = ctypes.CDLL(None)
    native.malloc.restype = ctypes.c_void_p
    native.malloc.argtypes = [ctypes.c_size_t]
    native.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    while True:
        block = native.malloc(BLOCK_BYTES)
        native.memset(block, 1, BLOCK_BYTES)  # once malloc says "no", this writes to address 0
