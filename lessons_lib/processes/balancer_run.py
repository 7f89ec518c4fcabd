"""The load balancer's experiment with real servers, real probes and real signals."""

import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from lessons_lib.errors import whole_number
from lessons_lib.events import Event
from lessons_lib.processes.balancer import Balanced
from lessons_lib.processes.child import Child
from lessons_lib.processes.http_client import Lost, Refused, ask

__all__ = ["run_balancer"]


def run_balancer(
    drain_ms: int = 500,
    poll_ms: int = 200,
    *,
    replicas: int = 2,
    per_second: int = 100,
    after_poll_ms: int = 10,
    progress: Callable[[str], None] | None = None,
) -> Balanced:
    """Stop one of several real servers behind a small real load balancer, and count what fails.

    Like `simulate_balancer` with one replica stopped; times are real, so the number of failed
    requests varies by one or two. The signal comes `after_poll_ms` after a poll.

    Args:
        drain_ms: how long the replica still takes connections after its signal.
        poll_ms: time between two questions to one replica.
        replicas: how many there are at the start.
        per_second: requests a second, each over a new connection.
        after_poll_ms: how long after a poll the signal comes.
        progress: see `Child`.
    """
    if not hasattr(signal, "SIGKILL"):
        raise ValueError(
            "this system has no signal that asks a process to stop; Linux and macOS have"
        )
    replicas = whole_number("replicas", replicas, low=2)
    whole_number("poll_ms", poll_ms, low=after_poll_ms + 1)
    with ExitStack() as stack:
        children = [
            stack.enter_context(
                Child(
                    "lessons_lib.processes.server",
                    f"--drain-ms={whole_number('drain_ms', drain_ms, low=0)}",
                    module=True,
                    progress=progress,
                )
            )
            for _ in range(replicas)
        ]
        ports = [child.wait_event("listening", timeout_s=20)["port"] for child in children]
        balancer = _Balancer(ports, poll_ms / 1000, per_second)
        try:
            balancer.polled.wait(5)
            time.sleep(after_poll_ms / 1000)
            balancer.note("SIGTERM sent")
            children[0].send_signal(signal.SIGTERM)
            children[0].wait_event("no new connections", timeout_s=drain_ms / 1000 + 10)
            balancer.off.wait(10)
            time.sleep(0.1)
        finally:
            balancer.end()
        closed = next(e for e in children[0].events if e["event"] == "no new connections")
        return balancer.result(closed["at_s"])


class _Balancer:
    """Two threads: one asks the replicas whether they are ready, one sends requests to them."""

    def __init__(self, ports: list[int], poll_s: float, per_second: int) -> None:
        self.polled, self.off, self._over = threading.Event(), threading.Event(), threading.Event()
        self._ports, self._listed = ports, list(ports)
        self._poll_s, self._gap_s = poll_s, 1 / per_second
        self._began_s = time.monotonic()
        self._log: list[tuple[float, str, int | None]] = []
        self._sent = 0
        self._threads = [
            threading.Thread(target=job, daemon=True) for job in (self._poll, self._send)
        ]
        for thread in self._threads:
            thread.start()

    def note(self, event: str, message: int | None = None) -> None:
        self._log.append((time.monotonic(), event, message))

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(5)

    def result(self, closed_s: float) -> Balanced:
        entries = sorted([*self._log, (closed_s, "no new connections", None)], key=lambda e: e[0])
        log = [
            Event(round((at_s - self._began_s) * 1000), "replica 1", event, message)
            for at_s, event, message in entries
        ]
        return Balanced(self._sent, sum(e.event == "request failed" for e in log), tuple(log))

    def _poll(self) -> None:
        round_ = 0
        while not self._over.wait(
            max(0.0, self._began_s + round_ * self._poll_s - time.monotonic())
        ):
            round_ += 1
            for port in list(self._listed):
                if not _good(port, "/ready"):
                    self._listed.remove(port)
                    self.note("off the list")
                    self.off.set()
            if round_ == 2:
                self.polled.set()

    def _send(self) -> None:
        while not self._over.wait(
            max(0.0, self._began_s + self._sent * self._gap_s - time.monotonic())
        ):
            listed = list(self._listed)
            port = listed[self._sent % len(listed)]
            self._sent += 1
            if not _good(port, "/live"):
                self.note("request failed", self._sent)


def _good(port: int, path: str) -> bool:
    try:
        return ask(port, path, timeout_s=2).status == 200
    except (Refused, Lost):
        return False
