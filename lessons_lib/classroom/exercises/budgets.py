"""Exercises of notebook 04, budgets and the visibility timeout."""

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake
from lessons_lib.retries.budgets import Budget, RetryAt
from lessons_lib.retries.course import course_of
from lessons_lib.retries.schedules import Exponential

__all__ = ["isolated_at", "largest_prefetch", "next_start"]

isolated_at = Exercise(
    name="isolated at",
    right=course_of(Exponential(1000), Budget(6, 20_000)).ended_ms,
    cases=[()],
    mistakes=[
        Mistake(
            31_000,
            "that attempt would start after the time budget. Who decides, and when, that it is not made?",
        ),
        Mistake(
            20_000,
            "nobody sits and waits for the end of the budget. At which failure is it clear that the next attempt comes too late?",
        ),
        Mistake(
            5, "that is a number of attempts. The question asks for a moment, in milliseconds."
        ),
        Mistake(15, "the unit is wrong: milliseconds are wanted."),
        Mistake(
            7000,
            "one more attempt fits. Add up the waits 1, 2, 4, 8 s and compare each sum with the budget.",
        ),
        Mistake(
            63_000,
            "you counted six waits after the first attempt and left the time budget out.",
        ),
    ],
    praise="The verdict falls when an attempt fails, not when the budget is over: nobody sleeps towards a deadline that is already lost.",
)


def _next_start(attempt: int, now_ms: int, wait_ms: int, attempts: int, time_ms: int) -> int:
    verdict = Budget(attempts, time_ms).verdict(attempt=attempt, now_ms=now_ms, wait_ms=wait_ms)
    return verdict.at_ms if isinstance(verdict, RetryAt) else -1


next_start = Exercise(
    name="next start",
    right=_next_start,
    cases=[
        (1, 0, 500, 5, 60_000),
        (5, 7_500, 8_000, 5, 60_000),
        (6, 7_500, 8_000, 5, 60_000),
        (4, 52_000, 8_000, 5, 60_000),
        (4, 52_001, 8_000, 5, 60_000),
        (1, 100, 90_000, 5, 60_000),
        (3, 61_000, 500, 5, 60_000),
        (1, 0, 0, 1, 60_000),
    ],
    mistakes=[
        Mistake(
            lambda attempt, now_ms, wait_ms, attempts, time_ms: (
                now_ms + wait_ms if now_ms + wait_ms <= time_ms else -1
            ),
            "only the time ends your message. What about its count?",
        ),
        Mistake(
            lambda attempt, now_ms, wait_ms, attempts, time_ms: (
                now_ms + wait_ms if attempt < attempts else -1
            ),
            "only the count ends your message. What about its time?",
        ),
        Mistake(
            lambda attempt, now_ms, wait_ms, attempts, time_ms: (
                now_ms + wait_ms if attempt < attempts and now_ms <= time_ms else -1
            ),
            "you look at the attempt that has failed. Your consumer sleeps across the deadline and tries once more.",
        ),
        Mistake(
            lambda attempt, now_ms, wait_ms, attempts, time_ms: (
                now_ms + wait_ms if attempt <= attempts and now_ms + wait_ms <= time_ms else -1
            ),
            "you make one attempt too many. When attempt 5 of 5 has failed, is there a sixth?",
        ),
        Mistake(
            lambda attempt, now_ms, wait_ms, attempts, time_ms: (
                now_ms + wait_ms if attempt < attempts and now_ms + wait_ms < time_ms else -1
            ),
            "an attempt may start on the very last millisecond of the budget.",
        ),
        Mistake(
            lambda attempt, now_ms, wait_ms, attempts, time_ms: (
                now_ms + wait_ms if attempt < attempts or now_ms + wait_ms <= time_ms else -1
            ),
            "with `or` the message goes on until both budgets are used up. The first one must end it.",
        ),
    ],
    praise="Both bounds are asked before the sleep, and the first one reached ends the message.",
)


def _largest_prefetch(visibility_ms: int, work_ms: int, wait_ms: int) -> int:
    return (visibility_ms - 1) // work_ms


largest_prefetch = Exercise(
    name="largest prefetch",
    right=_largest_prefetch,
    cases=[
        (30_000, 5_000, 10_000),
        (30_000, 4_000, 60_000),
        (30_001, 5_000, 0),
        (30_000, 29_999, 1_000),
        (30_000, 30_000, 0),
        (10_000, 45_000, 5_000),
    ],
    mistakes=[
        Mistake(
            lambda visibility_ms, work_ms, wait_ms: visibility_ms // work_ms,
            "the last acknowledgement of your batch may come on the very millisecond on which its receipt expires.",
        ),
        Mistake(
            lambda visibility_ms, work_ms, wait_ms: (visibility_ms - 1) // (work_ms + wait_ms),
            "that is for a consumer that holds while it waits. Where does a released message wait?",
        ),
        Mistake(
            lambda visibility_ms, work_ms, wait_ms: max(1, (visibility_ms - 1) // work_ms),
            "if the work alone takes as long as the timeout, no prefetch is safe. What is the answer then?",
        ),
        Mistake(
            lambda visibility_ms, work_ms, wait_ms: (visibility_ms - 1) // work_ms - 1,
            "you leave one place empty that could be used. Check by hand: when is the last message of the batch done?",
        ),
        Mistake(
            lambda visibility_ms, work_ms, wait_ms: (visibility_ms - 1) // work_ms + 1,
            "the last message of your batch *starts* in time. It must also be acknowledged in time.",
        ),
        Mistake(
            lambda visibility_ms, work_ms, wait_ms: (visibility_ms - 1) / work_ms,
            "a number of messages is whole.",
        ),
    ],
    praise="The timeout runs from the receive, so the whole batch shares it. The wait does not count: it is spent in the queue.",
)
