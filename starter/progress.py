"""How far an installation is, read from what pip prints, shown on one line."""

import re
import shutil
import time
from typing import TextIO

__all__ = ["PipReader", "ProgressLine"]

_STARTS = re.compile(
    r"(?:Collecting|Requirement already satisfied:) (?P<name>[\w.-]+)|Processing (?P<file>\S.*)"
)


class PipReader:
    """Turns pip's lines into 'Fetching 37 of 102: pandas'."""

    def __init__(self, packages: int) -> None:
        """Start with the number of lines in the lock file."""
        self.total = packages
        self.fetched = 0
        self.name = "asking for the first one"
        self.installing: list[str] = []

    def feed(self, line: str) -> None:
        """Take one line of pip's output."""
        if line.startswith("Ignoring ") and "markers" in line:
            self.total -= 1  # not for this system or this Python
        elif line.startswith("Installing collected packages: "):
            self.installing = line.split(": ", 1)[1].strip().split(", ")
        elif match := _STARTS.match(line):
            self.fetched += 1
            self.name = match["name"] or re.split(r"[\\/]", match["file"])[-1].split("-")[0]
        elif "Retrying (Retry(" in line:
            self.name = "no answer from the network, trying again"

    def text(self, installed: int = 0) -> str:
        """Return the line to show.

        Args:
            installed: packages that have arrived since pip began to install.
        """
        if not self.installing:
            return f"Fetching {min(self.fetched, self.total)} of {self.total}: {self.name}"
        total = len(self.installing)
        number = min(installed + 1, total)
        return f"Installing {number} of {total}: {self.installing[number - 1]}"


class ProgressLine:
    """One line that is written over again, or a line now and then where that cannot be done."""

    def __init__(self, out: TextIO, every_s: float = 10.0) -> None:
        """Write to `out`; where it is no terminal, at most one line every `every_s` seconds."""
        self.out = out
        self.every_s = every_s
        self.live = out.isatty()
        self.begun = time.monotonic()
        self._last = self.begun
        self._width = 0

    def show(self, text: str) -> None:
        """Show how far things are."""
        now = time.monotonic()
        text = f"{text} ({now - self.begun:.0f} s)"
        if self.live:
            room = shutil.get_terminal_size().columns - 1
            text = text if len(text) <= room else text[: max(0, room - 3)] + "..."
            self.out.write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif now - self._last >= self.every_s:
            self._last = now
            self.out.write(text + "\n")
        self.out.flush()

    def clear(self) -> None:
        """Take the line away, so that the next print starts on a clean one."""
        if self.live and self._width:
            self.out.write("\r" + " " * self._width + "\r")
            self.out.flush()
            self._width = 0
