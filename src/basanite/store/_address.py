"""Where a database is: an SQLite file or a PostgreSQL server."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError

from ..errors import InputError, MissingExtra, StorageError

_BUSY_SECONDS = 30.0
_CONNECT_SECONDS = 10
_STATEMENTS = 256
"""Prepared statements that a connection keeps: more than there are different ones."""
_OLDEST_SQLITE = (3, 35, 0)
"""The first with RETURNING."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database's address, read and checked."""

    url: URL
    _as_it_is: Mapping[str, str] = field(default_factory=dict, hash=False)
    """How SQLite opens a file that it can't write; empty where it can."""

    @classmethod
    def parse(cls, url_or_path: str | Path) -> Address:
        """Read a path or a URL.

        Raises:
            InputError: the URL can't be read or names another database system.
        """
        text = str(url_or_path)
        if isinstance(url_or_path, Path) or "://" not in text:
            return cls(URL.create("sqlite", database=text))
        # Only the scheme is shown in errors: the rest may hold a password.
        scheme = text.partition("://")[0]
        todo = "Give a path, or a URL such as postgresql://user@host/database."
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise InputError(
                "is no database URL that can be read", where=f"{scheme}://…", todo=todo
            ) from None
        system = url.get_backend_name()
        if system in ("postgresql", "postgres"):
            return cls(url.set(drivername="postgresql+psycopg"))
        if system != "sqlite":
            raise InputError(
                f"{system} is not supported; SQLite and PostgreSQL are", where=scheme, todo=todo
            )
        if not url.database or url.database == ":memory:":
            raise InputError(
                "a database in memory would be lost at the end", where=text, todo="Give a path."
            )
        return cls(URL.create("sqlite", database=url.database))

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of this machine."""
        return self.url.drivername == "sqlite"

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return Path(self.url.database or "")

    @property
    def shown(self) -> str:
        """The address for people and manifests: without a password."""
        if self.is_sqlite:
            return str(self.path)
        # Dropped, not starred: libpq then looks in PGPASSWORD and ~/.pgpass.
        public = self.url.set(drivername="postgresql")._replace(password=None)
        return public.difference_update_query(("password", "sslpassword")).render_as_string()

    def check(self) -> None:
        """Find the faults of a path that SQLite would only call "unable to open".

        Raises:
            StorageError: it is a folder, its folder does not exist, or SQLite is too old.
            MissingExtra: PostgreSQL without psycopg.
        """
        if not self.is_sqlite:
            if find_spec("psycopg") is None:
                raise MissingExtra(
                    "PostgreSQL needs psycopg", todo="pip install 'basanite[postgres]'"
                )
            return
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise StorageError(
                f"Python's SQLite {sqlite3.sqlite_version} is too old",
                todo="Use a Python built with SQLite 3.35 or newer.",
            )
        if self.path.is_dir():
            raise StorageError("is a folder", where=self.shown, todo="Name a file in it.")
        if not self.path.parent.is_dir():
            raise StorageError(
                "its folder does not exist", where=self.shown, todo="Make the folder first."
            )

    def for_reading(self) -> Address:
        """Give the address by which a file can be read where nothing can be written.

        SQLite reads a file in WAL mode with the help of a second one (`-shm`) beside it, which
        it makes if need be. Where it can't, the file can still be read: with the second one
        that a writer left or holds now, or, without any writer, as a file that nobody changes.

        Raises:
            StorageError: a writer that was killed left records in the third file (`-wal`), and
                there is no second one to find them with.
        """
        if not self.is_sqlite or self._is_writable:
            return self
        log, index = (Path(f"{self.path}{end}") for end in ("-wal", "-shm"))
        if log.exists() and index.exists():
            return replace(self, _as_it_is={"mode": "ro"})
        if log.exists() and log.stat().st_size:
            raise StorageError(
                f"its last records are still in {log.name}, and the folder can't be written",
                where=self.shown,
                todo="Copy the whole folder to where you may write, and name the copy.",
            )
        return replace(self, _as_it_is={"mode": "ro", "immutable": "1"})

    @property
    def _is_writable(self) -> bool:
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)

    def engine(self) -> Engine:
        """Make the engine; nothing is connected yet.

        Each statement commits by itself unless a transaction is begun in SQL.
        """
        if self.is_sqlite:
            return create_engine(
                self._sqlite_url,
                isolation_level="AUTOCOMMIT",
                connect_args={
                    "check_same_thread": False,
                    "timeout": _BUSY_SECONDS,
                    "cached_statements": _STATEMENTS,
                },
            )
        return create_engine(
            self.url,
            isolation_level="AUTOCOMMIT",
            pool_pre_ping=True,
            connect_args={"connect_timeout": _CONNECT_SECONDS, "application_name": "basanite"},
        )

    @property
    def _sqlite_url(self) -> URL:
        if not self._as_it_is:
            return self.url
        file = self.path.absolute().as_uri()
        return URL.create("sqlite", database=file, query={"uri": "true", **self._as_it_is})

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written there; only `for_reading` gives such addresses."""
        return bool(self._as_it_is)
