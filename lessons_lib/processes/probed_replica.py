"""One real server under a supervisor that probes it, as an orchestrator does."""

import threading
from collections.abc import Callable

from lessons_lib.processes.http_client import Lost, Refused, ask
from lessons_lib.processes.restart_delay import RestartDelay
from lessons_lib.processes.supervisor import Supervisor

__all__ = ["ProbedReplica"]


class ProbedReplica:
    """One server, its supervisor in one thread and its probes in another.

    Args:
        name: "replica 1", …
        options: the server's command line.
        delay: the wait before each restart.
        period_s: time between two probes of one kind, in seconds.
        threshold: failures in a row before something follows.
        began_s: monotonic time in seconds from which events count.
        note: called with the replica's name and "ready", "not ready" or "killed".

    Attributes:
        ready: whether it would get requests now.
    """

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
            *("lessons_lib.processes.server", *options),
            module=True,
            name=name,
            delay=delay,
            grace_ms=2000,
            began_s=began_s,
        )
        self._period_s, self._threshold, self._note = period_s, threshold, note
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self.supervisor.run, daemon=True),
            threading.Thread(target=self._probe, daemon=True),
        ]

    def begin(self) -> None:
        """Start the server, and probe it."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop probing, and then the server."""
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
