"""The shutdown experiment with a real server, real connections and a real signal."""

import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event
from lessons_lib.processes.child import Child
from lessons_lib.processes.http_client import Connection, Lost, Refused, ask
from lessons_lib.processes.parts import checked_parts
from lessons_lib.processes.shutdown_timeline import Shutdown

__all__ = ["run_shutdown"]

THINK_S = 0.02  # between two requests of a keep-alive client
SERVER = "lessons_lib.processes.server"


def run_shutdown(
    drain_ms: int = 500,
    limit_ms: int = 3000,
    slow_ms: int = 800,
    grace_ms: int = 10_000,
    without: Collection[str] = (),
    *,
    stuck: bool = False,
    clients: int = 0,
    signal_after_ms: int = 100,
    ready_after_ms: int = 200,
    signal_name: str = "SIGTERM",
    probe_every_ms: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Shutdown:
    """Start a server, give it work, ask it to stop, and write down what happens.

    There is one slow request and one idle keep-alive connection. The parameters are those of
    `simulate_shutdown`, and so are the events; times are real.

    Args:
        drain_ms: how long the server stays open after the signal.
        limit_ms: from the end of the drain window to the cut.
        slow_ms: how long the slow request's work takes.
        grace_ms: from the signal to the supervisor's SIGKILL.
        without: names from `PARTS` to leave out.
        stuck: whether there is also a client that never lets go.
        clients: keep-alive clients that ask again and again, until an answer says that it is
            the last one (then they would go to another server) or no answer comes.
        signal_after_ms: from the slow request to the signal.
        ready_after_ms: from the signal to the readiness probe.
        signal_name: "SIGTERM" or "SIGINT".
        probe_every_ms: if not 0, `/ready` is asked this often; events "probe=200", "probe=503",
            "probe=refused".
        progress: see `Child`.

    Raises:
        ValueError: a parameter makes no sense, or this is Windows, where no process can ask
            another to stop by a signal that it could catch.
    """
    number = getattr(signal, one_of("signal_name", signal_name, ("SIGTERM", "SIGINT")))
    if not hasattr(signal, "SIGKILL"):
        raise ValueError("Windows has no signal that asks a process to stop; use Linux or macOS")
    options = [f"--without={part}" for part in sorted(checked_parts(without))]
    for name, value in (("drain", drain_ms), ("limit", limit_ms), ("slow", slow_ms)):
        options.append(f"--{name}-ms={whole_number(f'{name}_ms', value, low=0)}")
    grace_s = whole_number("grace_ms", grace_ms, low=0) / 1000
    limit_s = grace_s + (signal_after_ms + ready_after_ms) / 1000 + 30
    notes = _Notes()
    with Child(SERVER, *options, module=True, limit_s=limit_s, progress=progress) as child:
        listening = child.wait_event("listening", timeout_s=20)
        cast = _Cast(listening["port"], notes)
        cast.probe("ready")
        cast.start("idle client", cast.idle)
        if stuck:
            cast.start("stuck client", cast.stuck)
        for n in range(whole_number("clients", clients, low=0)):
            cast.start(f"client {n + 1}", cast.keep_alive)
        if probe_every_ms:
            cast.start("probe", cast.probe_on, probe_every_ms / 1000)
        cast.wait_all_set()
        cast.start("slow request", cast.slow)
        time.sleep(signal_after_ms / 1000)

        sent_s = notes.add("supervisor", f"{signal_name} sent")
        child.send_signal(number)
        watch = threading.Thread(target=_await_end, args=(child, sent_s + grace_s, notes))
        watch.start()
        time.sleep(max(0.0, sent_s + ready_after_ms / 1000 - time.monotonic()))
        cast.probe("ready")
        while watch.is_alive():  # a join without end could not be interrupted on every system
            watch.join(0.05)
        cast.end()
        for event in child.events:
            notes.add("server", event["event"], at_s=event["at_s"])
        return Shutdown(
            tuple(notes.sorted_from(listening["at_s"])),
            child.code,
            grace_ms,
            cast.slow_status,
            clients,
            cast.lost,
        )


def _await_end(child: Child, kill_at_s: float, notes: "_Notes") -> None:
    """Be the supervisor: wait for the end, kill when the grace period is over."""
    killed = False
    while (code := child.code) is None:
        if not killed and time.monotonic() >= kill_at_s:
            killed = True
            notes.add("supervisor", "SIGKILL sent")
            child.send_signal(signal.SIGKILL)
        time.sleep(0.002)
    notes.add("supervisor", f"exit code {code}")


class _Notes:
    """Events of several threads and processes on one time line."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, str, str, int | None]] = []

    def add(
        self, actor: str, event: str, message: int | None = None, at_s: float | None = None
    ) -> float:
        at_s = time.monotonic() if at_s is None else at_s
        self._entries.append((at_s, actor, event, message))
        return at_s

    def sorted_from(self, began_s: float) -> list[Event]:
        return [
            Event(round((at_s - began_s) * 1000), actor, event, message)
            for at_s, actor, event, message in sorted(self._entries, key=lambda entry: entry[0])
        ]


class _Cast:
    """The clients of the experiment, each in a thread of its own."""

    def __init__(self, port: int, notes: _Notes) -> None:
        self.port, self.notes = port, notes
        self.slow_status: int | None = None
        self.lost = 0
        self._lost_lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        self._set: list[threading.Event] = []

    def start(self, actor: str, what: Callable, *arguments: float) -> None:
        ready = threading.Event()
        self._set.append(ready)
        thread = threading.Thread(target=what, args=(actor, ready, *arguments), daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait_all_set(self) -> None:
        for ready in self._set:
            ready.wait(5)

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(5)

    def probe(self, word: str) -> None:
        try:
            said = str(ask(self.port, "/ready").status)
        except Refused:
            said = "refused"
        except Lost:
            said = "lost"
        self.notes.add("probe", f"{word}={said}")

    def probe_on(self, _actor: str, ready: threading.Event, every_s: float) -> None:
        ready.set()
        while not self._over.wait(every_s):
            self.probe("probe")

    def slow(self, actor: str, _ready: threading.Event) -> None:
        self.notes.add(actor, "slow request sent", 1)
        with suppress(Lost, Refused):
            self.slow_status = ask(self.port, "/slow", timeout_s=120).status
        good = self.slow_status == 200
        self.notes.add(actor, "slow request answered" if good else "slow request lost", 1)

    def idle(self, actor: str, ready: threading.Event) -> None:
        with Connection(self.port, timeout_s=120) as connection:
            connection.ask("/live")
            self.notes.add(actor, "connection opened")
            ready.set()
            connection.wait_closed()
            self.notes.add(actor, "connection closed")

    def stuck(self, actor: str, ready: threading.Event) -> None:
        with suppress(Lost, Refused), Connection(self.port, timeout_s=120) as connection:
            self.notes.add(actor, "endless request sent")
            connection.send("/endless")
            ready.set()
            connection.answer()
        self.notes.add(actor, "endless request cut")

    def keep_alive(self, actor: str, ready: threading.Event) -> None:
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
