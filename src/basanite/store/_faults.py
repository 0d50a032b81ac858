"""What a database driver's error means to a person."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ..errors import StorageError

_SPACE = "Free some space (df -h) and go on; what was committed before is kept."
_DAMAGED = "Restore it from a copy, or name another file; a cache can simply be deleted."

# SQLite's primary result codes: what is wrong, and what to do.
_SQLITE = {
    sqlite3.SQLITE_FULL: ("no space is left for it", _SPACE),
    sqlite3.SQLITE_READONLY: (
        "is read-only",
        "Check the permissions of the file and of its folder (SQLite writes beside it).",
    ),
    sqlite3.SQLITE_PERM: ("may not be opened", "Check its permissions."),
    sqlite3.SQLITE_CANTOPEN: (
        "can't be opened or made",
        "Check the path and the permissions of the file and of its folder.",
    ),
    sqlite3.SQLITE_NOTADB: ("is no SQLite database", "Name another file."),
    sqlite3.SQLITE_CORRUPT: ("is a damaged database", _DAMAGED),
    sqlite3.SQLITE_BUSY: (
        "is locked by another process",
        "Look for a process that holds it (lsof), end it, and go on.",
    ),
    sqlite3.SQLITE_TOOBIG: ("a record is too large for SQLite (1 GB)", "Leave that item out."),
}

# PostgreSQL's codes, whole or by class: what is wrong, and what to do.
_POSTGRES = {
    "53100": ("the server's disk is full", "Free some space on the server and go on."),
    "53300": ("the server takes no more connections", "Raise max_connections, or run fewer."),
    "42501": ("the user may not do that", "Grant it CREATE on the schema and use of the tables."),
    "25006": ("the server is read-only", "Name the primary server."),
    "57P": ("the server is going down or starting up", "Wait for it and go on."),
    "08": ("the connection to the server broke", "Check that it runs and go on."),
}


def storage_error(error: BaseException | None, where: str) -> StorageError:
    """Give the error that a person sees for one that a driver raised."""
    if isinstance(error, sqlite3.Error):
        what, todo = _sqlite(error, where)
    else:
        what, todo = _postgres(error)
    return StorageError(what, where=where, todo=todo)


def is_passing(error: BaseException | None) -> bool:
    """Whether the same statement may succeed a moment later: another process held a lock."""
    if isinstance(error, sqlite3.Error):
        return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    # Serialization failure, deadlock, lock not available.
    return getattr(error, "sqlstate", None) in ("40001", "40P01", "55P03")


def is_lost_connection(error: BaseException | None) -> bool:
    """Whether a server's connection broke, so that a new one may work."""
    if error is None or isinstance(error, sqlite3.Error):
        return False
    state: str | None = getattr(error, "sqlstate", None)
    if state is None:
        # The client library noticed it, not the server: there is no code.
        return type(error).__name__ in ("OperationalError", "InterfaceError")
    return state.startswith(("08", "57P"))


def _code(error: sqlite3.Error) -> int:
    # Extended codes keep the primary one in their lowest byte; errors that Python's module
    # raises by itself have none.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _sqlite(error: sqlite3.Error, where: str) -> tuple[str, str]:
    known = _SQLITE.get(_code(error))
    if known is not None:
        return known
    if _code(error) == sqlite3.SQLITE_IOERR:
        # Some file systems report a full disk or a quota as a failed write.
        return f"can't be read or written ({error})", _SPACE
    folder = Path(where).parent
    return f"the database fails ({error})", f"Check the file and its folder {folder}."


def _postgres(error: BaseException | None) -> tuple[str, str]:
    state = getattr(error, "sqlstate", None) or ""
    for code in (state, state[:3], state[:2]):
        if code in _POSTGRES:
            return _POSTGRES[code]
    # What goes wrong before a session is there has no code, only the server's own words.
    first = str(error).strip().partition("\n")[0]
    return (
        f"the database server fails ({first})",
        "Check that it runs, the user and the database in the URL, and PGPASSWORD.",
    )
