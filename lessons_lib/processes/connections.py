"""An HTTP server that knows which of its connections are at work and which only wait."""

import asyncio
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPMessageDelegate

__all__ = ["CountingServer"]


class CountingServer(HTTPServer):
    """Tornado's server, and the one thing it does not tell: who is busy.

    A connection is *idle* from the moment the server waits for a request on it, and *busy*
    from the moment a request's headers have arrived until its answer has left. Half a request
    does not make it busy: its sender may never send the rest.

    Arguments are those of `tornado.httpserver.HTTPServer`.
    """

    def initialize(self, *args: Any, **kwargs: Any) -> None:  # noqa: D102 (Tornado's own way)
        super().initialize(*args, **kwargs)
        self.idle: set[Any] = set()
        self.busy: set[Any] = set()
        self._last: set[Any] = set()
        self._closing = False
        self._none_left = asyncio.Event()

    def close_after(self, connection: Any) -> None:
        """Close this connection as soon as its running request has its answer."""
        self._last.add(connection)

    def close_idle(self) -> None:
        """Close the idle connections now, and any other as soon as it becomes idle."""
        self._closing = True
        for connection in list(self.idle):
            connection.stream.close()

    async def none_left(self) -> None:
        """Wait until no connection is open."""
        if self.idle or self.busy:
            self._none_left.clear()
            await self._none_left.wait()

    def start_request(self, connection: Any, request: Any) -> HTTPMessageDelegate:
        """Begin to wait for a request; Tornado calls this when the last answer has left."""
        answered = connection in self.busy
        self.busy.discard(connection)
        self.idle.add(connection)
        if self._closing or (answered and connection in self._last):
            # Counted as gone first, closed in the loop's next turn: so "all requests finished"
            # is told before the last client sees its connection end.
            self._forget(connection)
            asyncio.get_running_loop().call_soon(connection.stream.close)
        return _Begun(super().start_request(connection, request), self, connection)

    def on_close(self, connection: Any) -> None:
        """Forget a connection, whoever closed it."""
        super().on_close(connection)
        self._forget(connection)

    def _forget(self, connection: Any) -> None:
        for those in (self.idle, self.busy, self._last):
            those.discard(connection)
        if not self.idle and not self.busy:
            self._none_left.set()


class _Begun(HTTPMessageDelegate):
    """Pass everything on, and note when a request's headers are complete."""

    def __init__(self, inner: HTTPMessageDelegate, server: CountingServer, connection: Any) -> None:
        self._inner, self._server, self._connection = inner, server, connection

    def headers_received(self, start_line: Any, headers: Any) -> Any:
        if self._connection in self._server.idle:
            self._server.idle.discard(self._connection)
            self._server.busy.add(self._connection)
        return self._inner.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Any:
        return self._inner.data_received(chunk)

    def finish(self) -> None:
        self._inner.finish()

    def on_connection_close(self) -> None:
        self._inner.on_connection_close()
