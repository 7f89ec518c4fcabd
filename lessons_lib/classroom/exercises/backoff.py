"""Exercises of notebook 02, backoff schedules."""

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake
from lessons_lib.retries.schedules import Exponential
from lessons_lib.retries.time_budget import attempts_within

__all__ = ["capped_wait", "extra_calls", "pick_cap"]


def _capped(base_ms: int, cap_ms: int, attempt: int) -> int:
    return Exponential(base_ms, 2, cap_ms).wait(attempt)


capped_wait = Exercise(
    name="capped wait",
    right=_capped,
    cases=[
        (500, 30000, 1),
        (500, 30000, 6),
        (500, 30000, 7),
        (100, 50, 1),
        (250, 1000, 3),
        (250, 1000, 4),
    ],
    mistakes=[
        Mistake(
            lambda base_ms, cap_ms, attempt: min(cap_ms, base_ms * 2**attempt),
            "your first wait is already doubled. Which power of two must attempt 1 have?",
        ),
        Mistake(
            lambda base_ms, cap_ms, attempt: base_ms * 2 ** (attempt - 1),
            "nothing stops your waits from growing. Look at attempt 7 of the published table.",
        ),
        Mistake(
            lambda base_ms, cap_ms, attempt: max(cap_ms, base_ms * 2 ** (attempt - 1)),
            "your waits are never below the cap. A cap is the longest wait, not the shortest.",
        ),
        Mistake(
            lambda base_ms, cap_ms, attempt: min(cap_ms, base_ms) * 2 ** (attempt - 1),
            "you cut the base and double afterwards. In which order must the two steps happen?",
        ),
        Mistake(
            lambda base_ms, cap_ms, attempt: min(cap_ms, base_ms * attempt),
            "your waits grow by the same step each time. Exponential waits double.",
        ),
        Mistake(
            lambda base_ms, cap_ms, attempt: (
                base_ms * 2 ** (attempt - 1) if base_ms * 2 ** (attempt - 1) < cap_ms else 0
            ),
            "beyond the cap you do not wait at all. What should the longest wait be?",
        ),
    ],
    praise="The cap comes last: first grow, then cut.",
)

extra_calls = Exercise(
    name="extra calls",
    right=8,
    cases=[()],
    mistakes=[
        Mistake(7, "you counted the retries. Does the first call reach the service too?"),
        Mistake(9, "is there a retry at the end of the budget that does not fit?"),
        Mistake(6, "list the moments: 1, 3, 7 … seconds. How many are within 120 s? Then add what began it all."),
        Mistake(120, "that is the budget in seconds. The question is how many calls the service sees."),
    ],
    praise="Seven retries fit, and the first call came before them: eight calls. "
    "Say which of the two a number counts.",
)  # fmt: skip


def _fits(cap_ms: int) -> int | None:
    return attempts_within(Exponential(500, 2, cap_ms), 300000).attempts


def _largest_cap(at_least: int) -> int:
    return max(cap for cap in range(1000, 61000, 1000) if _fits(cap) >= at_least)


pick_cap = Exercise(
    name="pick a cap",
    right=_largest_cap,
    cases=[(14,), (20,), (30,), (60,)],
    mistakes=[
        Mistake(
            lambda at_least: min(c for c in range(1000, 61000, 1000) if _fits(c) >= at_least),
            "that cap fits, and so does a larger one. Which end of the range is asked for?",
        ),
        Mistake(
            lambda at_least: max(c for c in range(1000, 61000, 1000) if _fits(c) > at_least),
            "“at least” includes the number itself. Look at your comparison.",
        ),
        Mistake(
            lambda at_least: min(c for c in range(1000, 61000, 1000) if _fits(c) < at_least),
            "your cap is the first that no longer fits. One step back?",
        ),
        Mistake(
            lambda at_least: _largest_cap(at_least) // 1000,
            "the number looks right, its unit does not. The cap is asked for in milliseconds.",
        ),
    ],
    praise="A larger cap spares the service; a smaller one buys attempts. You chose the "
    "gentlest cap that still gives the attempts you need.",
)
