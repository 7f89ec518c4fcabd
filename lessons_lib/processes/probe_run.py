"""Real replicas, a real supervisor with probes for each, and a real dependency that goes away."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event
from lessons_lib.processes.child import Child
from lessons_lib.processes.http_client import Lost, Refused, ask
from lessons_lib.processes.probe_result import ProbeRun
from lessons_lib.processes.probes import LIVENESS
from lessons_lib.processes.restart_delay import RestartDelay
from lessons_lib.processes.supervisor import Supervisor

__all__ = ["run_probes"]

SERVER = "lessons_lib.processes.server"


def run_probes(
    liveness: str = "own state",
    *,
    replicas: int = 3,
    outage_ms: int = 1500,
    period_ms: int = 200,
    threshold: int = 3,
    startup_ms: int = 300,
    settle_ms: int = 6000,
    delay: RestartDelay | None = None,
) -> ProbeRun:
    """Take a dependency away from real servers for a while, and probe them as a supervisor does.

    Args:
        liveness: what the servers' `/live` looks at: "own state", "dependency", "always ok".
        replicas: how many servers.
        outage_ms: how long the dependency is away; its own start comes on top.
        period_ms: time between two probes of one kind at one server.
        threshold: failures in a row after which a server is restarted, or gets no requests.
        startup_ms: how long a server's start-up takes, besides the start of the process.
        settle_ms: how long to wait at most, after the outage, until all are ready.
        delay: the wait before each restart; the first one is made at once if not given.
    """
    one_of("liveness", liveness, LIVENESS)
    whole_number("replicas", replicas, low=1)
    delay = delay or RestartDelay(500, 2, 5000, 10_000, at_once=1)
    began_s = time.monotonic()
    log: list[Event] = []

    def note(actor: str, event: str) -> int:
        log.append(Event(round((time.monotonic() - began_s) * 1000), actor, event))
        return log[-1].at_ms

    with ExitStack() as stack:
        dependency, port = _dependency(0)
        stack.callback(dependency.close)
        options = ["--dependency", port, "--liveness", liveness, "--startup-ms", startup_ms]
        options += ["--drain-ms", 0, "--limit-ms", 500]
        kept = [
            _Kept(f"replica {n}", options, delay, period_ms / 1000, threshold, began_s, note)
            for n in range(1, replicas + 1)
        ]
        for one in kept:
            stack.callback(one.end)  # in reverse order: the dependency is the last to go
            one.begin()
        _wait_all_ready(kept, 20)
        first = len(log)
        down_ms = note("dependency", "down")
        dependency.close()
        time.sleep(outage_ms / 1000)
        dependency, _ = _dependency(port)
        stack.callback(dependency.close)
        up_ms = note("dependency", "up")
        time.sleep(2 * period_ms / 1000)
        _wait_all_ready(kept, settle_ms / 1000)
    starts = [
        e for one in kept for e in one.supervisor.log if e.event == "started" and e.at_ms > down_ms
    ]
    seen = sorted([*log[first:], *starts], key=lambda event: event.at_ms)
    return ProbeRun(replicas, down_ms, up_ms, tuple(seen))


def _dependency(port: int) -> tuple[Child, int]:
    child = Child(SERVER, "--port", port, module=True, name="dependency")
    try:
        return child, child.wait_event("listening", timeout_s=20)["port"]
    except BaseException:
        child.close()
        raise


def _wait_all_ready(kept: "list[_Kept]", timeout_s: float) -> None:
    until = time.monotonic() + timeout_s
    while not all(one.ready for one in kept) and time.monotonic() < until:
        time.sleep(0.02)


class _Kept:
    """One server, its supervisor in one thread and its probes in another."""

    def __init__(
        self,
        name: str,
        options: list,
        delay: RestartDelay,
        period_s: float,
        threshold: int,
        began_s: float,
        note: Callable[[str, str], int],
    ) -> None:
        self.ready = False
        self.supervisor = Supervisor(
            *(SERVER, *options), module=True, name=name, delay=delay, grace_ms=2000, began_s=began_s
        )
        self._period_s, self._threshold, self._note = period_s, threshold, note
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self.supervisor.run, daemon=True),
            threading.Thread(target=self._probe, daemon=True),
        ]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        self.supervisor.stop()
        for thread in self._threads:
            thread.join(10)

    def _probe(self) -> None:
        not_alive = not_ready = 0
        probed = None
        while not self._over.wait(self._period_s):
            child = self.supervisor.child
            started = child and next((e for e in child.events if e["event"] == "started"), None)
            if not started or child.code is not None:
                self._is_ready(False)
                continue  # no probe before its start-up is done
            if child is not probed:
                probed, not_alive, not_ready = child, 0, 0
            port = child.events[0]["port"]
            if _good(port, "/ready"):
                not_ready = 0
                self._is_ready(True)
            else:
                not_ready += 1
                if not_ready >= self._threshold:
                    self._is_ready(False)
            not_alive = 0 if _good(port, "/live") else not_alive + 1
            if not_alive >= self._threshold and not self._over.is_set():
                self._is_ready(False)
                self._note(self.supervisor.name, "killed")
                self.supervisor.restart("liveness probe failed")
                while self.supervisor.child is child and not self._over.wait(0.01):
                    pass

    def _is_ready(self, ready: bool) -> None:
        if ready != self.ready:
            self.ready = ready
            self._note(self.supervisor.name, "ready" if ready else "not ready")


def _good(port: int, path: str) -> bool:
    try:
        return ask(port, path, timeout_s=1).status == 200
    except (Refused, Lost):
        return False
