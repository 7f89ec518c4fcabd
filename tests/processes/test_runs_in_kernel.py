"""The experiments in a real kernel: nobody is left after an interrupt, a restart, a kill."""

import sys

import pytest
from kernelcase import Kernel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

NOTE = """\
import os, psutil, threading, time
def note_two():
    while len(psutil.Process().children()) < 2:
        time.sleep(0.02)
    with open(FAMILY, "w") as file:
        file.write(" ".join(str(one.pid) for one in psutil.Process().children()[:2]))
threading.Thread(target=note_two, daemon=True).start()
"""
CELLS = {
    "supervisor": """\
import threading, time
from lessons_lib.processes.supervisor import Supervisor
supervisor = Supervisor("sleeper.py", grace_ms=300)
def note():
    while not (supervisor.child and supervisor.child.events):
        time.sleep(0.02)
    with open(FAMILY, "w") as file:
        file.write(f"{supervisor.child.pid} {supervisor.child.events[0]['below']}")
threading.Thread(target=note, daemon=True).start()
supervisor.run()
""",
    "two shutdowns": NOTE
    + """\
from lessons_lib.processes.shutdown_run import run_shutdown
run = lambda: run_shutdown(slow_ms=50_000, limit_ms=50_000, grace_ms=60_000, clients=2)
threading.Thread(target=run, daemon=True).start()
run()
""",
    "probes": NOTE
    + """\
from lessons_lib.processes.probe_run import run_probes
run_probes("dependency", replicas=3, outage_ms=60_000)
""",
}
CASES = [
    *(("supervisor", event) for event in ("interrupt", "restart", "kill")),
    *(("probes", event) for event in ("interrupt", "shutdown_now")),
    *(("two shutdowns", event) for event in ("restart", "kill")),
]


@pytest.mark.parametrize(("cell", "event"), CASES)
def test_nobody_is_left(tmp_path, cell, event):
    kernel = Kernel(tmp_path)
    try:
        kernel.begin(CELLS[cell])
        getattr(kernel, event)()
        assert kernel.left(within_s=6) == []
    finally:
        kernel.close()
