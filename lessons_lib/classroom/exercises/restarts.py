"""Exercises of notebook 09, the restart contract."""

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake
from lessons_lib.processes.restart_delay import RestartDelay

__all__ = ["next_wait", "reset_after", "starts_again"]


def _restarts(code: int) -> bool:
    return code not in (0, 78)


starts_again = Exercise(
    name="starts again",
    right=_restarts,
    cases=[(0,), (1,), (2,), (78,), (3,), (-9,), (-11,), (255,)],
    mistakes=[
        Mistake(lambda code: True, "two kinds of end are final. A wanted stop, for one."),
        Mistake(lambda code: False, "then nothing ever recovers from a crash."),
        Mistake(
            lambda code: code != 0,
            "a configuration that is wrong stays wrong, however often it is read. It has a code.",
        ),
        Mistake(
            lambda code: code != 78,
            "a process that ended because it was asked to has a code of its own, too.",
        ),
        Mistake(
            lambda code: code > 0 and code != 78,
            "a negative code is a process ended by a signal, such as a segmentation fault. Did that get better by waiting?",
        ),
        Mistake(
            lambda code: code in (0, 78),
            "that is the question the other way round: it is true where there is no restart.",
        ),
    ],
    praise="Two codes are final, and everything else, a signal included, is a crash.",
)


def _next_wait(crashes: int, first_ms: int, cap_ms: int) -> int:
    return RestartDelay(first_ms, 2, cap_ms).wait_ms(crashes)


next_wait = Exercise(
    name="next restart wait",
    right=_next_wait,
    cases=[(1, 100, 60_000), (2, 100, 60_000), (5, 100, 60_000), (12, 100, 60_000), (3, 500, 900)],
    mistakes=[
        Mistake(
            lambda crashes, first_ms, cap_ms: first_ms * 2 ** (crashes - 1),
            "try twelve crashes. Is anybody willing to wait that long?",
        ),
        Mistake(
            lambda crashes, first_ms, cap_ms: min(cap_ms, first_ms * 2**crashes),
            "look at the very first crash: you have doubled once too often.",
        ),
        Mistake(
            lambda crashes, first_ms, cap_ms: min(cap_ms, first_ms * crashes),
            "yours grows by the same amount each time. This one doubles.",
        ),
        Mistake(
            lambda crashes, first_ms, cap_ms: max(cap_ms, first_ms * 2 ** (crashes - 1)),
            "of two numbers the cap must be the *upper* bound. Which function gives the smaller one?",
        ),
        Mistake(
            lambda crashes, first_ms, cap_ms: first_ms,
            "a fixed delay does not look at the number of crashes at all.",
        ),
    ],
    praise="Doubling makes a storm short, and the cap keeps the way back short.",
)


def _reset_after(crash_times_ms: list[int]) -> int:
    return 2 * max(crash_times_ms)


reset_after = Exercise(
    name="healthy after",
    right=_reset_after,
    cases=[([500, 40, 900],), ([50],), ([2000, 2000],), ([30_000, 100, 700, 5000],)],
    mistakes=[
        Mistake(
            lambda times: max(times),
            "the slowest crash then counts as healthy, at the very moment it crashes. Leave the room that was asked for.",
        ),
        Mistake(
            lambda times: 2 * sum(times) / len(times),
            "a mean hides the slowest crash, and that one resets the delay.",
        ),
        Mistake(
            lambda times: 2 * min(times),
            "that is twice the *fastest* crash; every slower one counts as healthy.",
        ),
        Mistake(
            lambda times: max(times) // 2,
            "shorter than the crash takes means that every crash is the first one.",
        ),
        Mistake(
            lambda times: 2 * sum(times),
            "the crashes do not follow each other inside one life. Look at each by itself.",
        ),
        Mistake(
            lambda times: 2 * times[-1],
            "the last crash seen is not the slowest one in every list.",
        ),
    ],
    praise="Only a life longer than any known crash is evidence of health.",
)
