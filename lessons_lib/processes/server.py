"""A server that stops gracefully when it is asked to, in four phases.

python -m lessons_lib.processes.server --port 8080

Then `curl -i localhost:8080/slow &` and Ctrl-C. It is built on Tornado, which comes with JupyterLab:
its HTTP is real, and it leaves the shutdown to us, so that the four phases stand below in plain
sight. On Windows there is no SIGTERM to catch: a stop request from another process ends this one
at once there.
"""

import argparse
import asyncio
import os
import signal
import threading
import time
from typing import Any

from tornado.netutil import bind_sockets

from lessons_lib.processes.connections import CountingServer
from lessons_lib.processes.endpoints import Service, application
from lessons_lib.processes.liveness import LIVENESS
from lessons_lib.processes.misbehaviour import MISBEHAVIOUR
from lessons_lib.processes.parts import PARTS
from lessons_lib.processes.tell import tell

__all__ = ["main", "serve"]


async def serve(given: argparse.Namespace) -> None:
    """Serve until a signal comes, then shut down: this function is the lesson.

    Args:
        given: the command line's options.
    """
    drain_s = given.drain_ms / 1000 if "drain" not in given.without else 0.0
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    service = Service(given.slow_ms, given.dependency, given.liveness)
    server = CountingServer(None)
    announce = "announcement" not in given.without
    server.request_callback = application(service, server, announce, MISBEHAVIOUR)

    def on_signal(number: int, _frame: Any) -> None:
        # Runs at once, between two steps of whatever the program does, even if the event loop
        # is blocked. So it does as little as possible.
        if not service.stopping.is_set():  # a second signal changes nothing
            service.stopping.set()  # phase 1 begins: from here on /ready answers 503
            tell(f"{signal.Signals(number).name} received")
            loop.call_soon_threadsafe(stop.set)

    def enforce_limit() -> None:  # phase 4; in a thread, because a blocked loop cannot do it
        service.stopping.wait()
        time.sleep(drain_s + given.limit_ms / 1000)
        tell("limit reached", idle=len(server.idle), busy=len(server.busy))
        os._exit(0)

    if "limit" not in given.without:
        # A daemon thread does not keep the process alive once all work is done.
        daemon = "daemon timer" not in given.without
        threading.Thread(target=enforce_limit, daemon=daemon).start()
    if "handler" not in given.without:
        signal.signal(signal.SIGTERM, on_signal)
        signal.signal(signal.SIGINT, on_signal)

    sockets = bind_sockets(given.port, "127.0.0.1")
    server.add_sockets(sockets)
    await _start_up(service, stop, given.startup_ms, sockets[0].getsockname()[1])
    await stop.wait()

    # Phase 1: report not ready, and still serve everything, until the load balancer has asked
    # and taken this process off its list. One that never was ready is on no list.
    if service.started:
        await asyncio.sleep(drain_s)

    # Phase 2: take no new connections, and close those that carry no request.
    server.stop()
    if "idle closing" not in given.without:
        server.close_idle()
    tell("no new connections")

    # Phase 3: finish running work. What else belongs to a shutdown, such as writing the last
    # lines of a log, comes after the last answer and before the end.
    if "waiting" not in given.without:
        await server.none_left()
        tell("all requests finished")

    # Phase 4, enforce the limit, has been counting since the signal. If the work is done
    # early, the process ends here, with exit code 0, and the timer ends with it.


async def _start_up(service: Service, stop: asyncio.Event, startup_ms: int, port: int) -> None:
    """Tell that it listens, and be ready after `startup_ms`, unless a signal comes first."""
    service.started = startup_ms == 0
    tell("listening", pid=os.getpid(), port=port)
    if not service.started:
        try:
            await asyncio.wait_for(stop.wait(), startup_ms / 1000)
        except TimeoutError:
            service.started = True
            tell("started")


def main(argv: list[str] | None = None) -> None:
    """Run the server from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lessons_lib.processes.server", description="A server that stops gracefully."
    )
    parser.add_argument("--port", type=int, default=0, help="0: any free one, told when listening")
    parser.add_argument("--drain-ms", type=int, default=500, help="how long phase 1 lasts")
    parser.add_argument("--limit-ms", type=int, default=3000, help="from phase 2 to the cut")
    parser.add_argument("--slow-ms", type=int, default=800, help="how long /slow works")
    parser.add_argument("--startup-ms", type=int, default=0, help="how long until it is ready")
    parser.add_argument(
        "--dependency", type=int, help="port of a service that it cannot do without"
    )
    parser.add_argument("--liveness", choices=tuple(LIVENESS), default="own state")
    parser.add_argument(
        "--without", action="append", default=[], choices=tuple(PARTS), help="leave a part out"
    )
    asyncio.run(serve(parser.parse_args(argv)))


if __name__ == "__main__":
    main()
