"""Exercises of notebook 08, liveness and readiness."""

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake
from lessons_lib.processes.probes import probe_load

__all__ = ["answers", "calls_per_second", "least_threshold"]

calls_per_second = Exercise(
    name="probe load",
    right=probe_load(120, 2, 5000),
    cases=[()],
    mistakes=[
        Mistake(24, "that is the load of one kind of probe. How many kinds are there?"),
        Mistake(1200, "a period is something to divide by."),
        Mistake(240, "that is the number of calls in one period. How long is a period?"),
        Mistake(0.048, "the period is in seconds already; do not convert it once more."),
        Mistake(2880, "that is a minute. The question asks for a second."),
    ],
    praise="Replicas × probes / period. If each probe asks a database, all of it lands there.",
)


def _answers(started: bool, stopping: bool, wedged: bool, dependency: bool) -> list[bool]:
    return [not wedged, started and not stopping and not wedged and dependency]


answers = Exercise(
    name="live and ready",
    right=_answers,
    cases=[
        (True, False, False, True),
        (True, False, False, False),
        (True, True, False, True),
        (False, False, False, True),
        (True, False, True, True),
        (True, False, True, False),
        (False, False, False, False),
    ],
    mistakes=[
        Mistake(
            lambda started, stopping, wedged, dependency: [
                not wedged and dependency,
                started and not stopping and not wedged and dependency,
            ],
            "an outage of the dependency must not get this process killed. Which of your two answers does that?",
        ),
        Mistake(
            lambda started, stopping, wedged, dependency: [
                True,
                started and not stopping and not wedged and dependency,
            ],
            "a process that is stuck for good would then never be restarted.",
        ),
        Mistake(
            lambda started, stopping, wedged, dependency: [
                not wedged,
                started and not wedged and dependency,
            ],
            "what must readiness say from the moment of the stop request?",
        ),
        Mistake(
            lambda started, stopping, wedged, dependency: [
                not wedged,
                not stopping and not wedged and dependency,
            ],
            "a process in the middle of its start-up cannot take requests yet.",
        ),
        Mistake(
            lambda started, stopping, wedged, dependency: [
                not wedged and not stopping,
                started and not stopping and not wedged and dependency,
            ],
            "a process that is stopping is still alive: killing it now loses its running requests.",
        ),
        Mistake(
            lambda started, stopping, wedged, dependency: [
                started and not stopping and not wedged and dependency,
                not wedged,
            ],
            "you have the two answers in the other order: liveness comes first.",
        ),
    ],
    praise="Liveness looks inward; readiness looks at the moment.",
)


def _least_threshold(startup_s: int, period_s: int) -> int:
    return startup_s // period_s + 2


least_threshold = Exercise(
    name="startup probe",
    right=_least_threshold,
    cases=[(60, 10), (20, 10), (5, 10), (65, 10), (0, 1), (119, 30)],
    mistakes=[
        Mistake(
            lambda startup_s, period_s: startup_s // period_s,
            "count the probes that may fail by hand, the one at time 0 included.",
        ),
        Mistake(
            lambda startup_s, period_s: startup_s // period_s + 1,
            "that many probes may *fail*, and reaching the threshold kills. The threshold must be out of their reach.",
        ),
        Mistake(
            lambda startup_s, period_s: startup_s,
            "a threshold counts probes, not seconds.",
        ),
        Mistake(
            lambda startup_s, period_s: 3,
            "the default does not know how slow your start-up is.",
        ),
        Mistake(
            lambda startup_s, period_s: startup_s * period_s,
            "a longer period needs fewer probes, not more.",
        ),
    ],
    praise="A startup probe may be patient without making the liveness probe slow.",
)
