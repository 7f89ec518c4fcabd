"""Who is left after an interrupt, a restart, a shutdown and a kill of a real kernel: nobody."""

import pytest
from kernelcase import ALL_EVENTS, Kernel

SETUP = """\
import asyncio, time
from lessons_lib.processes.child import Child
def note(child, ready):
    with open(FAMILY, "w") as file:
        file.write(f"{child.pid} {ready['below']}")
"""
CELLS = {
    "sync": """\
with Child("sleeper.py") as child:
    note(child, child.wait_event("ready"))
    child.wait_event("never", timeout_s=60)
""",
    "await": """\
with Child("sleeper.py") as child:
    note(child, await child.event("ready"))
    await child.event("never", timeout_s=60)
""",
    "no block": """\
child = Child("sleeper.py")
note(child, child.wait_event("ready"))
""",
    "thread": """\
import threading
def work():
    with Child("sleeper.py") as child:
        note(child, child.wait_event("ready"))
        child.wait()
threading.Thread(target=work).start()
time.sleep(60)
""",
    "bare sleep": """\
with Child("sleeper.py") as child:
    note(child, await child.event("ready"))
    await asyncio.sleep(100)
""",
}
CASES = [
    (cell, event)
    for cell in CELLS
    for event in ALL_EVENTS
    # An interrupt means the running cell: it ends no child that another cell holds, and reaches
    # neither a worker thread nor (ipython/ipykernel#881) a bare await.
    if cell in ("sync", "await") or event != "interrupt"
]


@pytest.fixture
def kernel(tmp_path):
    kernel = Kernel(tmp_path)
    yield kernel
    kernel.close()


@pytest.mark.parametrize(("cell", "event"), CASES)
def test_nobody_is_left(kernel, cell, event):
    kernel.begin(SETUP + CELLS[cell])
    getattr(kernel, event)()
    assert kernel.left(within_s=3) == []


def test_an_interrupted_cell_ends_at_once_and_the_next_one_runs(kernel):
    kernel.begin(SETUP + CELLS["await"])
    kernel.interrupt()
    assert kernel.left(within_s=3) == []
    assert kernel.run("assert child.code == -9") is None


def test_a_cell_leaves_nothing_in_its_output(kernel):
    printed = []
    code = """\
from lessons_lib.processes.child import Child
with Child("sleeper.py", limit_s=1.5) as child:
    child.wait()
"""
    reply = kernel.client.execute_interactive(
        code, timeout=60, output_hook=lambda m: printed.append(m["header"]["msg_type"])
    )
    assert reply["content"]["status"] == "ok"
    assert not {"stream", "display_data", "execute_result", "error"} & set(printed)
