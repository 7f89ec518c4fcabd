"""The child: events, exit codes, limits, and nothing left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest
from kernelcase import alive

from lessons_lib.processes.child import Child, ChildError
from lessons_lib.processes.patience import Patience

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


@pytest.fixture
def script(tmp_path):
    def write(code, name="script.py"):
        path = tmp_path / name
        path.write_text("from lessons_lib.processes.tell import tell\n" + textwrap.dedent(code))
        return path

    return write


def gone(pid, within_s=3.0):
    deadline = time.monotonic() + within_s
    while psutil.pid_exists(pid) and alive(psutil.Process(pid)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_events_output_and_code(script):
    path = script("""
        import sys
        tell("ready", port=8000)
        print("plain text")
        print('{"no": "event"}')
        print("{broken")
        print("to stderr", file=sys.stderr)
        tell("ready", port=8001)
        sys.exit(7)
    """)
    before = time.monotonic()
    with Child(path) as child:
        assert child.wait_event("ready")["port"] == 8000
        assert child.wait_event("ready")["port"] == 8001
        assert child.wait() == 7
        assert child.code == 7
    assert before < child.events[0]["at_s"] < time.monotonic()
    assert sorted(child.output) == ["plain text", "to stderr", '{"no": "event"}', "{broken"]
    assert child.events[1]["port"] == 8001


def test_arguments_folder_environment_and_neighbours(script, tmp_path):
    script("WORD = 'beside'", name="neighbour.py")
    path = script("""
        import os, sys
        from neighbour import WORD
        tell("here", argv=sys.argv[1:], cwd=os.getcwd(), flag=os.environ["FLAG"], word=WORD,
             main=__name__, pid=os.getpid())
    """)
    with Child(path, "--port", 0, cwd=tmp_path, env={"FLAG": "yes"}) as child:
        here = child.wait_event("here")
    assert here["argv"] == ["--port", "0"]
    assert os.path.samefile(here["cwd"], tmp_path)
    assert (here["flag"], here["word"], here["main"]) == ("yes", "beside", "__main__")
    assert here["pid"] == child.pid


def test_a_module(script):
    with Child("json.tool", "--help", module=True) as child:
        assert child.wait() == 0
    assert any("usage" in line for line in child.output)


def test_await_lets_other_tasks_run(script):
    path = script("""
        import time
        time.sleep(0.3)
        tell("ready")
    """)

    async def cell():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        ticker = asyncio.create_task(tick())
        with Child(path) as child:
            await child.event("ready")
            code = await child.ended()
        ticker.cancel()
        return ticks, code

    ticks, code = asyncio.run(cell())
    assert code == 0
    assert ticks > 5


def test_a_child_that_ends_too_early_is_an_error_with_its_last_words(script):
    with Child(script("raise SystemExit('no such port')"), name="server") as child:
        words = r"server ended \(1\) before it told 'ready'\nno such port"
        with pytest.raises(ChildError, match=words):
            child.wait_event("ready")


def test_an_event_just_before_the_end_is_not_missed(script):
    path = script("tell('last'); tell('very last')")
    for _ in range(5):
        with Child(path) as child:
            child.wait()
            assert child.wait_event("very last")


def test_a_wait_has_a_limit(script):
    with Child(script("import time; time.sleep(60)"), name="sleeper") as child:
        with pytest.raises(ChildError, match=r"sleeper did not tell 'ready' within 0\.1 s"):
            child.wait_event("ready", timeout_s=0.1)
        assert child.code is None
    assert gone(child.pid)


def test_a_child_has_a_limit(script):
    began = time.monotonic()
    with Child(script("import time; time.sleep(60)"), limit_s=0.4) as child:
        with pytest.raises(ChildError, match=r"its limit of 0\.4 s was over"):
            child.wait_event("ready")
        assert child.timed_out
    assert time.monotonic() - began < 5


def test_closing_kills_and_reaps_also_after_an_error(script):
    path = script("""
        import signal, subprocess, sys, time
        if hasattr(signal, "SIGTERM"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        tell("ready", below=below.pid)
        time.sleep(60)
    """)

    def cell():
        with Child(path) as child:
            seen.append(child)
            seen.append(child.wait_event("ready")["below"])
            raise ZeroDivisionError

    seen = []
    with pytest.raises(ZeroDivisionError):
        cell()
    child, below = seen
    assert gone(child.pid)
    assert not psutil.pid_exists(child.pid), "not reaped"
    if sys.platform != "win32":
        assert gone(below)
    child.close()
    child.send_signal(signal.SIGINT)


@posix
def test_what_a_dead_child_left_is_killed_too(script):
    path = script("""
        import subprocess, sys
        below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        tell("ready", below=below.pid)
    """)
    with Child(path) as child:
        below = child.wait_event("ready")["below"]
        assert child.wait() == 0
        assert alive(psutil.Process(below))
    assert gone(below)


@posix
def test_signals_reach_the_child_and_only_that_way(script):
    path = script("""
        import os, signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (tell("stopping"), sys.exit(0)))
        tell("ready", group=os.getpgid(0))
        time.sleep(60)
    """)
    with Child(path) as child:
        assert child.wait_event("ready")["group"] == child.pid
        child.send_signal(signal.SIGTERM)
        assert child.wait_event("stopping")
        assert child.wait() == 0


@posix
def test_the_code_of_a_signal(script):
    with Child(script("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")) as child:
        assert child.wait() == -9


@posix
def test_ctrl_c_is_not_inherited_as_ignored(script, tmp_path):
    path = script("""
        import signal
        tell("sigint", ignored=signal.getsignal(signal.SIGINT) == signal.SIG_IGN)
    """)
    code = f"""if True:
        import signal
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        from lessons_lib.processes.child import Child
        with Child({str(path)!r}) as child:
            print(child.wait_event("sigint")["ignored"])
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "False\n", run.stderr


PARENT = """if True:
    import sys, threading, time
    from lessons_lib.processes.child import Child
    def work():
        child = Child(sys.argv[1], limit_s=50)
        print(child.pid, flush=True)
        time.sleep(60)
    if sys.argv[2] == "thread":
        threading.Thread(target=work).start()
        time.sleep(60)
    work()
"""


@pytest.mark.parametrize("where", ["main", "thread"])
def test_nothing_is_left_of_a_parent_that_was_killed(script, where):
    path = script("import time; time.sleep(60)")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, path, where], stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline())
    time.sleep(0.3)
    assert alive(psutil.Process(pid))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(pid)


@linux
def test_a_child_too_busy_to_notice_is_ended_by_the_kernel(script):
    # One call into native code holds the interpreter: no thread of the guard gets a turn.
    path = script("tell('ready'); import re; re.match('(a*)*b', 'a' * 60)")
    code = f"""if True:
        from lessons_lib.processes.child import Child
        child = Child({str(path)!r}, limit_s=50)
        child.wait_event("ready")
        print(child.pid, flush=True)
        child.wait()
    """
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    time.sleep(0.2)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(pid)


def test_a_child_of_a_short_thread_lives_on(script):
    # The kernel's death signal would come when the thread ends, so there it is not asked for.
    path = script("import time; tell('ready'); time.sleep(0.5); tell('done')")
    made = []
    thread = threading.Thread(target=lambda: made.append(Child(path)))
    thread.start()
    thread.join()
    with made[0] as child:
        child.wait_event("done")
        assert child.wait() == 0


def test_much_output_neither_blocks_nor_grows(script):
    with Child(script("for n in range(30_000): print(n)")) as child:
        assert child.wait() == 0
    assert len(child.output) == 10_000
    assert child.output[-1] == "29999"


def test_many_children_leave_no_threads_or_files(script):
    path = script("tell('ready')")

    def run():
        with Child(path) as child:
            child.wait_event("ready")
            child.wait()

    run()
    me = psutil.Process()
    threads, files = me.num_threads(), me.num_fds() if hasattr(me, "num_fds") else 0
    children = me.children()
    for _ in range(10):
        run()
    deadline = time.monotonic() + 3
    while me.num_threads() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert me.num_threads() <= threads
    assert not files or me.num_fds() <= files
    assert me.children() == children


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError, match=r"there is no file 'nothing\.py' to run"):
        Child("nothing.py")


def test_a_limit_must_be_a_time(script):
    with pytest.raises(ValueError, match=r"limit_s must be at least 0\.01, got 0"):
        Child(script(""), limit_s=0)


def test_patience_is_silent_for_a_second_and_clears_its_line():
    now, told = [0.0], []
    with Patience(told.append, lambda: now[0]) as patience:
        for step in range(15):
            now[0] = step / 10
            patience.tick("waiting")
    assert told == ["waiting, 1.0 s", "waiting, 1.2 s", "waiting, 1.4 s", ""]
    told.clear()
    with Patience(told.append, lambda: now[0]) as patience:
        patience.tick("waiting")
    assert told == []
    with Patience(None, lambda: now[0]) as patience:
        now[0] += 10
        patience.tick("waiting")
