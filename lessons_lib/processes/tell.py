"""How a child tells its parent what happens: one JSON object a line, with the time."""

import json
import os
import time
from typing import Any

__all__ = ["tell"]


def tell(event: str, **facts: Any) -> None:
    """Print one event for the parent, at once.

    Args:
        event: what happened: "ready", "processed".
        facts: whatever belongs to it and can be written as JSON.
    """
    # Monotonic time is the same in all processes of a machine, so events of several share
    # one time line.
    line = {"event": event, "at_s": time.monotonic(), **facts}
    # One system call for the whole line: lines of several threads do not mix, and a signal
    # handler may tell too (`print` must not be entered while it is interrupted in the middle).
    os.write(1, (json.dumps(line) + "\n").encode())
