"""The two tables of a queue file, and the check that a file is one."""

import sqlite3
import time
from pathlib import Path

from lessons_lib.queues.queue_errors import NotAQueue

__all__ = ["VERSION", "prepare"]

VERSION = 1
MARK = 0x51756575  # "Queu" in the file's header: what this file is for

SCHEMA = (
    """
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice, so a receipt is never ambiguous
        body TEXT NOT NULL,
        sent_at INTEGER NOT NULL,
        visible_at INTEGER NOT NULL,          -- hidden before this time: delayed, or delivered
        receipt TEXT,                         -- of the delivery that holds it now
        holder TEXT,                          -- who has that delivery
        ended TEXT,                           -- how the last delivery ended: expired, given back
        deliveries INTEGER NOT NULL DEFAULT 0,    -- all there ever were
        receive_count INTEGER NOT NULL DEFAULT 0, -- these three start anew after a redrive
        failure_count INTEGER NOT NULL DEFAULT 0,
        return_count INTEGER NOT NULL DEFAULT 0,
        dead_at INTEGER,                      -- when it was dead-lettered
        reason TEXT                           -- and why
    )
    """,
    # What is held is not in it, so receiving stays quick however many are in flight. Messages
    # with a delay are, and are passed over one by one.
    "CREATE INDEX waiting ON messages (id, visible_at, receipt, dead_at)"
    " WHERE receipt IS NULL AND dead_at IS NULL",
    "CREATE INDEX held ON messages (visible_at) WHERE receipt IS NOT NULL",
    """
    CREATE TABLE history (
        number INTEGER PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        actor TEXT NOT NULL,
        event TEXT NOT NULL,
        message INTEGER,
        attempt INTEGER
    )
    """,
)


def prepare(connection: sqlite3.Connection, path: Path, durable: bool) -> None:
    """Set a new connection up and make the tables if the file is new.

    Args:
        connection: just opened, in autocommit mode.
        path: the file, for the error's words.
        durable: whether each commit waits until the disk has it.

    Raises:
        NotAQueue: the file is a database of something else, or of a later version.
        sqlite3.Error: it cannot be opened or written, or is no database.
    """
    _write_ahead(connection)
    # FULL: a confirmed message survives a power cut. NORMAL: only the death of processes.
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    if _recognise(connection, path):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _recognise(connection, path):  # another process may have been faster
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {MARK}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    # Readers then never wait for the writer. The switch itself ignores the busy timeout when
    # two processes make it at once, so it is repeated here.
    deadline = time.monotonic() + 10
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = (error.sqlite_errorname or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Return True for a queue file, False for an empty one."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if mark == MARK and version == VERSION:
        return True
    if mark == MARK:
        raise NotAQueue(f"{path} is a queue file of version {version}; this code knows {VERSION}")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if mark or tables:
        raise NotAQueue(f"{path} is a database of something else, not a queue file")
    return False
