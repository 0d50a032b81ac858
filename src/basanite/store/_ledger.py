"""The ledger: append-only typed records in SQLite or PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Row, Select, func, select

from ._batches import Batches
from ._closing import Closing
from ._database import Database
from ._record import Record, check_names, decode_body, encode_body
from ._tables import LEDGER_TABLES, records

_LOOKUP_KEYS = 500
_PAGE_BYTES = 4 << 20
_PAGE_ROWS = 512

_Stored = tuple[str, str, str, int, str, str]
"""run, kind, key, schema_version, created_at, body: the columns in the order of the insert."""


class Ledger(Closing):
    """Append-only records, unique on `(run, kind, key)`; the first to be written stays.

    Safe to use from many threads, event loops and processes at once. A record whose `append`
    has returned survives SIGKILL of this process; with `fsync` also a power loss. Reading
    while others write gives what was committed when each page was read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writes: Batches[_Stored, bool] = Batches(self._commit, name="basanite-ledger")

    @classmethod
    def open(
        cls, url_or_path: str | Path, *, fsync: bool = False, read_only: bool = False
    ) -> Ledger:
        """Open a ledger, or make it where there is none.

        Args:
            url_or_path: an SQLite file, or a URL (`sqlite:///…`, `postgresql://…`).
            fsync: wait for the disk at every commit (SQLite); PostgreSQL always does.
            read_only: nothing will be appended, so that a ledger (SQLite) in a place that can't
                be written will do.

        Raises:
            StorageError: it can't be opened: a folder, read-only, locked, full disk, not a
                ledger, or written by a newer version.
            InputError: the URL can't be read or names another database system.
            MissingExtra: a PostgreSQL URL without psycopg installed.
        """
        database = Database.open(url_or_path, LEDGER_TABLES, fsync=fsync, read_only=read_only)
        return cls(database)

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._database.shown

    async def append(self, record: Record) -> bool:
        """Write a record and return once it is committed.

        A task that is cancelled while it waits does not take its record back: it is
        committed with its batch, or fails with it.

        Returns:
            True if it is new, False if `(run, kind, key)` was there (which stays as it was).

        Raises:
            StorageError: the batch could not be committed; nothing of it is stored.
            InputError: a name that no database can hold.
        """
        return await self.submit(record)

    def submit(self, record: Record) -> asyncio.Future[bool]:
        """Hand a record over; the future is done as `append` would be, once it is committed.

        Raises:
            InputError: a name that no database can hold.
        """
        return self._writes.ask(_stored(record))

    def append_now(self, record: Record) -> bool:
        """Do what `append` does, blocking; for code without an event loop."""
        return self._writes.ask_now(_stored(record))

    async def flush(self) -> None:
        """Return once all that was handed to `append` before is committed or has failed."""
        await self._writes.flush()

    def get(self, run: str, kind: str, key: str) -> Record | None:
        """Give one record, or None."""
        query = _whole().where(records.c.run == run, records.c.kind == kind, records.c.key == key)
        found = self._database.read(query)
        return _record(found[0]) if found else None

    async def aget(self, run: str, kind: str, key: str) -> Record | None:
        """Do what `get` does without blocking the event loop."""
        return await asyncio.to_thread(self.get, run, kind, key)

    def several(self, run: str, kind: str, keys: Sequence[str]) -> dict[str, Record]:
        """Give the records of those of the keys that have one, by key; all are held at once."""
        found: dict[str, Record] = {}
        for start in range(0, len(keys), _LOOKUP_KEYS):
            query = _whole().where(
                records.c.run == run,
                records.c.kind == kind,
                records.c.key.in_(keys[start : start + _LOOKUP_KEYS]),
            )
            found.update((row.key, _record(row)) for row in self._database.read(query))
        return found

    def existing(self, run: str, kind: str, keys: Sequence[str]) -> set[str]:
        """Give those of the keys that have a record."""
        found: set[str] = set()
        for start in range(0, len(keys), _LOOKUP_KEYS):
            query = select(records.c.key).where(
                records.c.run == run,
                records.c.kind == kind,
                records.c.key.in_(keys[start : start + _LOOKUP_KEYS]),
            )
            found.update(row[0] for row in self._database.read(query))
        return found

    def records(self, run: str, kind: str) -> Iterator[Record]:
        """Give a run's records of one kind in the order of their insertion, page by page."""
        last = -1
        limit = 8
        while True:
            query = (
                _whole()
                .where(records.c.run == run, records.c.kind == kind, records.c.seq > last)
                .order_by(records.c.seq)
                .limit(limit)
            )
            page = self._database.read(query)
            for row in page:
                yield _record(row)
            if len(page) < limit:
                return
            last = page[-1].seq
            limit = _next_limit(limit, sum(len(row.body) for row in page))

    def count(self, run: str, kind: str) -> int:
        """Count a run's records of one kind."""
        query = (
            select(func.count())
            .select_from(records)
            .where(records.c.run == run, records.c.kind == kind)
        )
        return int(self._database.read(query)[0][0])

    def latest(self, run: str, kind: str) -> str | None:
        """Give the time (UTC, ISO 8601) of a run's latest record of one kind."""
        query = select(func.max(records.c.created_at)).where(
            records.c.run == run, records.c.kind == kind
        )
        found = self._database.read(query)[0][0]
        return None if found is None else str(found)

    def runs(self) -> list[str]:
        """Give the ids of all runs that have records, sorted."""
        query = select(records.c.run).distinct().order_by(records.c.run)
        return [row[0] for row in self._database.read(query)]

    def close(self) -> None:
        """Commit what is queued and close; closing twice is no error."""
        self._writes.close()
        self._database.close()

    def _commit(self, batch: Sequence[_Stored]) -> list[bool]:
        new = self._database.insert_new(records, batch, names=3)
        # A name that the batch holds twice is new once: the first of the two was written.
        return [_take(new, stored[:3]) for stored in batch]


def _take(new: set[tuple[object, ...]], name: tuple[object, ...]) -> bool:
    if name in new:
        new.remove(name)
        return True
    return False


def _stored(record: Record) -> _Stored:
    check_names(record)
    created_at = record.created_at or datetime.now(UTC).isoformat(timespec="milliseconds")
    body = encode_body(record.body)
    return (record.run, record.kind, record.key, record.schema_version, created_at, body)


def _whole() -> Select[int, str, str, str, int, str, str]:
    return select(
        records.c.seq,
        records.c.run,
        records.c.kind,
        records.c.key,
        records.c.schema_version,
        records.c.created_at,
        records.c.body,
    )


def _record(row: Row[int, str, str, str, int, str, str]) -> Record:
    return Record(
        run=row.run,
        kind=row.kind,
        key=row.key,
        body=decode_body(row.body),
        schema_version=row.schema_version,
        created_at=row.created_at,
    )


def _next_limit(rows: int, size: int) -> int:
    """Size the next page by the last one, so that rows of megabytes don't fill the memory."""
    fitting = rows * _PAGE_BYTES // max(size, 1)
    return max(1, min(fitting, rows * 2, _PAGE_ROWS))
