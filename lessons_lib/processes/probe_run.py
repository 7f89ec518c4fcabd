"""Real replicas, a real supervisor with probes for each, and a real dependency that goes away."""

import time
from contextlib import ExitStack

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event
from lessons_lib.processes.child import Child
from lessons_lib.processes.liveness import LIVENESS
from lessons_lib.processes.probe_result import ProbeRun
from lessons_lib.processes.probed_replica import ProbedReplica
from lessons_lib.processes.restart_delay import RestartDelay

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
    one_of("liveness", liveness, tuple(LIVENESS))
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
            ProbedReplica(
                f"replica {n}", options, delay, period_ms / 1000, threshold, began_s, note
            )
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


def _wait_all_ready(kept: list[ProbedReplica], timeout_s: float) -> None:
    until = time.monotonic() + timeout_s
    while not all(one.ready for one in kept) and time.monotonic() < until:
        time.sleep(0.02)
