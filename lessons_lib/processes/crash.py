"""A program that goes wrong as it is told to, for a supervisor to deal with.

python -m lessons_lib.processes.crash --code 1 --lives-ms 500
"""

import argparse
import signal
import sys
import time

from lessons_lib.processes.tell import tell

__all__ = ["main"]


def main(argv: list[str] | None = None) -> None:
    """Live for a while, then end with an exit code."""
    parser = argparse.ArgumentParser(prog="python -m lessons_lib.processes.crash")
    parser.add_argument("--code", type=int, default=1, help="the exit code")
    parser.add_argument("--lives-ms", type=int, default=0, help="how long it lives")
    parser.add_argument("--fake-success", action="store_true", help="say that all is well first")
    parser.add_argument("--deaf", action="store_true", help="ignore SIGTERM")
    given = parser.parse_args(argv)
    if given.deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if given.fake_success:
        tell("healthy")
    tell("running")
    time.sleep(given.lives_ms / 1000)
    sys.exit(given.code)


if __name__ == "__main__":
    main()
