"""The spoilt memory with real processes: restarted in place, and started anew."""

from dataclasses import dataclass, field

from lessons_lib.errors import one_of, whole_number
from lessons_lib.events import Event
from lessons_lib.processes.child import Child
from lessons_lib.processes.in_place import RESTARTS

__all__ = ["Corruption", "run_corruption"]


@dataclass(frozen=True, eq=False)
class Corruption:
    """What became of the requests.

    Args:
        served: requests that were answered.
        failed: requests that failed.
        processes: how many processes it took.
        log: "served", "failed" (message: the request's number), "restarted in place", "started"
            (attempt: the number of the process), in order.
    """

    served: int
    failed: int
    processes: int
    log: tuple[Event, ...] = field(repr=False)


def run_corruption(restart: str, *, requests: int = 10, spoils: int = 4) -> Corruption:
    """Let a real worker serve requests, one of which spoils its memory.

    Args:
        restart: what follows a failure: "in place" or "new process".
        requests: how many.
        spoils: number of the request that spoils the memory.
    """
    one_of("restart", restart, RESTARTS)
    requests = whole_number("requests", requests, low=1)
    told, first, processes = [], 1, 0
    while first <= requests:
        processes += 1
        options = ["--restart", restart, "--first", first, "--last", requests, "--spoils", spoils]
        with Child("lessons_lib.processes.in_place", *options, module=True, name="worker") as child:
            child.wait()
            if not child.events:
                raise RuntimeError("\n".join(child.output[-12:]))
            told.append({"event": "started", "at_s": child.events[0]["at_s"]})
            told += child.events
        first = told[-1]["request"] + 1
    log, started = [], 0
    for one in told:
        started += one["event"] == "started"
        at_ms = round((one["at_s"] - told[0]["at_s"]) * 1000)
        log.append(Event(at_ms, "worker", one["event"], one.get("request"), started))
    seen = [event.event for event in log]
    return Corruption(seen.count("served"), seen.count("failed"), processes, tuple(log))
