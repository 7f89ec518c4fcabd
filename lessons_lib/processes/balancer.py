"""A load balancer that asks every replica whether it is ready, and how late it learns of a stop."""

from dataclasses import dataclass, field

from lessons_lib.errors import whole_number
from lessons_lib.events import Event

__all__ = ["Balanced", "simulate_balancer"]


@dataclass(frozen=True, eq=False)
class Balanced:
    """What became of the requests while replicas were stopped one after another.

    Args:
        sent: requests sent.
        failed: requests that were sent to a replica which no longer took connections.
        log: "SIGTERM sent", "off the list", "no new connections", "request failed", in order.
    """

    sent: int
    failed: int
    log: tuple[Event, ...] = field(repr=False)


def simulate_balancer(
    drain_ms: int = 500,
    poll_ms: int = 200,
    *,
    replicas: int = 3,
    stopped: int = 1,
    per_second: int = 200,
    polls: int = 1,
    after_poll_ms: int = 10,
    every_ms: int = 1000,
) -> Balanced:
    """Compute which requests are lost when replicas behind a load balancer are stopped.

    The balancer asks each replica's `/ready` every `poll_ms` and spreads requests, each over a
    new connection, in turn over the replicas on its list. It does not repeat a request. A
    replica it does not know to be stopping gets its share, and can answer until its drain
    window is over.

    Args:
        drain_ms: how long a replica still takes connections after its signal.
        poll_ms: time between two questions to one replica.
        replicas: how many there are at the start.
        stopped: how many of them are stopped, one every `every_ms`; at least one stays.
        per_second: requests a second.
        polls: answers of "not ready" in a row that it takes to be taken off the list.
        after_poll_ms: how long after a poll the signal comes. 1 is the worst moment, `poll_ms`
            the best.
        every_ms: time between two signals.
    """
    drain_ms = whole_number("drain_ms", drain_ms, low=0)
    poll_ms = whole_number("poll_ms", poll_ms, low=1)
    replicas = whole_number("replicas", replicas, low=2)
    stopped = whole_number("stopped", stopped, low=1, high=replicas - 1)
    per_second = whole_number("per_second", per_second, low=1)
    polls = whole_number("polls", polls, low=1)
    after_poll_ms = whole_number("after_poll_ms", after_poll_ms, low=1)
    every_ms = whole_number("every_ms", every_ms, low=1)

    signal_ms, closed_ms, known_ms, log = {}, {}, {}, []
    for n in range(1, stopped + 1):
        asked_ms = -(-(n - 1) * every_ms // poll_ms) * poll_ms + poll_ms
        signal_ms[n] = asked_ms + after_poll_ms
        closed_ms[n] = signal_ms[n] + drain_ms
        known_ms[n] = (signal_ms[n] // poll_ms + polls) * poll_ms
        log += [
            Event(signal_ms[n], f"replica {n}", "SIGTERM sent"),
            Event(closed_ms[n], f"replica {n}", "no new connections"),
            Event(known_ms[n], f"replica {n}", "off the list"),
        ]
    until_ms = max(max(closed_ms.values()), max(known_ms.values())) + poll_ms
    sent = failed = turn = 0
    while (at_ms := sent * 1000 // per_second) < until_ms:
        sent += 1
        listed = [n for n in range(1, replicas + 1) if at_ms < known_ms.get(n, until_ms)]
        replica, turn = listed[turn % len(listed)], turn + 1
        if at_ms >= closed_ms.get(replica, until_ms):
            failed += 1
            log.append(Event(at_ms, f"replica {replica}", "request failed", sent))
    return Balanced(sent, failed, tuple(sorted(log, key=lambda event: event.at_ms)))
