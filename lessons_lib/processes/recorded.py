"""Shutdowns of real servers, recorded: for systems on which no process can ask another to stop.

python -m lessons_lib.processes.recorded

makes the record anew; it needs Linux or macOS.
"""

import json
import signal
from dataclasses import asdict, fields
from pathlib import Path

from lessons_lib.events import Event
from lessons_lib.processes.shutdown_ablation import run_ablation
from lessons_lib.processes.shutdown_run import run_shutdown
from lessons_lib.processes.shutdown_timeline import Shutdown

__all__ = ["main", "recorded_shutdowns", "signals_here"]

RECORD = Path(__file__).with_name("recorded.json")


def signals_here() -> bool:
    """Say whether a process can ask another to stop here: on Linux and macOS, not on Windows."""
    return hasattr(signal, "SIGKILL")


def recorded_shutdowns() -> dict[str, Shutdown]:
    """Return recorded runs: "published" and, by their names, the cases of `run_ablation`."""
    record = json.loads(RECORD.read_text("utf-8"))
    return {
        name: Shutdown(**{**run, "log": tuple(Event(*event) for event in run["log"])})
        for name, run in record.items()
    }


def main() -> None:
    """Run the experiments, and write the record."""
    runs = {"published": run_shutdown(probe_every_ms=50), **run_ablation()}
    record = {}
    for name, run in runs.items():
        record[name] = {one.name: getattr(run, one.name) for one in fields(run)}
        record[name]["log"] = [list(asdict(event).values()) for event in run.log]
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(run)}" for name, run in record.items())
    RECORD.write_text("{\n" + text + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
