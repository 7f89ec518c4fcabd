"""The timeline of a shutdown, computed: a pure function, fast enough for sliders."""

from collections.abc import Collection

from lessons_lib.errors import whole_number
from lessons_lib.events import Event
from lessons_lib.processes.parts import checked_parts
from lessons_lib.processes.shutdown_timeline import Shutdown

__all__ = ["simulate_shutdown"]

READY_AT_MS, SLOW_AT_MS = 5, 10  # after "listening", about as in the real run


def simulate_shutdown(
    drain_ms: int = 500,
    limit_ms: int = 3000,
    slow_ms: int = 800,
    grace_ms: int = 10_000,
    without: Collection[str] = (),
    *,
    stuck: bool = False,
    signal_after_ms: int = 100,
    ready_after_ms: int = 200,
) -> Shutdown:
    """Compute what happens to one slow request, one idle connection and the process.

    The events and their names are those of `run_shutdown`. The model's processes take no time
    to start, to stop or to answer; a real one ends some 40 ms later.

    Args:
        drain_ms: how long the server stays open after the signal.
        limit_ms: from the end of the drain window to the cut.
        slow_ms: how long the slow request's work takes.
        grace_ms: from the signal to the supervisor's SIGKILL.
        without: names from `PARTS` to leave out.
        stuck: whether there is also a client that never lets go.
        signal_after_ms: from the slow request to the signal.
        ready_after_ms: from the signal to the readiness probe.
    """
    without = checked_parts(without)
    drain_ms = 0 if "drain" in without else whole_number("drain_ms", drain_ms, low=0)
    limit_ms = whole_number("limit_ms", limit_ms, low=0)
    slow_ms = whole_number("slow_ms", slow_ms, low=0)
    grace_ms = whole_number("grace_ms", grace_ms, low=0)
    signal_ms = SLOW_AT_MS + whole_number("signal_after_ms", signal_after_ms, low=0)
    ready_ms = signal_ms + whole_number("ready_after_ms", ready_after_ms, low=0)

    closes_ms = signal_ms + drain_ms
    answer_ms = SLOW_AT_MS + slow_ms
    # An answer before the signal announces nothing: its client closes by itself.
    held = stuck or "idle closing" in without
    done_ms = None if held else max(closes_ms, answer_ms)
    ends: list[tuple[int, str, int]] = [(signal_ms + grace_ms, "SIGKILL sent", -9)]
    if "handler" in without:
        ends.append((signal_ms, "", -15))
    else:
        if "limit" not in without:
            ends.append((closes_ms + limit_ms, "limit reached", 0))
        if "waiting" in without:
            done_ms = closes_ms
        if done_ms is not None and ("daemon timer" not in without or "limit" in without):
            ends.append((done_ms, "", 0))
    # At the same moment the work that is done wins over the limit, and the limit over the kill.
    end_ms, how, code = min(ends, key=lambda end: (end[0], end[2] == -9, end[1] != ""))
    cut_ms = min(closes_ms, end_ms) if "waiting" in without else end_ms

    answered = answer_ms <= end_ms and not ("waiting" in without and answer_ms > closes_ms)
    answered &= not ("handler" in without and answer_ms >= signal_ms)
    events = [
        Event(0, "server", "listening"),
        Event(READY_AT_MS, "probe", "ready=200"),
        Event(READY_AT_MS, "idle client", "connection opened"),
        *([Event(READY_AT_MS, "stuck client", "endless request sent")] if stuck else []),
        Event(SLOW_AT_MS, "slow request", "slow request sent", 1),
        Event(signal_ms, "supervisor", "SIGTERM sent"),
    ]
    if "handler" not in without:
        events.append(Event(signal_ms, "server", "SIGTERM received"))
        if closes_ms <= end_ms:
            events.append(Event(closes_ms, "server", "no new connections"))
        if done_ms is not None and done_ms <= end_ms and "waiting" not in without:
            events.append(Event(done_ms, "server", "all requests finished"))
    closed_ms = end_ms if "idle closing" in without else min(closes_ms, end_ms)
    events.append(Event(closed_ms, "idle client", "connection closed"))
    heard = ready_ms < min(closes_ms, end_ms)
    events.append(Event(ready_ms, "probe", "ready=503" if heard else "ready=refused"))
    events.append(
        Event(answer_ms, "slow request", "slow request answered", 1)
        if answered
        else Event(cut_ms, "slow request", "slow request lost", 1)
    )
    if how:
        events.append(Event(end_ms, "server" if code == 0 else "supervisor", how))
    if stuck:
        events.append(Event(end_ms, "stuck client", "endless request cut"))
    events.append(Event(end_ms, "supervisor", f"exit code {code}"))
    log = sorted(events, key=lambda e: e.at_ms)  # keeps the order written above for equal times
    return Shutdown(tuple(log), code, grace_ms, 200 if answered else None, 0, 0)
