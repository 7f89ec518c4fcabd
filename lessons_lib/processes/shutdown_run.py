"""The shutdown experiment with a real server, real connections and a real signal."""

import signal
import threading
import time
from collections.abc import Callable, Collection

from lessons_lib.errors import one_of, whole_number
from lessons_lib.processes.child import Child
from lessons_lib.processes.parts import checked_parts
from lessons_lib.processes.shutdown_cast import Cast, Notes
from lessons_lib.processes.shutdown_timeline import Shutdown

__all__ = ["run_shutdown"]

SERVER = "lessons_lib.processes.server"


def run_shutdown(
    drain_ms: int = 500,
    limit_ms: int = 3000,
    slow_ms: int = 800,
    grace_ms: int = 10_000,
    without: Collection[str] = (),
    *,
    stuck: bool = False,
    clients: int = 0,
    signal_after_ms: int = 100,
    ready_after_ms: int = 200,
    signal_name: str = "SIGTERM",
    probe_every_ms: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Shutdown:
    """Start a server, give it work, ask it to stop, and write down what happens.

    There is one slow request and one idle keep-alive connection. The parameters are those of
    `simulate_shutdown`, and so are the events; times are real.

    Args:
        drain_ms: how long the server stays open after the signal.
        limit_ms: from the end of the drain window to the cut.
        slow_ms: how long the slow request's work takes.
        grace_ms: from the signal to the supervisor's SIGKILL.
        without: names from `PARTS` to leave out.
        stuck: whether there is also a client that never lets go.
        clients: keep-alive clients that ask again and again, until an answer says that it is
            the last one (then they would go to another server) or no answer comes.
        signal_after_ms: from the slow request to the signal.
        ready_after_ms: from the signal to the readiness probe.
        signal_name: "SIGTERM" or "SIGINT".
        probe_every_ms: if not 0, `/ready` is asked this often; events "probe=200", "probe=503",
            "probe=refused".
        progress: see `Child`.

    Raises:
        ValueError: a parameter makes no sense, or this is Windows, where no process can ask
            another to stop by a signal that it could catch.
    """
    number = getattr(signal, one_of("signal_name", signal_name, ("SIGTERM", "SIGINT")))
    if not hasattr(signal, "SIGKILL"):
        raise ValueError(
            "this system has no signal that asks a process to stop; Linux and macOS have"
        )
    options = [f"--without={part}" for part in sorted(checked_parts(without))]
    for name, value in (("drain", drain_ms), ("limit", limit_ms), ("slow", slow_ms)):
        options.append(f"--{name}-ms={whole_number(f'{name}_ms', value, low=0)}")
    grace_s = whole_number("grace_ms", grace_ms, low=0) / 1000
    limit_s = grace_s + (signal_after_ms + ready_after_ms) / 1000 + 30
    notes = Notes()
    with Child(SERVER, *options, module=True, limit_s=limit_s, progress=progress) as child:
        listening = child.wait_event("listening", timeout_s=20)
        cast = Cast(listening["port"], notes)
        cast.probe("ready")
        cast.start("idle client", cast.idle)
        if stuck:
            cast.start("stuck client", cast.stuck)
        for n in range(whole_number("clients", clients, low=0)):
            cast.start(f"client {n + 1}", cast.keep_alive)
        if probe_every_ms:
            cast.start("probe", cast.probe_on, probe_every_ms / 1000)
        cast.wait_all_set()
        cast.start("slow request", cast.slow)
        time.sleep(signal_after_ms / 1000)

        sent_s = notes.add("supervisor", f"{signal_name} sent")
        child.send_signal(number)
        watch = threading.Thread(target=_await_end, args=(child, sent_s + grace_s, notes))
        watch.start()
        time.sleep(max(0.0, sent_s + ready_after_ms / 1000 - time.monotonic()))
        cast.probe("ready")
        while watch.is_alive():  # a join without end could not be interrupted on every system
            watch.join(0.05)
        cast.end()
        for event in child.events:
            notes.add("server", event["event"], at_s=event["at_s"])
        return Shutdown(
            tuple(notes.sorted_from(listening["at_s"])),
            child.code,
            grace_ms,
            cast.slow_status,
            clients,
            cast.lost,
        )


def _await_end(child: Child, kill_at_s: float, notes: Notes) -> None:
    """Be the supervisor: wait for the end, kill when the grace period is over."""
    killed = False
    while (code := child.code) is None:
        if not killed and time.monotonic() >= kill_at_s:
            killed = True
            notes.add("supervisor", "SIGKILL sent")
            child.send_signal(signal.SIGKILL)
        time.sleep(0.002)
    notes.add("supervisor", f"exit code {code}")
