"""The lab on restart storms: one crashing process under four ways to restart it."""

from functools import partial

import pandas as pd

from lessons_lib.classroom.charts.restarts import RestartsChart
from lessons_lib.classroom.controls import Try, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.processes.restart_delay import RestartDelay
from lessons_lib.processes.storm import POLICIES, Storm, simulate_storm

__all__ = ["restart_storms", "restarts_lab"]


def restart_storms(
    lives_ms: int = 50,
    first_ms: int = 100,
    factor: float = 2,
    cap_ms: int = 60_000,
    reset_after_ms: int = 10_000,
    for_s: int = 60,
) -> dict[str, Storm]:
    """Let a process crash for a while under each way to restart it.

    Args:
        lives_ms: from a start to the crash, in milliseconds.
        first_ms: the first wait, and the fixed one, in milliseconds.
        factor: each growing wait is this many times the one before.
        cap_ms: the longest wait.
        reset_after_ms: a process that lived this long counts as healthy.
        for_s: how long it is watched, in seconds.
    """
    growing = RestartDelay(first_ms, factor, cap_ms, reset_after_ms)
    delays = (RestartDelay(0), RestartDelay(first_ms, 1), growing, growing)
    return {
        name: simulate_storm(delay, fake_success=fake, lives_ms=lives_ms, for_ms=for_s * 1000)
        for (name, (_, fake)), delay in zip(POLICIES.items(), delays, strict=True)
    }


def _say(storms: dict[str, Storm]) -> str:
    one = next(iter(storms.values()))
    counts = ", ".join(f"{name} {storm.starts}" for name, storm in storms.items())
    return f"Starts in {one.for_ms // 1000} s: {counts}."


def _table(storms: dict[str, Storm]) -> pd.DataFrame:
    rows = {
        name: {
            "starts": storm.starts,
            "a minute": f"{storm.per_minute:.1f}",
            "in the first second": int(storm.per_second[0]),
            "in the last second": int(storm.per_second[-1]),
        }
        for name, storm in storms.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("restart")


def restarts_lab() -> Lab:
    """Build the lab of notebook 09."""
    return Lab(
        "A process that always crashes",
        [
            slider("lives_ms", "Lives", [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000], 50, "ms"),
            slider("first_ms", "First wait", [0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000], 100, "ms"),
            slider("factor", "Factor", [1, 1.2, 1.5, 2, 3, 5, 10], 2),
            slider("cap_ms", "Cap", [500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 300_000], 60_000, "ms"),
            slider("reset_after_ms", "Healthy after", [20, 50, 100, 500, 1000, 5000, 10_000, 60_000, 600_000], 10_000, "ms"),
            slider("for_s", "Watched", [10, 20, 30, 60, 120, 300, 600], 60, "s"),
        ],
        restart_storms,
        partial(RestartsChart, names=tuple(POLICIES)),
        _say,
        table=_table,
        tries=[
            Try("Healthy too soon", {"reset_after_ms": 50}, "The process lives 50 ms and counts as healthy after 50 ms. Which lines fall together, and why?"),
            Try("Low cap", {"cap_ms": 1000}, "The line bends first and becomes straight when the cap is reached. How many starts does it cost a minute?"),
            Try("Slow crash", {"lives_ms": 20_000, "for_s": 600}, "A process that lives 20 s counts as healthy after 10 s. The delay never grows: is that wrong here?"),
        ],
        height_px=330,
    )  # fmt: skip
