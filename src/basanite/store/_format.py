"""Making the tables where there are none, and refusing those that are not ours to use."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, insert, inspect, select

from ..errors import StorageError
from ._address import Address
from ._tables import FORMAT, TableSet, formats

_LOCK_NUMBER = 0x62617361
"""Any fixed number: the advisory lock under which PostgreSQL tables are made."""
_OUR_PREFIX = "basanite_"


def prepare(engine: Engine, tables: TableSet, address: Address) -> None:
    """Check what a database holds, and make what is missing.

    Raises:
        StorageError: it belongs to another program, or to a newer version of this one.
    """
    with engine.connect() as connection:
        if _is_ready(connection, tables, address):
            return
        # Many processes may come here at once: only one may make the tables.
        if address.is_sqlite:
            _turn_on_wal(connection)
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})")
        try:
            if not _is_ready(connection, tables, address):
                _make(connection, tables)
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            # Closing a connection ends its transaction; it must not go back into the pool.
            connection.invalidate()
            raise


def require(engine: Engine, tables: TableSet, address: Address) -> None:
    """Check what a database holds where nothing can be made.

    Raises:
        StorageError: it lacks its tables, or belongs to another program or a newer version.
    """
    with engine.connect() as connection:
        if not _is_ready(connection, tables, address):
            raise StorageError(f"holds no {tables.what}", where=address.shown, todo="Restore it.")


def _is_ready(connection: Connection, tables: TableSet, address: Address) -> bool:
    names = inspect(connection).get_table_names()
    if formats.name not in names:
        foreign = [name for name in names if not name.startswith(_OUR_PREFIX)]
        # A server's database may be shared with others; a file is one program's own.
        if foreign and address.is_sqlite:
            raise StorageError(
                f"is a database of another program (it has a table {foreign[0]!r})",
                where=address.shown,
                todo="Name another file.",
            )
        return False
    query = select(formats.c.version).where(formats.c.part == tables.part)
    version = connection.execute(query).scalar()
    if version is not None and version > FORMAT:
        raise StorageError(
            f"its {tables.what} has format {version}; this version knows {FORMAT} and older",
            where=address.shown,
            todo="Update basanite (pip install -U basanite).",
        )
    return version is not None


def _make(connection: Connection, tables: TableSet) -> None:
    for table in tables.tables:
        table.create(connection, checkfirst=True)
    connection.execute(insert(formats).values(part=tables.part, version=FORMAT))


def _turn_on_wal(connection: Connection) -> None:
    # It stays with the file. A file system that can't do it answers with another mode, which
    # is as safe and only slower.
    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
