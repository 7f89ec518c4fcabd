"""Exercises of notebook 05, circuit breakers."""

from collections.abc import Callable

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake

__all__ = ["leave", "shortest_pause", "wasted_calls"]

wasted_calls = Exercise(
    name="wasted calls",
    right=11,
    cases=[()],
    mistakes=[
        Mistake(5, "those opened the breaker. Does nobody ask again while the service is down?"),
        Mistake(6, "those are the probes. Something had to open the breaker first."),
        Mistake(
            35,
            "a half-open breaker needs one failure to open again, not a whole threshold of them.",
        ),
        Mistake(12, "the last probe comes after the outage. Is that call wasted?"),
        Mistake(10, "one probe is missing: list their moments, up to the end of the outage."),
        Mistake(650, "that is without a breaker."),
    ],
    praise="A threshold once, and then one call a pause.",
)


def _leave(state: str, since_ms: int, now_ms: int, pause_ms: int, probes: int, permits: int) -> str:
    if state == "closed":
        return "call"
    if state == "open" and now_ms < since_ms + pause_ms:
        return "refuse"
    if state == "half-open" and probes >= permits:
        return "refuse"
    return "probe"


def _with(**changed: Callable[..., str]) -> Callable[..., str]:
    def answer(state: str, *rest: int) -> str:
        return changed.get(state.replace("-", "_"), _leave)(state, *rest)

    return answer


leave = Exercise(
    name="leave to call",
    right=_leave,
    cases=[
        ("closed", 0, 50_000, 5000, 0, 1),
        ("open", 1000, 3000, 5000, 0, 1),
        ("open", 1000, 5999, 5000, 0, 1),
        ("open", 1000, 6000, 5000, 0, 1),
        ("open", 1000, 9000, 5000, 0, 3),
        ("half-open", 6000, 6000, 5000, 0, 1),
        ("half-open", 6000, 6050, 5000, 1, 1),
        ("half-open", 6000, 6050, 5000, 2, 3),
        ("half-open", 6000, 6050, 5000, 3, 3),
        ("half-open", 6000, 6050, 5000, 4, 3),
    ],
    mistakes=[
        Mistake(
            _with(open=lambda s, since, now, pause, *_: "probe" if now > since + pause else "refuse"),
            "on the very millisecond at which the pause ends you still refuse.",
        ),
        Mistake(
            _with(open=lambda s, since, now, pause, *_: "call" if now >= since + pause else "refuse"),
            "after the pause everybody goes through as if nothing had happened. How many may?",
        ),
        Mistake(
            _with(open=lambda *_: "refuse"),
            "your breaker never leaves the open state. What is the pause for?",
        ),
        Mistake(
            _with(open=lambda s, since, now, pause, *_: "probe" if now >= pause else "refuse"),
            "the pause is counted from the opening, not from the beginning of time.",
        ),
        Mistake(
            _with(half_open=lambda s, a, b, c, probes, permits: "probe" if probes <= permits else "refuse"),
            "with all permits given out you give one more. Count what happens at `probes == permits`.",
        ),
        Mistake(
            _with(half_open=lambda *_: "probe"),
            "twenty calls at the same moment would all be probes. Where are the permits?",
        ),
        Mistake(
            _with(half_open=lambda s, a, b, c, probes, permits: "probe" if probes == 0 else "refuse"),
            "right for one permit. Some breakers have several.",
        ),
    ],
    praise="Three states, one clock and one count: the whole of `ask`.",
)  # fmt: skip


def _wasted(outage_ms: int, threshold: int, pause_ms: int) -> int:
    return threshold + len(range(pause_ms, outage_ms, pause_ms))


def _pause(
    outage_ms: int,
    threshold: int,
    most: int,
    wasted: Callable[..., int] = _wasted,
    pick: object = min,
) -> int:
    fits = [p for p in range(1000, 61_000, 1000) if wasted(outage_ms, threshold, p) <= most]
    return pick(fits) if fits else 0


shortest_pause = Exercise(
    name="shortest pause",
    right=_pause,
    cases=[(60_000, 5, 10), (60_000, 5, 16), (65_000, 3, 9), (10_000, 5, 5), (30_000, 1, 4), (60_000, 8, 7), (300_000, 5, 10)],
    mistakes=[
        Mistake(
            lambda outage_ms, threshold, most: _pause(outage_ms, threshold, most, pick=max),
            "few calls are wasted, but the consumer stands still longer than it must. Which end of the range?",
        ),
        Mistake(
            lambda outage_ms, threshold, most: _pause(outage_ms, 0, most),
            "the calls that open the breaker are wasted too.",
        ),
        Mistake(
            lambda outage_ms, threshold, most: _pause(
                outage_ms, threshold, most, lambda o, t, p: t + o // p
            ),
            "a probe at the very end of the outage meets a healthy service. You count it as wasted.",
        ),
        Mistake(
            lambda outage_ms, threshold, most: _pause(
                outage_ms, threshold, most, lambda o, t, p: t * (1 + len(range(p, o, p)))
            ),
            "a half-open breaker opens again at the first failure, not after a whole threshold.",
        ),
        Mistake(
            lambda outage_ms, threshold, most: _pause(outage_ms, threshold, most - 1),
            "exactly as many as allowed is allowed.",
        ),
        Mistake(
            lambda outage_ms, threshold, most: _pause(outage_ms, threshold, most) or 60_000,
            "if the threshold alone wastes too many, no pause helps. The text says what to return then.",
        ),
    ],
    praise="The pause is a price: every second longer saves the service a probe and costs you a second of standstill.",
)  # fmt: skip
