"""The note inside the environment that says what it was made from, written last."""

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass

from starter.course import Course

__all__ = ["LEVELS", "LOCKS", "Stamp", "fingerprint"]

# Each level contains those before it.
LOCKS = {
    "course": "requirements.txt",
    "extras": "requirements-extras.txt",
    "dev": "requirements-dev.txt",
}
LEVELS = tuple(LOCKS)


def fingerprint(course: Course, level: str) -> str:
    """Return a short hash of everything that decides what is installed at a level."""
    digest = hashlib.sha256()
    for name in (LOCKS[level], "pyproject.toml"):
        # Line endings may differ between two checkouts of the same files.
        digest.update((course.root / name).read_bytes().replace(b"\r\n", b"\n"))
        digest.update(b"\0")
    return digest.hexdigest()[:20]


@dataclass(frozen=True)
class Stamp:
    """What an environment was made from; a level's field is empty until installed whole."""

    folder: str
    python: str
    course: str = ""
    extras: str = ""
    dev: str = ""

    @classmethod
    def wanted(cls, course: Course) -> "Stamp":
        """Return the stamp of an environment with nothing in it yet, here and for this Python."""
        return cls(str(course.root), f"{sys.version_info[0]}.{sys.version_info[1]}")

    @classmethod
    def read(cls, course: Course) -> "Stamp | None":
        """Return the environment's stamp, or None where there is none that can be read."""
        try:
            return cls(**json.loads((course.venv / "course.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, course: Course) -> None:
        """Put the stamp into the environment in one step: never half of it."""
        path = course.venv / "course.json"
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=True) + "\n", "utf-8")
        os.replace(draft, path)

    def fits(self, other: "Stamp") -> bool:
        """Say whether two stamps are for the same folder and the same Python."""
        return (self.folder, self.python) == (other.folder, other.python)

    def is_whole(self, course: Course, level: str) -> bool:
        """Say whether everything that a level asks for is installed."""
        needed = LEVELS[: LEVELS.index(level) + 1]
        return self.fits(Stamp.wanted(course)) and all(
            getattr(self, name) == fingerprint(course, name) for name in needed
        )
