"""The truth's claims, taken out once per question and then frozen.

Every answer to one question is held against the same claims, whatever a later extraction would
give. Equal extractions in flight are joined; with a ledger the claims outlive the process.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from pydantic import TypeAdapter

from ..errors import CallError, ItemError, ReplyError
from ..schema import Claim, Usage, digest
from ..store import Ledger, Record
from ._extraction import Extraction, Extractor

KIND = "truth_claims"

_CLAIMS = TypeAdapter(tuple[Claim, ...])
_NOTES = TypeAdapter(tuple[str, ...])


@runtime_checkable
class ClaimStore(Protocol):
    """Keeps the claims of truths; the first that is put under a key stays."""

    async def get(self, key: str) -> Mapping[str, object] | None:
        """Give what was put under a key, or None."""
        ...

    async def put(self, key: str, body: Mapping[str, object]) -> Mapping[str, object]:
        """Keep a body of plain JSON, unless the key has one; returns when it is safe.

        Returns:
            The body that is kept: this one, or the one that was there first.
        """
        ...


class MemoryClaims:
    """Keeps claims in this process, those used last (a `ClaimStore`)."""

    def __init__(self, most: int = 4096) -> None:
        self._bodies: OrderedDict[str, Mapping[str, object]] = OrderedDict()
        self._most = most

    async def get(self, key: str) -> Mapping[str, object] | None:
        body = self._bodies.get(key)
        if body is not None:
            self._bodies.move_to_end(key)
        return body

    async def put(self, key: str, body: Mapping[str, object]) -> Mapping[str, object]:
        kept = self._bodies.setdefault(key, body)
        if len(self._bodies) > self._most:
            self._bodies.popitem(last=False)
        return kept


class LedgerClaims:
    """Keeps claims in a run's ledger as records of kind `truth_claims` (a `ClaimStore`)."""

    def __init__(self, ledger: Ledger, run: str) -> None:
        self._ledger = ledger
        self._run = run
        self._recent = MemoryClaims()

    async def get(self, key: str) -> Mapping[str, object] | None:
        body = await self._recent.get(key)
        if body is not None:
            return body
        record = await self._ledger.aget(self._run, KIND, key)
        return None if record is None else await self._recent.put(key, record.body)

    async def put(self, key: str, body: Mapping[str, object]) -> Mapping[str, object]:
        record = Record(run=self._run, kind=KIND, key=key, body=body)
        if await self._ledger.append(record):
            return await self._recent.put(key, body)
        # Another process was faster: its claims are the frozen ones.
        return await self.get(key) or body


@dataclass(slots=True)
class _Flight:
    """One extraction in flight and how many wait for it."""

    task: asyncio.Task[Extraction]
    waiting: int = 0
    taken: bool = False
    """Whether one of them has taken the replies and the usage."""

    def take(self) -> bool:
        """Whether this caller is the first, to whom replies and usage go."""
        first, self.taken = not self.taken, True
        return first


class FrozenClaims:
    """Gives the claims of a truth: from the store, from one in flight, or by extracting them.

    Args:
        extractor: takes the claims out where the store has none.
        store: where they are kept; None keeps them in memory.
    """

    def __init__(self, extractor: Extractor, store: ClaimStore | None = None) -> None:
        self._extractor = extractor
        self._store = MemoryClaims() if store is None else store
        self._flights: dict[str, _Flight] = {}

    def key(self, truth: str, question: str) -> str:
        """Digest of question, truth, and all that the extraction depends on."""
        extractor = self._extractor
        return digest(
            {
                "question": question,
                "truth": truth,
                "model": extractor.identity.model_dump(mode="json"),
                "prompts": extractor.prompts,
                "options": extractor.options,
            }
        )

    async def claims(self, truth: str, question: str) -> Extraction:
        """Give the claims of a truth.

        One caller gets the replies and the usage of an extraction; who joins it, or finds its
        result kept, gets the claims and notes only, so that sums over items count a call once.

        Raises:
            ItemError: as from the extractor; nothing is kept then.
        """
        key = self.key(truth, question)
        flight = self._flights.get(key)
        if flight is None:
            flight = _Flight(asyncio.create_task(self._look_up_or_extract(key, truth, question)))
            self._flights[key] = flight
        flight.waiting += 1
        try:
            extraction = await asyncio.shield(flight.task)
        except ItemError as error:
            if flight.take():
                raise
            kind = ReplyError if isinstance(error, ReplyError) else CallError
            raise kind(error.reason, error.what, where=error.where, todo=error.todo) from error
        finally:
            flight.waiting -= 1
            if flight.waiting == 0 and self._flights.get(key) is flight:
                # Nobody waits any more: either it is done, or it ends with its last waiter.
                del self._flights[key]
                flight.task.cancel()
        return extraction if flight.take() else replace(extraction, replies=(), usage=Usage())

    async def _look_up_or_extract(self, key: str, truth: str, question: str) -> Extraction:
        body = await self._store.get(key)
        if body is not None:
            return _extraction(body)
        extraction = await self._extractor.extract(truth, side="truth", question=question)
        kept = _extraction(await self._store.put(key, _body(extraction)))
        return replace(kept, replies=extraction.replies, usage=extraction.usage)


def _body(extraction: Extraction) -> dict[str, object]:
    claims = [claim.model_dump(mode="json") for claim in extraction.claims]
    return {"claims": claims, "notes": list(extraction.notes)}


def _extraction(body: Mapping[str, object]) -> Extraction:
    claims = _CLAIMS.validate_python(body["claims"])
    return Extraction(claims, notes=_NOTES.validate_python(body["notes"]))
