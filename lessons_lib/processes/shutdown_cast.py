"""The clients of the shutdown experiment, and one time line for what all of them see."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from lessons_lib.events import Event
from lessons_lib.processes.http_client import Connection, Lost, Refused, ask

__all__ = ["Cast", "Notes"]

THINK_S = 0.02  # between two requests of a keep-alive client


class Notes:
    """Events of several threads and processes on one time line."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, str, str, int | None]] = []

    def add(
        self, actor: str, event: str, message: int | None = None, at_s: float | None = None
    ) -> float:
        """Note an event, and return its time in monotonic seconds; now, if none is given."""
        at_s = time.monotonic() if at_s is None else at_s
        self._entries.append((at_s, actor, event, message))
        return at_s

    def sorted_from(self, began_s: float) -> list[Event]:
        """Return the events in the order of their times, in milliseconds since `began_s`."""
        return [
            Event(round((at_s - began_s) * 1000), actor, event, message)
            for at_s, actor, event, message in sorted(self._entries, key=lambda entry: entry[0])
        ]


class Cast:
    """The clients of the experiment, each in a thread of its own.

    Args:
        port: the server's port.
        notes: where they write what happens to them.

    Attributes:
        slow_status: the status of the slow request's answer, or None.
        lost: requests of keep-alive clients that got no answer.
    """

    def __init__(self, port: int, notes: Notes) -> None:
        self.port, self.notes = port, notes
        self.slow_status: int | None = None
        self.lost = 0
        self._lost_lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        self._set: list[threading.Event] = []

    def start(self, actor: str, what: Callable, *arguments: float) -> None:
        """Start one client in a thread of its own."""
        ready = threading.Event()
        self._set.append(ready)
        thread = threading.Thread(target=what, args=(actor, ready, *arguments), daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait_all_set(self) -> None:
        """Wait until all that were started have their connection."""
        for ready in self._set:
            ready.wait(5)

    def end(self) -> None:
        """Wait until all have seen the end."""
        self._over.set()
        for thread in self._threads:
            thread.join(5)

    def probe(self, word: str) -> None:
        """Ask `/ready` once, over a new connection."""
        try:
            said = str(ask(self.port, "/ready").status)
        except Refused:
            said = "refused"
        except Lost:
            said = "lost"
        self.notes.add("probe", f"{word}={said}")

    def probe_on(self, _actor: str, ready: threading.Event, every_s: float) -> None:
        """Ask `/ready` again and again."""
        ready.set()
        while not self._over.wait(every_s):
            self.probe("probe")

    def slow(self, actor: str, _ready: threading.Event) -> None:
        """Send the slow request, and wait for its answer."""
        self.notes.add(actor, "slow request sent", 1)
        with suppress(Lost, Refused):
            self.slow_status = ask(self.port, "/slow", timeout_s=120).status
        good = self.slow_status == 200
        self.notes.add(actor, "slow request answered" if good else "slow request lost", 1)

    def idle(self, actor: str, ready: threading.Event) -> None:
        """Keep a connection open after one answer, and send nothing more."""
        with Connection(self.port, timeout_s=120) as connection:
            connection.ask("/live")
            self.notes.add(actor, "connection opened")
            ready.set()
            connection.wait_closed()
            self.notes.add(actor, "connection closed")

    def stuck(self, actor: str, ready: threading.Event) -> None:
        """Ask for an answer that has no end, and read it for ever."""
        with suppress(Lost, Refused), Connection(self.port, timeout_s=120) as connection:
            self.notes.add(actor, "endless request sent")
            connection.send("/endless")
            ready.set()
            connection.answer()
        self.notes.add(actor, "endless request cut")

    def keep_alive(self, actor: str, ready: threading.Event) -> None:
        """Ask again and again over one connection, until it is said to be the last answer."""
        try:
            with Connection(self.port) as connection:
                self.notes.add(actor, "connection opened")
                while not self._over.is_set() and not connection.ask("/live").last:
                    ready.set()
                    self._over.wait(THINK_S)
                self.notes.add(actor, "connection closed")
        except Lost:
            with self._lost_lock:
                self.lost += 1
            self.notes.add(actor, "request lost")
