"""What the server answers: two questions about itself, one kind of slow work, 404 for the rest."""

import asyncio
import threading
from typing import Any

import tornado.web

from lessons_lib.processes.connections import CountingServer

__all__ = ["Endpoint", "Service", "application"]


class Service:
    """What the process knows about itself.

    Args:
        slow_ms: how long `/slow` works, in milliseconds.
        dependency: the port of a service on this machine that it cannot work without, or None.
        liveness: what `/live` looks at, a name from `LIVENESS`.

    Attributes:
        started: whether the start-up is done.
        stopping: set by the signal handler. (An event of `threading`, because the limit's
            thread waits for it.)
        wedged: whether its own state is beyond repair.
    """

    def __init__(
        self, slow_ms: int = 800, dependency: int | None = None, liveness: str = "own state"
    ) -> None:
        self.slow_ms, self.dependency, self.liveness = slow_ms, dependency, liveness
        self.started = False
        self.stopping = threading.Event()
        self.wedged = False

    async def alive(self) -> bool:
        """Say whether this process should go on, rather than be killed and started anew."""
        if self.liveness == "dependency":
            return await self.dependency_answers()
        return self.liveness == "always ok" or not self.wedged

    async def ready(self) -> bool:
        """Say whether it can take requests at this moment."""
        itself = self.started and not self.stopping.is_set() and not self.wedged
        return itself and await self.dependency_answers()

    async def dependency_answers(self) -> bool:
        """Say whether the dependency accepts a connection; True if there is none."""
        if self.dependency is None:
            return True
        try:
            opening = asyncio.open_connection("127.0.0.1", self.dependency)
            _, writer = await asyncio.wait_for(opening, 0.5)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True


class Endpoint(tornado.web.RequestHandler):
    """The base of all answers: while the process stops, each says that it is the last one."""

    def initialize(self, service: Service, server: CountingServer, announce: bool) -> None:  # noqa: D102
        self.service, self.server, self.announce = service, server, announce

    def flush(self, include_footers: bool = False) -> Any:
        """Send what has been written; with the first bytes go the headers."""
        if self.announce and self.service.stopping.is_set() and not self._headers_written:
            self.set_header("Connection", "close")
            self.server.close_after(self.request.server_connection)
        return super().flush(include_footers)

    def yes_or_no(self, answer: bool, yes: str, no: str) -> None:
        """Answer 200 or 503."""
        self.set_status(200 if answer else 503)
        self.finish(f"{yes if answer else no}\n")


class Live(Endpoint):
    async def get(self) -> None:
        self.yes_or_no(await self.service.alive(), "alive", "not alive")


class Ready(Endpoint):
    async def get(self) -> None:
        self.yes_or_no(await self.service.ready(), "ready", "not ready")


class Slow(Endpoint):
    async def get(self) -> None:
        ms = float(self.get_argument("ms", str(self.service.slow_ms)))
        await asyncio.sleep(ms / 1000)
        self.finish("done\n")


class NotFound(Endpoint):
    def prepare(self) -> None:
        self.set_status(404)
        self.finish("not found\n")


def application(
    service: Service, server: CountingServer, announce: bool, more: list[tuple[str, type]]
) -> tornado.web.Application:
    """Return the routes.

    Args:
        service: what they answer from.
        server: told which connection has carried its last answer.
        announce: whether answers say `Connection: close` while the process stops.
        more: further routes, as pairs of path and `Endpoint`.
    """
    given = {"service": service, "server": server, "announce": announce}
    routes = [("/live", Live), ("/ready", Ready), ("/slow", Slow), *more]
    return tornado.web.Application(
        [(path, endpoint, given) for path, endpoint in routes],
        default_handler_class=NotFound,
        default_handler_args=given,
        log_function=lambda _handler: None,  # the events tell what the lesson needs
    )
