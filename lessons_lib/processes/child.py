"""A real child process for a notebook cell: bounded in time, always reaped, never left behind."""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from lessons_lib.errors import real_number
from lessons_lib.processes.group import exit_code, kill_group
from lessons_lib.processes.launch import launch
from lessons_lib.processes.lines import Lines
from lessons_lib.processes.patience import Patience

__all__ = ["Child", "ChildError"]

POLL_S = 0.01  # an `await` in a cell only notices an interrupt when its loop next wakes


class ChildError(Exception):
    """The child ended, or time ran out, before it did what was waited for."""


class Child:
    """Run a Python file or module as a process of its own, for the length of a `with` block.

        with Child("server.py", "--port", "0") as child:
            ready = await child.event("ready")        # or child.wait_event("ready")

    At the end of the block the child, and all that it has started, is killed and reaped: after
    an error or an interrupt too. If this process is killed or the kernel is restarted, the
    child ends itself. It has a session of its own, so a Ctrl-C meant for the notebook does
    not reach it. What it prints is collected: a line that is a JSON object with an "event"
    (see `tell`) becomes an event.

    In a cell, wait with `await child.event(...)` or `await child.ended()`. A long bare
    `await asyncio.sleep(...)` is not ended by an interrupt before it is over.

    Args:
        target: a Python file; with `module=True` the name of a module, as after `python -m`.
        arguments: passed on, as text.
        name: what it is called in messages; the target if not given.
        module: whether `target` is a module's name.
        limit_s: the child is killed after this many seconds, whatever it does.
        env: environment variables to add or change.
        cwd: the folder it runs in.
        progress: told in one line, some five times a second, what a wait of more than a
            second waits for, and "" at its end. None: nothing is shown.

    Raises:
        FileNotFoundError: there is no such file.

    On Windows the child's own children are not killed with it.
    """

    def __init__(
        self,
        target: str | Path,
        *arguments: Any,
        name: str | None = None,
        module: bool = False,
        limit_s: float = 60,
        env: dict[str, str] | None = None,
        cwd: str | Path | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if not module and not Path(cwd or ".", target).is_file():
            raise FileNotFoundError(f"there is no file {str(target)!r} to run")
        self.name = name or str(target)
        self._limit_s = real_number("limit_s", limit_s, low=0.01)
        self._progress = progress
        self._timed_out = False
        self._waited_for: Counter[str] = Counter()
        self._closing = threading.Lock()
        self._process = launch([str(target), *map(str, arguments)], module, self._limit_s, env, cwd)
        self._lines = Lines(self._process.stdout)
        self._timer = threading.Timer(self._limit_s, self._time_is_up)
        self._timer.daemon = True
        self._timer.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it told so far, one dictionary each; "at_s" is monotonic time in seconds."""
        return list(self._lines.events)

    @property
    def output(self) -> list[str]:
        """The other lines it printed, errors included; at most the last 10 000."""
        return list(self._lines.output)

    @property
    def timed_out(self) -> bool:
        """Whether `limit_s` ended it."""
        return self._timed_out

    @property
    def code(self) -> int | None:
        """Its exit code, None while it runs; -9 means ended by signal 9.

        Known only once everything it printed has been read.
        """
        code = exit_code(self._process)
        if code is not None:
            self._lines.join(1.0)
        return code

    def wait_event(self, name: str, timeout_s: float = 10) -> dict[str, Any]:
        """Wait for the next event of this name, and return it.

        Each event is returned once; one that came before the wait is returned at once.

        Raises:
            ChildError: the child ended, or the time ran out, without such an event.
        """
        for found in self._looks(name, timeout_s):
            if found is not None:
                return found
            time.sleep(POLL_S)
        raise AssertionError("the looks end with an event or an error")

    async def event(self, name: str, timeout_s: float = 10) -> dict[str, Any]:
        """Wait for the next event of this name as `wait_event` does, letting other tasks run."""
        for found in self._looks(name, timeout_s):
            if found is not None:
                return found
            await asyncio.sleep(POLL_S)
        raise AssertionError("the looks end with an event or an error")

    def wait(self) -> int:
        """Wait until the child ends, at most for its `limit_s`, and return its exit code."""
        with Patience(self._progress) as patience:
            while (code := self.code) is None:
                patience.tick(f"{self.name} is running")
                time.sleep(POLL_S / 5)
        return code

    async def ended(self) -> int:
        """Wait until the child ends as `wait` does, letting other tasks run."""
        with Patience(self._progress) as patience:
            while (code := self.code) is None:
                patience.tick(f"{self.name} is running")
                await asyncio.sleep(POLL_S)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the child alone; nothing happens if it has ended."""
        with self._closing, suppress(ProcessLookupError):
            if exit_code(self._process) is None:
                self._process.send_signal(number)

    def close(self) -> None:
        """Kill the child and all that it has started, and reap it. More than once is no harm."""
        with self._closing:
            if self._process.returncode is None:
                kill_group(self._process)
            self._timer.cancel()
            self._process.wait()
            with suppress(OSError):
                self._process.stdin.close()
        self._lines.join(1.0)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.close()
        except BaseException:  # a second interrupt, in the middle of closing
            self.close()
            raise

    def _looks(self, name: str, timeout_s: float) -> Iterator[dict[str, Any] | None]:
        timeout_s = real_number("timeout_s", timeout_s, low=0)
        with Patience(self._progress) as patience:
            while True:
                ended = self.code is not None  # asked first: then no last event is missed
                fitting = [event for event in self._lines.events if event["event"] == name]
                if len(fitting) > self._waited_for[name]:
                    self._waited_for[name] += 1
                    yield fitting[self._waited_for[name] - 1]
                if ended:
                    raise ChildError(self._obituary(name))
                if patience.waited_s > timeout_s:
                    raise ChildError(f"{self.name} did not tell {name!r} within {timeout_s:g} s")
                patience.tick(f"waiting for {name!r} of {self.name}")
                yield None

    def _obituary(self, name: str) -> str:
        how = f"its limit of {self._limit_s:g} s was over" if self._timed_out else f"{self.code}"
        last = "\n".join(deque(self._lines.output, maxlen=12))
        return f"{self.name} ended ({how}) before it told {name!r}" + (last and f"\n{last}")

    def _time_is_up(self) -> None:
        with self._closing:
            if exit_code(self._process) is None:
                self._timed_out = True
                kill_group(self._process)
