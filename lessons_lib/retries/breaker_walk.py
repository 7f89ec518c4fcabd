"""A breaker led through a list of moves, one frame each: what a replay shows and a test can ask."""

from collections.abc import Iterable
from dataclasses import dataclass

from lessons_lib.errors import one_of, whole_number
from lessons_lib.retries.breaker import Breaker, Ticket

__all__ = ["MOVES", "BreakerFrame", "CallMark", "Move", "walk"]

MOVES = ("ask", "success", "failure", "wait")

Move = tuple[int, str, int]
"""(at_ms, one of `MOVES`, number of the call); "wait" lets time pass and has call 0."""


@dataclass(frozen=True)
class CallMark:
    """What is known of one call: when it asked, and how each side took it.

    Args:
        call: its number.
        asked_ms: when it asked for leave.
        leave: "call", "probe" or "refused".
        ended_ms: when its result came, or None while there is none.
        ended: "success" or "failure", or None.
        ignored: whether the result came from an earlier period and counted for nothing.
    """

    call: int
    asked_ms: int
    leave: str
    ended_ms: int | None = None
    ended: str | None = None
    ignored: bool = False


@dataclass(frozen=True)
class BreakerFrame:
    """One moment of a walk.

    Args:
        number: 0 before the first move.
        at_ms: when.
        words: what happened, in a sentence without a full stop.
        state: "closed", "open" or "half-open".
        since_ms: since when.
        in_a_row: failures in a row while closed.
        changes: pairs (from, to) of this move, in order.
        calls: all calls so far.
    """

    number: int
    at_ms: int
    words: str
    state: str
    since_ms: int
    in_a_row: int
    changes: tuple[tuple[str, str], ...]
    calls: tuple[CallMark, ...]


def walk(breaker: Breaker, moves: Iterable[Move]) -> list[BreakerFrame]:
    """Lead a fresh copy of `breaker` through the moves and return a frame for each.

    Args:
        breaker: the settings.
        moves: in order of time. "success" and "failure" report a call that was let through.

    Raises:
        ValueError: an unknown move, or a result of a call that was never let through.
    """
    breaker = breaker.fresh()
    calls: dict[int, CallMark] = {}
    tickets: dict[int, Ticket] = {}
    frames = [BreakerFrame(0, 0, "the breaker is closed", "closed", 0, 0, (), ())]
    in_a_row = 0
    for at_ms, what, call in moves:
        one_of("a move", what, MOVES)
        whole_number("at_ms", at_ms, low=0)
        known = len(breaker.events())
        breaker.state(at_ms)
        words = f"{at_ms - frames[-1].at_ms} ms pass"
        if what == "ask":
            leave = breaker.ask(at_ms)
            names = {"closed": "call", "half-open": "probe"}
            taken = "refused" if leave is None else names[breaker.state(at_ms)]
            calls[call] = CallMark(call, at_ms, taken)
            words = f"call {call} is refused"
            if leave is not None:
                tickets[call] = leave
                words = f"call {call} goes through" + (" as a probe" if taken == "probe" else "")
        elif what != "wait":
            if call not in tickets:
                raise ValueError(f"call {call} was never let through, so it has no result")
            before, ticket = calls[call], tickets[call]
            late = ticket.period != len(breaker.events()) - 1
            breaker.report(ticket, at_ms, what)
            calls[call] = CallMark(call, before.asked_ms, before.leave, at_ms, what, late)
            words = f"call {call} {'succeeds' if what == 'success' else 'fails'}"
            words += ", too late: the result is ignored" if late else ""
            if not late:
                in_a_row = in_a_row + 1 if what == "failure" else 0
        events = breaker.events()
        names = events["event"].tolist()
        new = range(known, len(names))
        in_a_row = 0 if new else in_a_row
        for index in new:
            since = int(events["at_ms"].iloc[index])
            words += f"; {names[index]} from {since} ms"
            words += f" to {since + breaker.pause_ms} ms" if names[index] == "open" else ""
        frames.append(
            BreakerFrame(
                number=len(frames),
                at_ms=at_ms,
                words=words,
                state=names[-1],
                since_ms=int(events["at_ms"].iloc[-1]),
                in_a_row=in_a_row,
                changes=tuple((names[index - 1], names[index]) for index in new),
                calls=tuple(calls.values()),
            )
        )
    return frames
