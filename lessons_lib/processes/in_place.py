"""A worker whose memory is spoilt, and that begins again in place or in a new process.

python -m lessons_lib.processes.in_place --restart in-place
"""

import argparse
import sys

from lessons_lib.processes.tell import tell

__all__ = ["RESTARTS", "main"]

RESTARTS = ("in place", "new process")

MEMORY = {"rate": 1.25}
"""What the whole process shares, and no call of `work` makes anew: a cache, a pool, a lock."""


def work(first: int, last: int, spoils: int) -> int:
    """Serve requests; return the number of the first one that fails, or `last` + 1."""
    for request in range(first, last + 1):
        if request == spoils:
            MEMORY["rate"] = 0.0
        try:
            100 / MEMORY["rate"]
        except ZeroDivisionError:
            tell("failed", request=request)
            return request
        tell("served", request=request)
    return last + 1


def main(argv: list[str] | None = None) -> None:
    """Serve requests; after a failure, begin again in place or leave it to the supervisor."""
    parser = argparse.ArgumentParser(prog="python -m lessons_lib.processes.in_place")
    parser.add_argument("--restart", choices=RESTARTS, default="new process")
    parser.add_argument("--first", type=int, default=1, help="number of the first request")
    parser.add_argument("--last", type=int, default=10)
    parser.add_argument("--spoils", type=int, default=4, help="the request that spoils the memory")
    given = parser.parse_args(argv)
    failed = work(given.first, given.last, given.spoils)
    while failed < given.last:
        if given.restart == "new process":
            sys.exit(1)
        tell("restarted in place")
        failed = work(failed + 1, given.last, given.spoils)


if __name__ == "__main__":
    main()
