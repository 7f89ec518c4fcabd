"""Exercises of notebook 07, graceful shutdown."""

from collections.abc import Callable

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake

__all__ = ["drain_and_limit", "gone_after", "phase_of"]

WHAT = ("/ready answers 503", "listening socket closes", "idle connections close",
        "running requests finish", "stuck connections are cut")  # fmt: skip


def _phases(*numbers: int) -> Callable[[str], int]:
    return dict(zip(WHAT, numbers, strict=True)).__getitem__


phase_of = Exercise(
    name="which phase",
    right=_phases(1, 2, 2, 3, 4),
    cases=[(what,) for what in WHAT],
    mistakes=[
        Mistake(
            _phases(1, 1, 2, 3, 4),
            "a balancer that has not asked yet still sends new connections. May the socket close at the signal?",
        ),
        Mistake(
            _phases(1, 2, 3, 3, 4),
            "an idle connection carries no request. Is there anything to finish on it?",
        ),
        Mistake(
            _phases(2, 1, 1, 3, 4),
            "nobody can be told 503 over a socket that is closed. What must come first?",
        ),
        Mistake(
            _phases(1, 2, 2, 4, 3),
            "whoever is cut first has nothing left to finish.",
        ),
        Mistake(
            _phases(1, 2, 2, 3, 3),
            "waiting for the last answer and ending the wait are two different things.",
        ),
    ],
    praise="Tell, close, finish, cut: each phase makes the next one cheap.",
)


def _gone_after(drain_ms: int, limit_ms: int, grace_ms: int, left_ms: int) -> int:
    return min(max(drain_ms, left_ms), drain_ms + limit_ms, grace_ms)


gone_after = Exercise(
    name="when it is gone",
    right=_gone_after,
    cases=[
        (500, 3000, 10_000, 700),
        (500, 3000, 10_000, 200),
        (500, 3000, 10_000, 9000),
        (500, 3000, 2000, 9000),
        (500, 1000, 2000, 1200),
        (3000, 1000, 2000, 0),
        (0, 1000, 5000, 0),
    ],
    mistakes=[
        Mistake(
            lambda drain_ms, limit_ms, grace_ms, left_ms: min(
                drain_ms + left_ms, drain_ms + limit_ms, grace_ms
            ),
            "the request goes on during the drain window. Look at the blue bar: does it begin anew?",
        ),
        Mistake(
            lambda drain_ms, limit_ms, grace_ms, left_ms: min(
                max(drain_ms, left_ms), limit_ms, grace_ms
            ),
            "from which moment does the server's limit count?",
        ),
        Mistake(
            lambda drain_ms, limit_ms, grace_ms, left_ms: min(
                max(drain_ms, left_ms), drain_ms + limit_ms
            ),
            "somebody else has a clock, too, and asks nobody.",
        ),
        Mistake(
            lambda drain_ms, limit_ms, grace_ms, left_ms: min(
                left_ms, drain_ms + limit_ms, grace_ms
            ),
            "with no work at all, does the process go at once? The load balancer has not asked yet.",
        ),
        Mistake(
            lambda drain_ms, limit_ms, grace_ms, left_ms: min(drain_ms + limit_ms, grace_ms),
            "that is the longest it can take. What if all work is done early?",
        ),
    ],
    praise="Work, limit, grace: the first of the three clocks ends it, but never before the drain.",
)


def _drain_and_limit(poll_ms: int, polls: int, grace_ms: int, spare_ms: int) -> tuple[int, int]:
    drain_ms = poll_ms * polls
    return drain_ms, grace_ms - spare_ms - drain_ms


drain_and_limit = Exercise(
    name="drain and limit",
    right=_drain_and_limit,
    cases=[
        (200, 1, 10_000, 1000),
        (200, 3, 10_000, 1000),
        (5000, 3, 30_000, 2000),
        (1000, 2, 10_000, 0),
    ],
    mistakes=[
        Mistake(
            lambda poll_ms, polls, grace_ms, spare_ms: (poll_ms, grace_ms - spare_ms - poll_ms),
            "this balancer does not believe a single 503. How long until it has heard enough of them?",
        ),
        Mistake(
            lambda poll_ms, polls, grace_ms, spare_ms: (poll_ms * polls, grace_ms - spare_ms),
            "the limit begins to count when the drain window ends. When would the cut come?",
        ),
        Mistake(
            lambda poll_ms, polls, grace_ms, spare_ms: (
                poll_ms * polls,
                grace_ms - poll_ms * polls,
            ),
            "the cut and the SIGKILL would come at the same moment. What was asked to lie between?",
        ),
        Mistake(
            lambda poll_ms, polls, grace_ms, spare_ms: (
                poll_ms * (polls - 1),
                grace_ms - spare_ms - poll_ms * (polls - 1),
            ),
            "the signal may come right after a poll. Then how long is it to the first 503?",
        ),
        Mistake(
            lambda poll_ms, polls, grace_ms, spare_ms: (
                grace_ms - spare_ms - poll_ms * polls,
                poll_ms * polls,
            ),
            "both numbers are there. Which one is the drain window?",
        ),
    ],
    praise="From outside to inside: the balancer sets the drain, the supervisor sets the sum.",
)
