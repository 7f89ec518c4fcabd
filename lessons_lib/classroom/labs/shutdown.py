"""The shutdown lab: drain, limit, slow request and grace slide against each other."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from lessons_lib.classroom.charts.shutdown import ShutdownChart
from lessons_lib.classroom.controls import Try, slider, switch
from lessons_lib.classroom.lab import Lab
from lessons_lib.processes.recorded import signals_here
from lessons_lib.processes.shutdown_model import simulate_shutdown
from lessons_lib.processes.shutdown_run import run_shutdown
from lessons_lib.processes.shutdown_timeline import Shutdown

__all__ = ["ShutdownPair", "shutdown_lab", "shutdown_pair", "shutdowns_table"]


@dataclass(frozen=True)
class ShutdownPair:
    """A simulated shutdown and, if it was run, the real one with the same settings.

    Args:
        simulated: what the model says.
        real: what a server on this machine did, or None.
        wanted: whether a real run was asked for.
    """

    simulated: Shutdown
    real: Shutdown | None
    wanted: bool

    @property
    def runs(self) -> list[Shutdown]:
        """Those that there are, the simulated one first."""
        return [self.simulated] if self.real is None else [self.simulated, self.real]


def shutdown_pair(
    drain_ms: int = 500,
    limit_ms: int = 3000,
    slow_ms: int = 800,
    grace_ms: int = 10_000,
    stuck: bool = False,
    real: bool = False,
) -> ShutdownPair:
    """Simulate a shutdown, and on request run it with a real server too.

    Args:
        drain_ms: how long the server stays open after the signal.
        limit_ms: from the end of the drain window to the cut.
        slow_ms: how long the slow request's work takes.
        grace_ms: from the signal to the supervisor's SIGKILL.
        stuck: whether there is also a client that never lets go.
        real: whether to run it for real. That takes as long as the shutdown does, and is not
            possible on Windows.
    """
    settings = {
        "drain_ms": drain_ms,
        "limit_ms": limit_ms,
        "slow_ms": slow_ms,
        "grace_ms": grace_ms,
        "stuck": stuck,
    }
    done = run_shutdown(**settings) if real and signals_here() else None
    return ShutdownPair(simulate_shutdown(**settings), done, real)


class _PairChart(ShutdownChart):
    """Draw a `ShutdownPair`."""

    def __init__(self, figure: Figure) -> None:
        super().__init__(figure, title=" ")

    def update(self, result: ShutdownPair) -> tuple:
        return super().update(result.runs)


BY = {
    "itself": "by itself",
    "its limit": "at its own limit",
    "SIGKILL": "by SIGKILL, and nothing was cleaned up",
    "the signal": "by the signal",
}


def _words(run: Shutdown) -> str:
    slow = "answered" if run.slow == 200 else "lost"
    return (
        f"the slow request is {slow}; the process ends after {run.exit_ms} ms "
        f"{BY[run.ended_by]}, with exit code {run.code}"
    )


def _say(pair: ShutdownPair) -> str:
    closed = pair.simulated.at("no new connections")
    door = (
        ""
        if closed is None
        else f"no new connections after {closed - pair.simulated.signal_at_ms} ms; "
    )
    words = f"Simulated: {door}{_words(pair.simulated)}."
    if pair.real is not None:
        words += f" Real: {_words(pair.real)}."
    elif pair.wanted:
        words += " No real run: this system has no signal that asks a process to stop."
    return words


def shutdowns_table(pair: ShutdownPair) -> pd.DataFrame:
    """Return one row a run: when each phase ended, in ms since the stop request."""
    rows = []
    for run in pair.runs:
        moments = ("no new connections", "all requests finished", "limit reached", "SIGKILL sent")
        row = {
            moment: "–" if run.at(moment) is None else f"{run.at(moment) - run.signal_at_ms} ms"
            for moment in moments
        }
        rows.append(row | {"end": f"{run.exit_ms} ms", "exit code": run.code})
    return pd.DataFrame(rows, pd.Index(["simulated", "real"][: len(rows)], name="ms after SIGTERM"))


def shutdown_lab() -> Lab:
    """Build the lab of notebook 07."""
    return Lab(
        "A stop request and its four clocks",
        [
            slider("drain_ms", "Drain window", range(0, 2001, 50), 500, "ms"),
            slider("limit_ms", "Limit", range(0, 5001, 100), 3000, "ms"),
            slider("slow_ms", "Slow request", range(0, 6001, 100), 800, "ms"),
            slider("grace_ms", "Grace period", range(0, 10_001, 250), 10_000, "ms"),
            switch("stuck", "Stuck client"),
            switch("real", "Real run, too"),
        ],
        shutdown_pair,
        _PairChart,
        _say,
        table=shutdowns_table,
        tries=[
            Try("Stuck client", {"stuck": True}, "Who ends the process, and after how many ms? Add drain and limit."),
            Try("Grace too short", {"stuck": True, "grace_ms": 3000}, "The limit would come 500 ms after the SIGKILL: it was no limit. Move the limit down until it is one."),
            Try("Slow against drain", {"slow_ms": 400}, "The request is done before the drain window is. What is the process waiting for?"),
            Try("No drain", {"drain_ms": 0}, "The probe that comes 200 ms after the signal finds nobody. Is the slow request lost?"),
            Try("Too slow", {"slow_ms": 5000}, "A request longer than drain and limit together is cut, with exit code 0."),
        ],
        height_px=300,
    )  # fmt: skip
