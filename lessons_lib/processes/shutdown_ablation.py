"""The shutdown experiment again and again, each time with one part left out."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from lessons_lib.errors import one_of
from lessons_lib.processes.parts import PARTS
from lessons_lib.processes.shutdown_run import run_shutdown
from lessons_lib.processes.shutdown_timeline import Shutdown

__all__ = ["CASES", "ablation_table", "run_ablation"]

CASES = {
    "all parts": {},
    **{f"without {part}": {"without": (part,), "stuck": part == "limit"} for part in PARTS},
    "all parts, stuck client": {"stuck": True},
    "limit longer than the grace": {"stuck": True, "limit_ms": 3000},
}
"""Names of the cases, and what each changes in `QUICK`."""

QUICK = {"drain_ms": 250, "limit_ms": 700, "slow_ms": 500, "grace_ms": 1500, "ready_after_ms": 100}


def run_ablation(
    cases: Iterable[str] = tuple(CASES),
    *,
    clients: int = 8,
    run: Callable[..., Shutdown] = run_shutdown,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Shutdown]:
    """Run the experiment once for each case, with shorter times than the published ones.

    Args:
        cases: names from `CASES`. All of them take some 13 seconds.
        clients: keep-alive clients at work during the shutdown.
        run: `run_shutdown`, or anything that takes the same arguments.
        progress: see `Child`.
    """
    done = {}
    for case in cases:
        changes = CASES[one_of("cases", case, tuple(CASES))]
        done[case] = run(**{**QUICK, **changes}, clients=clients, progress=progress)
    return done


def ablation_table(runs: Mapping[str, Shutdown]) -> pd.DataFrame:
    """Return one row a case: what became of the requests, and how the process ended.

    Columns: "slow request" (answered or lost), "lost of 8" (requests of keep-alive clients),
    "ended after ms" (from the signal), "exit code", "ended by" (the server's own work, its
    limit, the signal, the supervisor's SIGKILL).
    """
    rows = [
        {
            "slow request": "answered" if run.slow == 200 else "lost",
            f"lost of {run.clients}": run.lost,
            "ended after ms": run.exit_ms,
            "exit code": run.code,
            "ended by": run.ended_by,
        }
        for run in runs.values()
    ]
    return pd.DataFrame(rows, index=pd.Index(list(runs), name="shutdown"))
