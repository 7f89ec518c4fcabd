"""An outage for real: a local HTTP server that fails for a while, and a client with a breaker."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import TCPServer

import pandas as pd

from lessons_lib.errors import whole_number
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.breaker_result import states_of

__all__ = ["RealOutage", "run_real_outage"]

HOST = "127.0.0.1"
LONGEST_MS = 5000


@dataclass(frozen=True)
class RealOutage:
    """What the server saw, and what the breaker did.

    Args:
        served: requests answered with 200.
        wasted: requests answered with 503, counted by the server.
        refused: calls the breaker refused, which the server never saw.
        states: event table of the breaker, in real milliseconds; empty without a breaker.
    """

    served: int
    wasted: int
    refused: int
    states: pd.DataFrame


class _Handler(BaseHTTPRequestHandler):
    timeout = 1

    def do_GET(self) -> None:
        status = 503 if self.server.is_down() else 200
        self.server.answered[status] += 1
        self.send_response_only(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class _Server(HTTPServer):
    """A server on an ephemeral port of this machine that answers 503 while it is down."""

    def __init__(self, down_ms: tuple[int, int]) -> None:
        super().__init__((HOST, 0), _Handler)
        self.began = time.monotonic()
        self.answered = {200: 0, 503: 0}
        self._down_ms = down_ms

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # without looking up this machine's name, which can be slow

    def now_ms(self) -> int:
        return int((time.monotonic() - self.began) * 1000)

    def is_down(self) -> bool:
        return self._down_ms[0] <= self.now_ms() < self._down_ms[1]


@contextmanager
def _running(down_ms: tuple[int, int]) -> Iterator[_Server]:
    server = _Server(down_ms)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    try:
        thread.start()
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(2)


def _get(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def run_real_outage(
    breaker: Breaker | None = None,
    *,
    down_ms: tuple[int, int] = (300, 900),
    until_ms: int = 1500,
    every_ms: int = 20,
) -> RealOutage:
    """Call a real server through its outage; the breaker's clock is the machine's own.

    The server runs in a thread and is gone when this returns, also after an interrupt.

    Args:
        breaker: its settings, or None to call every time.
        down_ms: from when to when the server answers 503.
        until_ms: when the last call starts, at most 5000.
        every_ms: time between the starts of two calls.
    """
    until_ms = whole_number("until_ms", until_ms, low=1, high=LONGEST_MS)
    every_ms = whole_number("every_ms", every_ms, low=1)
    guard = breaker.fresh() if breaker else None
    refused = 0
    with _running(down_ms) as server:
        for start_ms in range(0, until_ms, every_ms):
            time.sleep(max(0, start_ms - server.now_ms()) / 1000)
            ticket = guard.ask(server.now_ms()) if guard else None
            if guard and ticket is None:
                refused += 1
                continue
            answered = _get(server.server_address[1])
            if guard:
                guard.report(ticket, server.now_ms(), "success" if answered else "failure")
        answered = dict(server.answered)
    return RealOutage(answered[200], answered[503], refused, states_of([guard] if guard else []))
