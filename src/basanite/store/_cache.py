"""The reply cache: what models answered, by a key that holds all that matters."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from ..errors import StorageError
from ._batches import Batches
from ._closing import Closing
from ._database import Database
from ._record import decode_body, encode_body
from ._tables import CACHE_TABLES, profiles, replies

_ONE_REPLY = f"SELECT body FROM {replies.name} WHERE key = ?"

_Reply = tuple[str, str, str]
"""key, created_at, body: the columns in the order of the insert."""
_Profile = tuple[str, str, str, str]


class ReplyCache(Closing):
    """Replies by key, and small profiles by namespace and key; both can be overwritten.

    Safe to use from many threads, event loops and processes at once.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writes: Batches[_Reply | _Profile, None] = Batches(
            self._commit, name="basanite-cache"
        )
        # A look-up in a file takes less time than handing it to a thread; a round trip to a
        # server must not stop the event loop, and many can share one.
        self._reads: Batches[str, str | None] | None = None
        if not database.is_sqlite:
            self._reads = Batches(self._look_up, name="basanite-cache-reads")

    @classmethod
    def open(cls, url_or_path: str | Path) -> ReplyCache:
        """Open a cache, or make it where there is none.

        Args:
            url_or_path: an SQLite file, or the URL of a PostgreSQL database.

        Raises:
            StorageError: it can't be opened; see `Ledger.open`.
            InputError: the URL can't be read or names another database system.
            MissingExtra: a PostgreSQL URL without psycopg installed.
        """
        return cls(Database.open(url_or_path, CACHE_TABLES, fsync=False))

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._database.shown

    async def get(self, key: str) -> dict[str, object] | None:
        """Give the reply of a key, or None.

        Raises:
            StorageError: the cache can't be read.
        """
        if self._reads is not None:
            text = await self._reads.ask(key)
            return None if text is None else decode_body(text)
        found = self._database.read_now(_ONE_REPLY, (key,))
        return decode_body(str(found[0][0])) if found else None

    async def put(self, key: str, body: Mapping[str, object]) -> None:
        """Write a reply, or replace it, and return once it is committed.

        Raises:
            StorageError: the cache can't be written.
        """
        await self._writes.ask((key, _now(), encode_body(body)))

    def recall(self, namespace: str, key: str) -> dict[str, object] | None:
        """Give a profile, or None; blocks for one read.

        Raises:
            StorageError: the cache can't be read.
        """
        query = select(profiles.c.body).where(
            profiles.c.namespace == namespace, profiles.c.key == key
        )
        found = self._database.read(query)
        return decode_body(found[0].body) if found else None

    def remember(self, namespace: str, key: str, body: Mapping[str, object]) -> None:
        """Write a profile, or replace it; blocks until it is committed.

        Raises:
            StorageError: the cache can't be written.
        """
        self._writes.ask_now((namespace, key, _now(), encode_body(body)))

    def close(self) -> None:
        """Commit what is queued and close; closing twice is no error."""
        self._writes.close()
        if self._reads is not None:
            self._reads.close()
        self._database.close()

    def _commit(self, batch: Sequence[_Reply | _Profile]) -> list[None]:
        rows = [row for row in batch if len(row) == 3]
        if rows:
            self._database.upsert(replies, rows, names=1)
        remembered = [row for row in batch if len(row) == 4]
        if remembered:
            self._database.upsert(profiles, remembered, names=2)
        return [None] * len(batch)

    def _look_up(self, keys: Sequence[str]) -> list[str | None]:
        query = select(replies.c.key, replies.c.body).where(replies.c.key.in_(set(keys)))
        found: dict[str, str] = {}
        for key, body in self._database.read(query):
            found[key] = body
        return [found.get(key) for key in keys]


def default_cache_path() -> Path:
    """Give the cache's file and make its folder, which only this user may enter.

    `$BASANITE_CACHE` names another file; else it is `basanite/cache.sqlite` in the
    platform's folder for caches.

    Raises:
        StorageError: the folder can't be made.
    """
    named = os.environ.get("BASANITE_CACHE")
    path = Path(named).expanduser() if named else _user_caches() / "basanite" / "cache.sqlite"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the cache's folder can't be made ({error.strerror})",
            where=str(path.parent),
            todo="Name a file elsewhere in BASANITE_CACHE.",
        ) from error
    return path


def _user_caches() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path there is to be ignored.
    return Path(named) if Path(named).is_absolute() else Path.home() / ".cache"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
