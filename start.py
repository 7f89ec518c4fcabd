"""Open the course, or check it: `python3 start.py --help` lists the commands.

This file says no in one line to a Python that is too old, so it holds nothing that an old Python
cannot read. The work is done in the folder starter/, with the standard library only.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the one file that an older Python must understand
    sys.exit(
        "The course needs Python 3.11 or newer; this is Python "
        + ".".join(str(number) for number in sys.version_info[:2])
        + " (" + sys.executable + ")."
    )  # fmt: skip

# Folders named by PYTHONPATH may hold modules called like the standard library's: look elsewhere.
strays = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
sys.path[:] = [p for p in sys.path if os.path.abspath(p) not in strays]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from starter.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
