"""The first breaker lab: one breaker led through a story, step by step, on its state diagram."""

from dataclasses import dataclass
from functools import lru_cache

from lessons_lib.classroom.charts.breaker_states import BreakerDiagram
from lessons_lib.classroom.controls import Try, choice, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.breaker_walk import BreakerFrame, Move, walk
from lessons_lib.retries.trip import InARow

__all__ = ["STORIES", "BreakerView", "breaker_at", "breaker_steps_lab"]

WALKED = Breaker(InARow(3), pause_ms=5000, probe_ms=2000)
_OPENING: list[Move] = [
    (0, "ask", 1), (100, "failure", 1), (500, "ask", 2), (600, "failure", 2),
    (1000, "ask", 3), (1100, "failure", 3),
]  # fmt: skip
STORIES: dict[str, list[Move]] = {
    "an outage": [
        *_OPENING, (2000, "ask", 4), (6100, "wait", 0), (6500, "ask", 5), (6600, "failure", 5),
        (7500, "ask", 6), (12_000, "ask", 7), (12_100, "success", 7), (13_000, "ask", 8),
        (13_100, "success", 8),
    ],
    "five at once": [
        *_OPENING, *((7000, "ask", call) for call in range(4, 9)), (7100, "success", 4),
    ],
    "a probe hangs": [
        *_OPENING, (7000, "ask", 4), (8000, "ask", 5), (9000, "wait", 0), (10_000, "ask", 6),
        (11_000, "success", 4), (14_500, "ask", 7), (14_600, "success", 7),
    ],
    "a late result": [
        (0, "ask", 1), (100, "ask", 2), (200, "failure", 2), (500, "ask", 3), (600, "failure", 3),
        (1000, "ask", 4), (1100, "failure", 4), (7000, "ask", 5), (7200, "success", 1),
        (7500, "ask", 6), (7600, "failure", 5),
    ],
}  # fmt: skip
MOST_STEPS = max(len(moves) for moves in STORIES.values())


@dataclass(frozen=True)
class BreakerView:
    """One moment of a story.

    Args:
        frames: the whole story.
        frame: the moment.
        past_end: whether a later moment was asked for than the story has.
    """

    frames: list[BreakerFrame]
    frame: BreakerFrame
    past_end: bool


@lru_cache(maxsize=len(STORIES))
def _frames(story: str) -> list[BreakerFrame]:
    return walk(WALKED, STORIES[story])


def breaker_at(story: str = "an outage", step: int = 0) -> BreakerView:
    """Lead a breaker (3 failures in a row, pause 5 s, one permit) through a story.

    Args:
        story: one of `STORIES`.
        step: number of the move, from 0; beyond the last one the end is shown.
    """
    frames = _frames(story)
    return BreakerView(frames, frames[min(step, len(frames) - 1)], step >= len(frames))


def _say_step(view: BreakerView) -> str:
    frame = view.frame
    words = f"Step {frame.number}, at {frame.at_ms} ms: {frame.words}."
    if frame.in_a_row:
        words += f" Failures in a row: {frame.in_a_row} of 3."
    return words + (" The story ends here." if view.past_end else "")


def breaker_steps_lab() -> Lab:
    """Build the first lab of notebook 05: the state diagram, step by step."""
    return Lab(
        "One breaker, step by step: 3 failures in a row, pause 5 s, one permit",
        [
            choice("story", "Story", {name: name for name in STORIES}, "an outage"),
            slider("step", "Step", range(0, MOST_STEPS + 1), 0, play_ms=900),
        ],
        breaker_at,
        BreakerDiagram,
        _say_step,
        tries=[
            Try("The first refusal", {"step": 7}, "The breaker is open. How long did call 4 take to fail?"),
            Try("A probe fails", {"step": 10}, "The pause begins anew. From which moment is it counted?"),
            Try("Five at once", {"story": "five at once", "step": 11}, "One permit: who goes through, and who does not?"),
            Try("A probe hangs", {"story": "a probe hangs", "step": 9}, "Nobody answered. Why is the breaker open again all the same?"),
            Try("A late result", {"story": "a late result", "step": 9}, "Call 1 began before the breaker opened. What does its success tell about now?"),
        ],
        height_px=430,
    )  # fmt: skip
