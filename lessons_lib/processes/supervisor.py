"""A small supervisor: it starts a process, waits for its end, and reads its exit code."""

import signal
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from lessons_lib.errors import whole_number
from lessons_lib.events import Event
from lessons_lib.processes.child import Child
from lessons_lib.processes.restart_delay import RestartDelay
from lessons_lib.processes.supervised import Supervised

__all__ = ["EX_CONFIG", "Supervisor"]

EX_CONFIG = 78
"""The exit code for a configuration error, by the convention of sysexits.h."""

POLL_S = 0.005


class Supervisor:
    """Start a Python program, start it again when it crashes, stop it when asked.

        Supervisor("crash.py", delay=RestartDelay(100)).run(for_ms=5000)

    Exit code 0 says that the stop was wanted, 78 that the configuration is wrong and that no
    restart will help: after either there is no other start. To stop the process, it is sent
    SIGTERM and, if it is not gone within the grace period, killed. Whatever ends it, all
    that it has started is killed with it.

    Args:
        target: a Python file, or a module's name with `module=True`.
        arguments: passed on, as text.
        module: whether `target` is a module's name.
        name: what the process is called in the events.
        delay: the wait before each restart.
        grace_ms: from SIGTERM to SIGKILL. On Windows SIGTERM itself ends a process at once.
        final: exit codes after which there is no restart.
        believes: name of an event (see `tell`) that counts as proof of health and makes the
            delay begin anew. None is wise: only time proves health.
        began_s: monotonic time in seconds from which its events count; now, if not given.
        progress: see `Child`.
    """

    def __init__(
        self,
        target: str | Path,
        *arguments: Any,
        module: bool = False,
        name: str = "process",
        delay: RestartDelay | None = None,
        grace_ms: int = 10_000,
        final: Collection[int] = (0, EX_CONFIG),
        believes: str | None = None,
        began_s: float | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.name = name
        self.child: Child | None = None
        self.log: list[Event] = []
        self._command, self._module = (target, *arguments), module
        self._delay = delay or RestartDelay()
        self._grace_s = whole_number("grace_ms", grace_ms, low=0) / 1000
        self._final, self._believes, self._progress = frozenset(final), believes, progress
        self._began_s = time.monotonic() if began_s is None else began_s
        self._stop, self._restart = threading.Event(), threading.Event()
        self._starts = 0

    def stop(self) -> None:
        """Ask the supervisor, from any thread, to end its process and itself."""
        self._stop.set()

    def restart(self, why: str) -> None:
        """Ask the supervisor, from any thread, to end its process and to start it again."""
        self._note(why)
        self._restart.set()

    def run(self, for_ms: int | None = None, max_starts: int | None = None) -> Supervised:
        """Supervise until a final exit code, a limit, or a request to stop.

        Args:
            for_ms: after this time the process is asked to stop, as by `stop`.
            max_starts: after so many starts a crashed process is left as it is.
        """
        deadline = None if for_ms is None else time.monotonic() + for_ms / 1000
        codes, waits, crashes = [], [], 0
        while True:
            began = time.monotonic()
            codes.append(self._one_life(deadline))
            if codes[-1] in self._final and not self._restart.is_set():
                ended = {0: "wanted stop", EX_CONFIG: "configuration error"}.get(
                    codes[-1], f"final code {codes[-1]}"
                )
                ended = "asked to stop" if self._stop.is_set() else ended
                break
            if self._stop.is_set():
                ended = "asked to stop"
                break
            if self._starts == max_starts:
                ended = f"{max_starts} starts"
                break
            lived_ms = (time.monotonic() - began) * 1000
            healthy = lived_ms >= self._delay.reset_after_ms or self._believed
            crashes = 1 if healthy else crashes + 1
            waits.append(self._delay.wait_ms(crashes))
            self._note(f"waits {waits[-1]} ms", "supervisor")
            if self._pause(waits[-1] / 1000, deadline):
                ended = "asked to stop"
                break
        self._note(f"ends: {ended}", "supervisor")
        return Supervised(self._starts, tuple(codes), tuple(waits), ended, tuple(self.log))

    def _one_life(self, deadline: float | None) -> int:
        self._starts += 1
        self._restart.clear()
        self._note("started")
        self._believed = False
        with Child(
            *self._command,
            module=self._module,
            name=self.name,
            limit_s=3600,
            progress=self._progress,
        ) as child:
            self.child = child
            while (code := child.code) is None:
                over = deadline is not None and time.monotonic() >= deadline
                if over:
                    self._stop.set()
                if over or self._stop.is_set() or self._restart.is_set():
                    code = self._end(child)
                    break
                time.sleep(POLL_S)
            self._believed = any(e["event"] == self._believes for e in child.events)
        self._note(f"exit code {code}")
        return code

    def _end(self, child: Child) -> int:
        """SIGTERM, then the grace period, then SIGKILL for all that is left."""
        self._note("SIGTERM sent", "supervisor")
        child.send_signal(signal.SIGTERM)
        until = time.monotonic() + self._grace_s
        while (code := child.code) is None and time.monotonic() < until:
            time.sleep(POLL_S)
        if code is None:
            self._note("SIGKILL sent", "supervisor")
            child.close()
            code = child.code
        return code

    def _pause(self, seconds: float, deadline: float | None) -> bool:
        """Wait, unless the end comes first; True if it did."""
        until = time.monotonic() + seconds
        while not self._stop.is_set():
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return True
            if now >= until:
                return False
            time.sleep(min(POLL_S, until - now))
        return True

    def _note(self, event: str, actor: str | None = None) -> None:
        at_ms = round((time.monotonic() - self._began_s) * 1000)
        self.log.append(Event(at_ms, actor or self.name, event, None, self._starts or None))
