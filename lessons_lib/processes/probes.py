"""Replicas, their probes and a dependency that is away for a while, in virtual time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event
from lessons_lib.processes.liveness import LIVENESS
from lessons_lib.processes.probe_result import ProbeRun
from lessons_lib.processes.restart_delay import KUBERNETES, RestartDelay

__all__ = ["Probes", "probe_load", "simulate_probes"]

LEAD_MS = 30_000


@dataclass(frozen=True)
class Probes:
    """What is asked of each replica, and what follows from the answers.

    Args:
        liveness: what the liveness probe looks at: the process's "own state", a "dependency", or
            nothing ("always ok").
        period_ms: time between two liveness probes.
        threshold: liveness failures in a row after which the replica is killed and restarted.
        readiness_period_ms: time between two readiness probes; these ask for the dependency.
        readiness_threshold: failures in a row after which a replica gets no more requests. One
            success brings it back.
        startup_ms: how long a start-up takes. Until its end no probe is made.
        startup_needs_dependency: whether a start-up that ends during the outage is a crash.
        delay: the wait before each restart.
    """

    liveness: str = "own state"
    period_ms: int = 10_000
    threshold: int = 3
    readiness_period_ms: int = 10_000
    readiness_threshold: int = 3
    startup_ms: int = 20_000
    startup_needs_dependency: bool = False
    delay: RestartDelay = KUBERNETES

    def __post_init__(self) -> None:
        one_of("liveness", self.liveness, tuple(LIVENESS))
        for name in ("period_ms", "threshold", "readiness_period_ms", "readiness_threshold"):
            whole_number(name, getattr(self, name), low=1)
        whole_number("startup_ms", self.startup_ms, low=0)


def simulate_probes(
    probes: Probes | None = None,
    *,
    rng: Any,
    replicas: int = 10,
    outage_ms: int = 45_000,
    wedged: int = 0,
) -> ProbeRun:
    """Let a dependency fail for a while, and follow each replica until it is ready again.

    Before the outage all are ready. Each replica's probes have a random moment of their own.
    A wedged replica is one whose own state the outage has spoilt for good: its pool of
    connections never recovers. It is not ready any more; a liveness probe of its own state
    notices once the dependency answers and the pool still does not.

    Args:
        probes: what is asked.
        rng: anything with `.random()`, such as a NumPy `Generator`.
        replicas: how many.
        outage_ms: how long the dependency is away.
        wedged: how many replicas are wedged by the outage.
    """
    probes = probes or Probes()
    replicas = whole_number("replicas", replicas, low=1)
    outage_ms = whole_number("outage_ms", outage_ms, low=0)
    wedged = whole_number("wedged", wedged, low=0, high=replicas)
    down, up = LEAD_MS, LEAD_MS + outage_ms
    log = [Event(down, "dependency", "down"), Event(up, "dependency", "up")]
    for n in range(1, replicas + 1):
        log += _replica(f"replica {n}", probes, down, up, n <= wedged, rng)
    return ProbeRun(replicas, down, up, tuple(sorted(log, key=lambda event: event.at_ms)))


def _replica(
    name: str, probes: Probes, down: int, up: int, wedged: bool, rng: Any
) -> Iterator[Event]:
    """Yield what happens to one replica; a new life begins with each restart."""
    if down == up:
        return
    since, begun, crashes, ready = down, down - probes.delay.reset_after_ms, 0, True
    while True:
        asks_live = since + int(rng.random() * probes.period_ms)
        asks_ready = since + int(rng.random() * probes.readiness_period_ms)
        killed = _killed(probes, asks_live, up, wedged)
        if ready:
            leaves = asks_ready + (probes.readiness_threshold - 1) * probes.readiness_period_ms
            if (wedged or leaves < up) and (killed is None or leaves < killed):
                ready = False
                yield Event(leaves, name, "not ready")
        if not ready and not wedged:
            back = _first(asks_ready, probes.readiness_period_ms, up)
            if killed is None or back < killed:
                ready = True
                yield Event(back, name, "ready")
        if killed is None:
            return
        if ready:
            yield Event(killed, name, "not ready")
        yield Event(killed, name, "killed")
        ready = wedged = False  # a new process has a new memory
        while True:
            crashes = 1 if killed - begun >= probes.delay.reset_after_ms else crashes + 1
            begun = killed + probes.delay.wait_ms(crashes)
            since = begun + probes.startup_ms
            yield Event(begun, name, "started", None, crashes)
            if not (probes.startup_needs_dependency and down <= since < up):
                break
            yield Event(since, name, "crashed", None, crashes)
            killed = since


def _killed(probes: Probes, asks: int, up: int, wedged: bool) -> int | None:
    """Return when the liveness probe has failed often enough, or None if it never does."""
    more = (probes.threshold - 1) * probes.period_ms
    if probes.liveness == "dependency" and asks + more < up:
        return asks + more
    if probes.liveness == "own state" and wedged:
        return _first(asks, probes.period_ms, up) + more
    return None


def _first(asks: int, period_ms: int, from_ms: int) -> int:
    """Return the first probe at or after a moment."""
    return asks + max(0, -(-(from_ms - asks) // period_ms)) * period_ms


def probe_load(replicas: int, probes: int, period_ms: int) -> float:
    """Return calls a second that probes make, or cause at whatever each of them asks in turn.

    Args:
        replicas: how many are probed.
        probes: kinds of probes, such as 2 for liveness and readiness.
        period_ms: time between two of a kind at one replica.
    """
    replicas = whole_number("replicas", replicas, low=0)
    probes = whole_number("probes", probes, low=0)
    return replicas * probes * 1000 / whole_number("period_ms", period_ms, low=1)
