"""Where things are: the course's folder, its environment, its state."""

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Course", "Problem"]


class Problem(Exception):
    """Something the person at the keyboard can put right, said in plain words."""


@dataclass(frozen=True)
class Course:
    """The paths of one copy of the course."""

    root: Path

    @property
    def venv(self) -> Path:
        """The course's own Python environment."""
        return self.root / ".venv"

    @property
    def state(self) -> Path:
        """Settings, logs and locks of this copy of the course; never committed."""
        return self.root / ".jupyter"

    @property
    def setup_log(self) -> Path:
        """What venv and pip printed the last time they ran."""
        return self.state / "setup.log"

    @property
    def scripts(self) -> Path:
        """The environment's folder of commands."""
        return self.venv / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """The environment's Python."""
        return self.scripts / ("python.exe" if os.name == "nt" else "python")

    @property
    def site_packages(self) -> Path:
        """Where the environment keeps its packages, for the Python that runs this line."""
        base = str(self.venv)
        return Path(sysconfig.get_path("purelib", "venv", vars={"base": base, "platbase": base}))

    @property
    def base_python(self) -> str:
        """The Python to make the environment with, even when start.py runs inside it."""
        if Path(sys.prefix).resolve() == self.venv.resolve():
            return getattr(sys, "_base_executable", sys.executable)
        return sys.executable

    def make_state_folder(self) -> None:
        """Make the state folder, readable by its owner only (it will hold tokens).

        Raises:
            Problem: the course's folder cannot be written to.
        """
        try:
            self.state.mkdir(mode=0o700, exist_ok=True)
            probe = self.state / "writable"
            probe.write_bytes(b"")
            probe.unlink(missing_ok=True)
        except OSError as error:
            raise Problem(
                f"Cannot write to {self.root} ({error.strerror}). "
                "Copy the course to a folder of your own and start it there."
            ) from None
