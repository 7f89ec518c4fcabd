"""What can go wrong with a queue on a disk, each in plain words and with a name to catch."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "DiskFull",
    "NotAQueue",
    "QueueBusy",
    "QueueError",
    "ReadOnlyQueue",
    "ReceiptRefused",
    "in_words",
]


class QueueError(Exception):
    """Something the queue could not do. Nothing was changed and nothing was lost."""


class DiskFull(QueueError):
    """There is no room to write. What was confirmed before is safe; free space and repeat."""


class ReadOnlyQueue(QueueError):
    """The file or its folder may not be written."""


class NotAQueue(QueueError):
    """The file is damaged, or is something else."""


class QueueBusy(QueueError):
    """Other processes held the file for longer than the busy timeout."""


class ReceiptRefused(QueueError):
    """The receipt no longer holds its message, so what was asked for it was not done.

    Attributes:
        reason: "expired", "delivered again", "given back", "dead-lettered", "gone" (it was
            acknowledged or purged) or "unknown".
    """

    def __init__(self, words: str, reason: str) -> None:
        super().__init__(words)
        self.reason = reason


def _translate(error: sqlite3.Error, path: Path, doing: str) -> QueueError:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith("SQLITE_FULL") or name in ("SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC"):
        # A quota or a limit on file size shows as a failed write, not as "full".
        return DiskFull(
            f"no room to {doing}: the disk with {path} is full. Nothing was changed; "
            "what was confirmed before is safe"
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        if not path.parent.is_dir():
            return QueueError(f"cannot {doing}: there is no folder {path.parent}")
        if path.is_dir():
            return NotAQueue(f"cannot {doing}: {path} is a folder, not a queue file")
        return ReadOnlyQueue(
            f"cannot {doing}: {path} or its folder may only be read. Nothing was changed"
        )
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return NotAQueue(f"cannot {doing}: {path} is damaged or is not a queue file ({error})")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")):
        return QueueBusy(f"cannot {doing}: other processes kept {path} busy. Nothing was changed")
    return QueueError(f"cannot {doing} in {path}: {error}")


@contextmanager
def in_words(path: Path, doing: str) -> Iterator[None]:
    """Turn SQLite's errors into the queue's own.

    Args:
        path: the queue's file.
        doing: what was being done, to follow "cannot": "send", "open the queue".
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path, doing) from error
