"""What a liveness probe may look at."""

__all__ = ["LIVENESS"]

LIVENESS = {
    "own state": "right: the process, and nothing else",
    "dependency": "wrong: somebody else's outage gets every replica restarted",
    "always ok": "wrong: a process that is stuck for ever is never restarted",
}
