"""Two labs on poison messages: a replay to scrub through, and the experiment with all its knobs."""

from dataclasses import dataclass

import pandas as pd

from lessons_lib.classroom.charts.deliveries import DeliveriesChart
from lessons_lib.classroom.charts.replay import ReplayChart
from lessons_lib.classroom.controls import Try, choice, slider, switch
from lessons_lib.classroom.lab import Lab
from lessons_lib.queues.counters import run_consumer
from lessons_lib.queues.outcome import FIGURES, RunResult
from lessons_lib.queues.replay import Frame

__all__ = ["ReplayView", "poison_lab", "poison_run", "replay_at", "replay_lab"]

POSITIONS = {"on caught error": "caught error", "at delivery": "delivery"}
CONVENTIONS = {"reaches": "reaches", "exceeds (SQS)": "exceeds", "RabbitMQ": "RabbitMQ"}
WHICH = {
    "none": lambda messages: (),
    "first": lambda messages: (1,),
    "third": lambda messages: (3,),
    "last": lambda messages: (messages,),
    "third and fourth": lambda messages: (3, 4),
    "every second": lambda messages: tuple(range(2, messages + 1, 2)),
}


@dataclass(frozen=True)
class ReplayView:
    """One moment of a run.

    Args:
        run: the whole run.
        frame: the moment.
        past_end: whether a later moment was asked for than the run has.
    """

    run: RunResult
    frame: Frame
    past_end: bool


def replay_at(count_on: str = "delivery", step: int = 0) -> ReplayView:
    """Run the published experiment and look at it after `step` events.

    Args:
        count_on: where the counter moves: "delivery" or "caught error".
        step: number of the event, from 0; beyond the last one the end is shown.
    """
    run = run_consumer(count_on=count_on)
    last = len(run.frames) - 1
    return ReplayView(run, run.frames[min(step, last)], step > last)


def _say_frame(view: ReplayView) -> str:
    end = f" The run ended here; it has {len(view.run.frames) - 1} steps." if view.past_end else ""
    return f"Step {view.frame.number}, {view.frame}.{end}"


def replay_lab() -> Lab:
    """Build the replay of notebook 01: a slider through the event log, with a play button."""
    return Lab(
        "Replay: five messages, message 3 is deadly",
        [
            choice("count_on", "Counter moves", POSITIONS, "caught error"),
            slider("step", "Step", range(0, 54), 0, play_ms=500),
        ],
        replay_at,
        ReplayChart,
        _say_frame,
        tries=[
            Try("First death", {"step": 8}, "Two messages are done. Message 3 has just killed the process. What does its counter say?"),
            Try("The end, counted on error", {"step": 53}, "Twelve starts. Why does every counter still say 0?"),
            Try("The end, counted at delivery", {"step": 53, "count_on": "delivery"}, "Message 3 lies in the dead-letter queue, and 4 and 5 are processed."),
        ],
        height_px=250,
    )  # fmt: skip


def poison_run(
    count_on: str = "delivery",
    threshold: int = 3,
    messages: int = 5,
    which: str = "third",
    harm: str = "deadly",
    prefetch: int = 1,
    validate: bool = False,
    convention: str = "reaches",
) -> RunResult:
    """Run the experiment with any of its parameters; names as in `run_consumer`.

    Args:
        count_on: where the counter moves.
        threshold: when a message is dead-lettered.
        messages: how many messages there are.
        which: which of them do harm, in words.
        harm: what they do: "deadly", "malformed" or "failing".
        prefetch: messages held at once.
        validate: whether bodies are looked at before the work.
        convention: where the counter is compared.
    """
    chosen = frozenset(m for m in WHICH[which](messages) if m <= messages)
    return run_consumer(
        messages,
        chosen if harm == "deadly" else (),
        threshold,
        count_on,
        failing=chosen if harm == "failing" else (),
        malformed=chosen if harm == "malformed" else (),
        prefetch=prefetch,
        validate=validate,
        convention=convention,
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _names(messages: tuple[int, ...]) -> str:
    return ", ".join(str(m) for m in messages) or "none"


def _say_run(run: RunResult) -> str:
    words = (
        f"{_many(run.starts, 'start')}, {run.deliveries} deliveries, "
        f"{_many(run.deaths, 'death')}: {run.processed} "
        f"processed, {run.dead_lettered} dead-lettered, {run.left} left."
    )
    if run.left:
        words += f" The run was {run.ended}; it would not have ended by itself."
    if run.innocents:
        words += f" Innocent, but dead-lettered: {_names(run.innocents)}."
    return words


def _run_table(run: RunResult) -> pd.DataFrame:
    row = dict(zip((f.replace("_", "-") for f in FIGURES), run.figures, strict=True))
    row |= {
        "in the dead-letter queue": _names(run.ids("dead-lettered")),
        "innocent": _names(run.innocents),
    }
    return pd.DataFrame([row], index=pd.Index(["run"], name=""))


def poison_lab() -> Lab:
    """Build the lab of notebook 01."""
    return Lab(
        "A consumer that may die",
        [
            choice("count_on", "Counter moves", POSITIONS, "delivery"),
            choice("harm", "Harm", {"kills the process": "deadly", "malformed body": "malformed", "raises an error": "failing"}, "deadly"),
            choice("which", "Which do harm", {name: name for name in WHICH}, "third"),
            choice("convention", "Convention", CONVENTIONS, "reaches"),
            slider("threshold", "Threshold", range(1, 11), 3),
            slider("messages", "Messages", range(1, 21), 5),
            slider("prefetch", "Prefetch", range(1, 21), 1),
            switch("validate", "Validate bodies"),
        ],
        poison_run,
        DeliveriesChart,
        _say_run,
        table=_run_table,
        tries=[
            Try("On caught error", {"count_on": "caught error"}, "Where does the row of message 4 begin? It never does."),
            Try("Prefetch 10", {"prefetch": 10, "convention": "RabbitMQ", "threshold": 2}, "Which innocent messages end in the dead-letter queue, and who held them?"),
            Try("Validated", {"harm": "malformed", "validate": True}, "How many processes die now? Then make the body well formed again."),
        ],
        height_px=330,
    )  # fmt: skip
