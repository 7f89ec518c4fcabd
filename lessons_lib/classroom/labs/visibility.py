"""The visibility lab: the wait and the visibility timeout slide past each other."""

from dataclasses import dataclass

import pandas as pd

from lessons_lib.classroom.charts.who_holds import WhoHoldsChart
from lessons_lib.classroom.controls import Try, choice, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.queues.holding import WAYS_TO_WAIT
from lessons_lib.queues.visibility import compare_ways
from lessons_lib.queues.visibility_run import VisibilityRun

__all__ = ["VisibilityComparison", "compare_visibility", "visibility_lab", "ways_table"]


@dataclass(frozen=True)
class VisibilityComparison:
    """The same messages under each way to wait.

    Args:
        way: the one in the foreground: "hold", "release" or "extend".
        runs: way → run.
        consumers: how many consumers there are.
    """

    way: str
    runs: dict[str, VisibilityRun]
    consumers: int


def compare_visibility(
    way: str = "hold",
    visibility_s: int = 30,
    wait_s: int = 25,
    work_s: int = 10,
    messages: int = 6,
    failing: int = 1,
    consumers: int = 2,
    prefetch: int = 1,
) -> VisibilityComparison:
    """Let consumers work through messages of which some fail once, in each way to wait.

    Args:
        way: the one in the foreground.
        visibility_s: visibility timeout in seconds, counted from the receive.
        wait_s: wait after a failed try, in seconds.
        work_s: how long a try takes, in seconds.
        messages: how many messages.
        failing: the first so many fail at the first try.
        consumers: how many consumers.
        prefetch: messages taken in one receive.
    """
    runs = compare_ways(
        visibility_ms=visibility_s * 1000,
        wait_ms=wait_s * 1000,
        work_ms=work_s * 1000,
        messages=messages,
        failing=failing,
        consumers=consumers,
        prefetch=prefetch,
    )
    return VisibilityComparison(way, runs, consumers)


def _s(ms: int) -> str:
    return f"{ms / 1000:g} s"


def _many(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _say(result: VisibilityComparison) -> str:
    run = result.runs[result.way]
    words = f"{result.way.capitalize()}: "
    if run.duplicates:
        words += _many(run.duplicates, "duplicate delivery", "duplicate deliveries")
        if run.parallel_runs:
            words += f", {run.parallel_runs} tries side by side at the same work"
        words += f", {_s(run.doubled_ms)} of doubled work, "
        words += _many(run.done_again, "notification", "notifications") + " too many"
    else:
        words += "no duplicate delivery"
    words += f". Consumers held messages without work for {_s(run.waiting_ms)}; "
    words += f"all was settled after {_s(run.completed_ms)}."
    if run.dead_lettered:
        words += (
            f" {_many(run.dead_lettered, 'message', 'messages')} went to the dead-letter queue."
        )
    return words


def ways_table(runs: dict[str, VisibilityRun]) -> pd.DataFrame:
    """Return one row a run: what was delivered, done twice, waited for, and when it ended."""
    rows = {
        name: {
            "deliveries": run.deliveries,
            "duplicates": run.duplicates,
            "parallel runs": run.parallel_runs,
            "done again": run.done_again,
            "doubled work": _s(run.doubled_ms),
            "held, no work": _s(run.waiting_ms),
            "completed": _s(run.completed_ms),
            "dead-lettered": run.dead_lettered,
        }
        for name, run in runs.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("way to wait")


def visibility_lab() -> Lab:
    """Build the second lab of notebook 04: hold, release or extend."""
    return Lab(
        "Who holds what",
        [
            choice("way", "Way to wait", {way: way for way in WAYS_TO_WAIT}, "hold"),
            slider("visibility_s", "Visibility timeout", range(1, 91), 30, "s"),
            slider("wait_s", "Wait", range(0, 91), 25, "s"),
            slider("work_s", "Work", range(1, 31), 10, "s"),
            slider("messages", "Messages", range(1, 9), 6),
            slider("failing", "Fail at first", range(0, 9), 1),
            slider("consumers", "Consumers", range(1, 5), 2),
            slider("prefetch", "Prefetch", range(1, 9), 1),
        ],
        compare_visibility,
        WhoHoldsChart,
        _say,
        table=lambda result: ways_table(result.runs),
        tries=[
            Try("Just long enough", {"visibility_s": 46}, "The black line now outlasts work, wait and work: 10 + 25 + 10 s. One second less, and it does not."),
            Try("Release", {"way": "release"}, "Where is message 1 during its wait, and what do the consumers do meanwhile?"),
            Try("Everybody waits", {"failing": 6, "visibility_s": 60}, "No duplicates, and both consumers are busy doing nothing. Then choose release."),
            Try("Prefetch", {"way": "release", "failing": 0, "prefetch": 6, "consumers": 2}, "Nothing fails and nobody waits. Why is work doubled?"),
            Try("Work too long", {"way": "release", "failing": 0, "work_s": 30}, "A try lasts as long as the timeout: no acknowledgement ever comes in time."),
        ],
        height_px=300,
    )  # fmt: skip
