"""Run benchmarks and keep what they print.

    python -m benchmarks [NAME ...]

Each benchmark is a module of this folder. With no name all run, and the tables go to
RESULTS.md beside this file, under a description of the machine.
"""

import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def names() -> list[str]:
    """Return the benchmarks there are."""
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def run(name: str) -> str:
    """Run one benchmark, show its lines as they come, and return them."""
    print(f"## {name}\n", flush=True)
    command = [sys.executable, "-u", "-m", f"benchmarks.{name}"]
    process = subprocess.Popen(command, cwd=FOLDER.parent, stdout=subprocess.PIPE, text=True)
    lines = []
    for line in process.stdout or ():
        print(line, end="", flush=True)
        lines.append(line)
    if process.wait():
        raise SystemExit(f"{name} ended with exit code {process.returncode}")
    print()
    return "".join(lines)


def machine() -> str:
    """Return one line on what the figures were taken on."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "matplotlib"))
    return (
        f"{os.cpu_count()} processors, {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, {libraries}"
    )


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks, or all and write RESULTS.md."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"no benchmark is called {unknown[0]!r}; there are {', '.join(names())}")
        return 2
    tables = {name: run(name) for name in chosen or names()}
    if not chosen:
        parts = [f"## {name}\n\n```\n{table.rstrip()}\n```\n" for name, table in tables.items()]
        head = "# Results\n\nMade by `python3 start.py bench`. Only ratios within one table mean anything.\n\n"
        (FOLDER / "RESULTS.md").write_text(f"{head}{machine()}.\n\n" + "\n".join(parts), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
