"""Exercises of notebook 03, jitter."""

import math

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake

__all__ = ["equal_wait", "first_peak", "next_wait"]


def _equal(scheduled_ms: int, u: float) -> int:
    return math.floor(scheduled_ms * (0.5 + u / 2) + 0.5)


equal_wait = Exercise(
    name="equal jitter",
    right=_equal,
    cases=[(1, 0.0), (1000, 0.0), (1000, 0.25), (1000, 0.999), (30000, 0.5), (501, 0.5), (1, 0.9)],
    mistakes=[
        Mistake(
            lambda scheduled_ms, u: math.floor(scheduled_ms * u + 0.5),
            "that is full jitter: with u = 0 nobody waits at all. Which half is certain here?",
        ),
        Mistake(
            lambda scheduled_ms, u: math.floor(scheduled_ms * (1 + u) + 0.5),
            "your waits run from once to twice the scheduled wait. They must stay under it.",
        ),
        Mistake(
            lambda scheduled_ms, u: math.floor(scheduled_ms * (0.5 + u) + 0.5),
            "the random part is a whole wait wide. With u near 1 you wait longer than scheduled.",
        ),
        Mistake(
            lambda scheduled_ms, u: scheduled_ms * (0.5 + u / 2),
            "the range is right, but a wait is a whole number of milliseconds. Round half up.",
        ),
        Mistake(
            lambda scheduled_ms, u: int(scheduled_ms * (0.5 + u / 2)),
            "`int` cuts the fraction off. Rounding half up needs one more step.",
        ),
        Mistake(
            lambda scheduled_ms, u: math.floor(scheduled_ms / 2 + 0.5),
            "every consumer waits the same half: u does not appear, and the waves stay.",
        ),
    ],
    praise="Half is certain, half is drawn: nobody comes back at once, and nobody later than scheduled.",
)


def _next(base_ms: int, cap_ms: int, previous_ms: int, u: float) -> int:
    return min(cap_ms, math.floor(base_ms + u * (3 * previous_ms - base_ms) + 0.5))


next_wait = Exercise(
    name="decorrelated jitter",
    right=_next,
    cases=[
        (500, 30000, 500, 0.0),
        (500, 30000, 500, 0.5),
        (500, 30000, 8000, 0.25),
        (500, 30000, 20000, 0.9),
        (100, 2000, 1999, 0.999),
    ],
    mistakes=[
        Mistake(
            lambda base_ms, cap_ms, previous_ms, u: math.floor(
                base_ms + u * (min(cap_ms, 3 * previous_ms) - base_ms) + 0.5
            ),
            "you cut the upper bound before the draw. A good idea, and one library does it, but "
            "the published figures cut after the draw.",
        ),
        Mistake(
            lambda base_ms, cap_ms, previous_ms, u: math.floor(
                base_ms + u * (3 * previous_ms - base_ms) + 0.5
            ),
            "your wait can pass the cap. Try a long previous wait with u near 1.",
        ),
        Mistake(
            lambda base_ms, cap_ms, previous_ms, u: min(
                cap_ms, math.floor(u * 3 * previous_ms + 0.5)
            ),
            "your range begins at 0. Where must the shortest wait lie?",
        ),
        Mistake(
            lambda base_ms, cap_ms, previous_ms, u: min(
                cap_ms, math.floor(previous_ms + u * (2 * previous_ms) + 0.5)
            ),
            "your range begins at the previous wait, so waits can only grow. The formula begins at the base.",
        ),
        Mistake(
            lambda base_ms, cap_ms, previous_ms, u: min(
                cap_ms, math.floor(base_ms + u * 3 * previous_ms + 0.5)
            ),
            "the range is too wide by one base: it must end at three times the previous wait.",
        ),
    ],
    praise="Only the previous wait is remembered. That is all the state decorrelated jitter has.",
)

first_peak = Exercise(
    name="first peak",
    right=2000,
    cases=[()],
    mistakes=[
        Mistake(10000, "that is the fleet. Full jitter spreads the first retry over a whole wait."),
        Mistake(1000, "how many buckets of 100 ms lie between 0 and 500 ms?"),
        Mistake(200, "check the width: the wait is 500 ms and a bucket 100 ms."),
        Mistake(20, "that is the share in per cent; the question asks for retries."),
        Mistake(50000, "did you multiply by the number of buckets? They share the fleet."),
    ],
    praise="10 000 consumers over five buckets. The lab shows more in them: second retries already "
    "fall there.",
)
