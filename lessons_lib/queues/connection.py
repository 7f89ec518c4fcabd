"""One connection to the file per process, made when first needed, never carried over a fork."""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from lessons_lib.queues.queue_errors import in_words

__all__ = ["Connection"]

_watched: "weakref.WeakSet[Connection]" = weakref.WeakSet()
_locked: "list[Connection]" = []  # for the length of a fork


class Connection:
    """A queue's way to its file, for all threads of a process, one transaction at a time.

    A connection that a fork carries into the child breaks SQLite's locks, so before a fork
    every open one is closed; parent and child each open their own when they next need it.

    Args:
        path: the file.
        prepare: called with each new SQLite connection, to set it up and check the file.
        busy_timeout_ms: how long to wait while another process writes.
    """

    def __init__(
        self, path: Path, prepare: Callable[[sqlite3.Connection], None], busy_timeout_ms: int
    ) -> None:
        self.path = path
        self._prepare = prepare
        self._busy_s = busy_timeout_ms / 1000
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        if hasattr(os, "register_at_fork"):
            _watch_forks()
            _watched.add(self)

    @contextmanager
    def transaction(self, doing: str) -> Iterator[sqlite3.Connection]:
        """Run a block as one write transaction: all of it, or nothing of it.

        Args:
            doing: what is being done, for an error in words.

        Raises:
            QueueError: it could not be done; nothing was changed.
        """
        with self._lock, in_words(self.path, doing):
            connection = self._connect()
            # IMMEDIATE: the right to write comes first, so nobody reads, decides and is then
            # overtaken.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a failed COMMIT may have rolled back already
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self, doing: str) -> Iterator[sqlite3.Connection]:
        """Run a block that only reads, and sees one moment throughout."""
        with self._lock, in_words(self.path, doing):
            connection = self._connect()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                with suppress(sqlite3.Error):
                    connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; it is opened again if needed."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _connect(self) -> sqlite3.Connection:
        if self._open is None:
            fresh = sqlite3.connect(
                self.path, timeout=self._busy_s, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(fresh)
            except BaseException:
                fresh.close()
                raise
            self._open = fresh
        return self._open


@cache  # once per process: such a registration cannot be taken back
def _watch_forks() -> None:
    os.register_at_fork(before=_forking, after_in_parent=_forked, after_in_child=_forked)


def _forking() -> None:
    _locked.extend(_watched)
    for one in _locked:
        one._lock.acquire()
        with suppress(sqlite3.Error):
            one.close()


def _forked() -> None:
    while _locked:
        _locked.pop()._lock.release()
