"""A client on a bare socket: it sees what a library would hide, and never repeats a request."""

import socket
from dataclasses import dataclass

__all__ = ["Answer", "Connection", "Lost", "Refused", "ask"]


class Refused(Exception):
    """No connection was made: nothing was sent, and the client knows at once."""


class Lost(Exception):
    """The request was sent and no complete answer came. Nobody knows whether it was carried out."""


@dataclass(frozen=True)
class Answer:
    """One answer.

    Args:
        status: 200, 503, …
        last: whether it announced `Connection: close`.
        length: of its body, in bytes.
    """

    status: int
    last: bool
    length: int


class Connection:
    """One keep-alive connection to a server on this machine.

    Args:
        port: the server's port.
        timeout_s: how long to wait for the next byte.

    Raises:
        Refused: nobody listens.
    """

    def __init__(self, port: int, timeout_s: float = 10) -> None:
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        except OSError as error:
            raise Refused(f"nobody listens on port {port}: {error}") from None
        self._read = self.socket.makefile("rb")

    def send(self, path: str) -> None:
        """Send one request.

        Raises:
            Lost: the connection is broken.
        """
        try:
            self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        except OSError as error:
            raise Lost(f"{path} could not be sent: {error}") from None

    def answer(self) -> Answer:
        """Read one answer to its end; if it was the last one, to the connection's end.

        Raises:
            Lost: the connection ended first, or nothing came for `timeout_s`.
        """
        try:
            words = self._read.readline().split()
            if len(words) < 2:
                raise Lost("the connection ended before an answer")
            headers = {}
            while line := self._read.readline().strip():
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip().lower()
            expected = int(headers.get("content-length", -1))
            got = self._body(expected)
            if got < expected or expected < 0:
                raise Lost(f"the connection ended after {got} bytes of the answer")
            last = headers.get("connection") == "close"
            if last:
                self._read.read()
        except OSError as error:
            raise Lost(f"the connection broke: {error}") from None
        return Answer(int(words[1]), last, got)

    def ask(self, path: str) -> Answer:
        """Send one request and read its answer."""
        self.send(path)
        return self.answer()

    def wait_closed(self) -> bool:
        """Wait until the other side has closed an idle connection; False if time ran out."""
        try:
            return self._read.read(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True

    def close(self) -> None:
        """Close it. More than once is no harm."""
        self._read.close()
        self.socket.close()

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _body(self, expected: int) -> int:
        got = 0
        while got != expected:
            chunk = self._read.read1(1 << 16 if expected < 0 else min(1 << 16, expected - got))
            if not chunk:
                break
            got += len(chunk)
        return got


def ask(port: int, path: str, timeout_s: float = 10) -> Answer:
    """Ask one question over a new connection, as a probe does.

    Raises:
        Refused: nobody listens.
        Lost: no complete answer came.
    """
    with Connection(port, timeout_s) as connection:
        return connection.ask(path)
