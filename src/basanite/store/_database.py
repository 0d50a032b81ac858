"""Opening a database and running statements in it; SQLite and PostgreSQL behave the same.

Reads go through SQLAlchemy Core. Inserts go straight to the driver: they are the hot path,
and one statement of many rows is one call into the driver, which matters twice, since SQLite's
gives the interpreter's lock away at each call and PostgreSQL's waits for the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from sqlalchemy import Engine, Row, Select, Table, event
from sqlalchemy.exc import DBAPIError

from ._address import Address
from ._faults import is_lost_connection, is_passing, storage_error
from ._format import prepare, require
from ._tables import TableSet

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
    from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

_PAUSES = (0.05, 0.2, 1.0, 3.0)
"""Seconds to wait before another try, where one may help."""
_MOST_ROWS = 64
"""Most rows of one statement; each number of rows is a statement that drivers prepare once."""

T = TypeVar("T")
Columns = TypeVarTuple("Columns")
Values = tuple[object, ...]


class Database:
    """An open database that holds certain tables.

    `read` and `read_now` may be called from any thread, the writing methods from one at a
    time.
    """

    def __init__(self, engine: Engine, address: Address) -> None:
        self._engine = engine
        self._address = address
        self._driver_error = _driver_error(engine)
        self._writer: PoolProxiedConnection | None = None
        self._reader: PoolProxiedConnection | None = None
        self._reader_lock = threading.Lock()
        self._statements: dict[tuple[str, int, bool], str] = {}

    @classmethod
    def open(
        cls, url_or_path: str | Path, tables: TableSet, *, fsync: bool, read_only: bool = False
    ) -> Database:
        """Open a database and make the tables that it lacks.

        Args:
            url_or_path: where it is.
            tables: what it must hold.
            fsync: wait for the disk at every commit.
            read_only: nothing will be written; so a file in a place that can't be written will
                do, as long as it has its tables.

        Raises:
            StorageError: it can't be opened, or holds something else.
            InputError: the URL can't be read or names another database system.
            MissingExtra: a PostgreSQL URL without psycopg installed.
        """
        address = Address.parse(url_or_path)
        address.check()
        if read_only:
            address = address.for_reading()
        engine = address.engine()
        if address.is_sqlite:
            _set_up_sqlite(engine, fsync=fsync)
        database = cls(engine, address)
        ready = require if address.is_read_only else prepare
        try:
            database._retried(lambda: ready(engine, tables, address), reconnect=False)
        except BaseException:
            engine.dispose()
            raise
        return database

    @property
    def shown(self) -> str:
        """Where it is, for people and manifests: no password."""
        return self._address.shown

    @property
    def is_sqlite(self) -> bool:
        """Whether reads are so quick that an event loop may wait for them."""
        return self._address.is_sqlite

    def read(self, query: Select[*Columns]) -> Sequence[Row[*Columns]]:
        """Run a Core query and give all its rows."""

        def once() -> Sequence[Row[*Columns]]:
            with self._engine.connect() as connection:
                return connection.execute(query).all()

        return self._retried(once)

    def read_now(self, statement: str, values: Values) -> list[Values]:
        """Run a plain SQL query (SQLite's `?` marks) on a connection that is kept for it."""
        with self._reader_lock:
            try:
                if self._reader is None:
                    self._reader = self._engine.raw_connection()
                cursor = self._reader.cursor()
                cursor.execute(statement, values)
                # All rows, even of a single one: a cursor left half-way holds its snapshot.
                return list(cursor.fetchall())
            except self._driver_error as error:
                raise storage_error(error, self.shown) from error

    def insert_new(self, table: Table, rows: Sequence[Values], *, names: int) -> set[Values]:
        """Insert rows in one transaction; leave those alone whose name is there.

        Args:
            table: where to.
            rows: the values of the table's first columns, in their order.
            names: how many columns, from the first, make the unique name.

        Returns:
            The names that were inserted.
        """
        return self._write(table, rows, names, replace=False)

    def upsert(self, table: Table, rows: Sequence[Values], *, names: int) -> None:
        """Insert rows in one transaction; where a name is there, replace its row."""
        # PostgreSQL refuses a statement that would replace one row twice.
        last = {row[:names]: row for row in rows}
        self._write(table, list(last.values()), names, replace=True)

    def close(self) -> None:
        """Close all connections."""
        for connection in (self._writer, self._reader):
            if connection is not None:
                connection.close()
        self._writer = self._reader = None
        self._engine.dispose()

    def _write(
        self, table: Table, rows: Sequence[Values], names: int, *, replace: bool
    ) -> set[Values]:
        return self._retried(lambda: self._transaction(table, rows, names, replace=replace))

    def _transaction(
        self, table: Table, rows: Sequence[Values], names: int, *, replace: bool
    ) -> set[Values]:
        if self._writer is None:
            self._writer = self._engine.raw_connection()
        cursor = self._writer.cursor()
        written: set[Values] = set()
        chunks = [rows[start : start + _MOST_ROWS] for start in range(0, len(rows), _MOST_ROWS)]
        # The connection commits each statement by itself, so one alone needs nothing around it.
        if len(chunks) > 1:
            cursor.execute("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
        try:
            for chunk in chunks:
                statement = self._statement(table, len(chunk), names, replace=replace)
                cursor.execute(statement, [value for row in chunk for value in row])
                written.update(tuple(row) for row in cursor.fetchall())
            if len(chunks) > 1:
                cursor.execute("COMMIT")
        except BaseException:
            self._roll_back(cursor)
            raise
        finally:
            cursor.close()
        return written

    def _roll_back(self, cursor: DBAPICursor) -> None:
        """End a failed transaction, if the failure has not ended it."""
        try:
            cursor.execute("ROLLBACK")
        except self._driver_error:
            # No transaction any more, or no connection: a new one is made at the next try.
            if not self.is_sqlite and self._writer is not None:
                self._writer.invalidate()
                self._writer = None

    def _statement(self, table: Table, rows: int, names: int, *, replace: bool) -> str:
        found = self._statements.get((table.name, rows, replace))
        if found is not None:
            return found
        columns = [column.name for column in table.columns if column.name != "seq"]
        mark = "?" if self.is_sqlite else "%s"
        row = f"({', '.join([mark] * len(columns))})"
        name = ", ".join(columns[:names])
        changes = ", ".join(f"{column} = excluded.{column}" for column in columns[names:])
        statement = (
            f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES {', '.join([row] * rows)} "
            f"ON CONFLICT ({name}) DO {f'UPDATE SET {changes}' if replace else 'NOTHING'} "
            f"RETURNING {name}"
        )
        return self._statements.setdefault((table.name, rows, replace), statement)

    def _retried(self, action: Callable[[], T], *, reconnect: bool = True) -> T:
        """Do something again while another process holds a lock, or with a new connection.

        All that is written here can be written twice: a name that is there stays, or gets
        the same row again.
        """
        for pause in _PAUSES:
            try:
                return action()
            except (DBAPIError, self._driver_error) as error:
                cause = error.orig if isinstance(error, DBAPIError) else error
                if not (is_passing(cause) or (reconnect and is_lost_connection(cause))):
                    raise storage_error(cause, self.shown) from error
            time.sleep(pause)
        try:
            return action()
        except (DBAPIError, self._driver_error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise storage_error(cause, self.shown) from error


def _driver_error(engine: Engine) -> type[Exception]:
    """Give the class of all errors of a driver."""
    error: type[Exception] = engine.dialect.loaded_dbapi.Error
    return error


def _set_up_sqlite(engine: Engine, *, fsync: bool) -> None:
    def connected(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        # NORMAL in WAL mode: a commit is in the operating system's hands, so it survives the
        # death of this process; FULL waits for the disk and survives a power loss too.
        cursor.execute(f"PRAGMA synchronous={'FULL' if fsync else 'NORMAL'}")
        cursor.close()

    event.listen(engine, "connect", connected)
