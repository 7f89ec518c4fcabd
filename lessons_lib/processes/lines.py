"""What a child prints, read as it comes: events where a line is one, plain output otherwise."""

import json
import threading
from collections import deque
from contextlib import suppress
from typing import IO, Any

__all__ = ["Lines"]

MOST_LINES = 10_000
LONGEST_LINE = 1 << 20


class Lines:
    """Read a stream to its end in a thread of its own, so that the writer never has to wait.

    Args:
        stream: a binary stream, closed when it has ended.

    Attributes:
        events: the lines that are JSON objects with an "event".
        output: the last 10 000 other lines, as text.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.events: list[dict[str, Any]] = []
        self.output: deque[str] = deque(maxlen=MOST_LINES)
        self._stream = stream
        self._thread = threading.Thread(target=self._read, daemon=True, name="child's lines")
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait until all is read. A grandchild that keeps the pipe open is not waited for."""
        self._thread.join(timeout_s)

    def _read(self) -> None:
        with self._stream:
            while line := self._stream.readline(LONGEST_LINE):
                self._take(line.decode("utf-8", "replace").rstrip("\r\n"))

    def _take(self, line: str) -> None:
        event = None
        if line.startswith("{"):
            with suppress(ValueError):
                event = json.loads(line)
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            self.events.append(event)
        else:
            self.output.append(line)
