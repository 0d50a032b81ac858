"""Where workers get their items from: read ahead a little, done ones left out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Generic, TypeVar

from ..store import Ledger

_LEAST_AHEAD = 8
_MOST_AHEAD = 256

T = TypeVar("T")


class Source(Generic[T]):
    """Gives out items that have no judgment yet; holds a few, whatever their number."""

    def __init__(
        self, items: Iterable[tuple[str, T]], ledger: Ledger, run: str, concurrency: int
    ) -> None:
        self._items = iter(items)
        self._ledger = ledger
        self._run = run
        # Items may be megabytes each: no more are held than are soon needed.
        self._ahead = min(max(concurrency, _LEAST_AHEAD), _MOST_AHEAD)
        self._ready: deque[tuple[str, T]] = deque()
        self._reading: asyncio.Task[None] | None = None
        self._ended = False
        self.skipped = 0
        """Items so far that had a judgment."""

    async def take(self) -> tuple[str, T] | None:
        """Give the next item, or None at the end; raises what the items raise."""
        while True:
            # Read on before the last is gone, so that nobody has to wait for it.
            if len(self._ready) <= self._ahead // 2:
                self._read_on()
            if self._ready:
                return self._ready.popleft()
            if self._reading is None:
                return None
            # Shielded: many wait for it, and one of them may be cancelled.
            await asyncio.shield(self._reading)

    def give_back(self, entry: tuple[str, T]) -> None:
        """Take back an item that was not started."""
        self._ready.appendleft(entry)

    async def count_rest(self) -> int:
        """Read to the end and count the items that were not given out."""
        rest = 0
        while await self.take() is not None:
            rest += 1
        return rest

    def stop(self) -> None:
        """Read no further."""
        if self._reading is None:
            return
        if self._reading.done():
            # Whatever it raised is overtaken by what stops the run.
            self._reading.exception()
        self._reading.cancel()

    def _read_on(self) -> None:
        if self._reading is None or (self._reading.done() and not self._reading.exception()):
            self._reading = None if self._ended else asyncio.create_task(self._read())

    async def _read(self) -> None:
        # Parsing a file and asking the ledger both take time that the event loop hasn't got.
        undone, skipped, ended = await asyncio.to_thread(self._next_undone)
        self._ready.extend(undone)
        self.skipped += skipped
        self._ended = ended

    def _next_undone(self) -> tuple[list[tuple[str, T]], int, bool]:
        """Give the next items that are not done, how many were, and whether that is the end."""
        skipped = 0
        while batch := list(islice(self._items, self._ahead)):
            keys = [key for key, _ in batch]
            done = self._ledger.existing(self._run, "judgment", keys)
            skipped += len(done)
            undone = [entry for entry in batch if entry[0] not in done]
            if undone:
                return undone, skipped, False
        return [], skipped, True
