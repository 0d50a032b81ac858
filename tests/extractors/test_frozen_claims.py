"""The truth's claims are taken out once, joined in flight, and kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from basanite.errors import CallError, ItemError, UnscoredReason
from basanite.extractors import (
    ClaimExtractor,
    ClaimStore,
    Extraction,
    FrozenClaims,
    LedgerClaims,
    MemoryClaims,
    Side,
    make_claims,
)
from basanite.schema import ModelIdentity, RawReply, Usage
from basanite.store import Ledger
from support.instant_model import InstantModel


class SlowExtractor:
    """Counts its calls and waits until it is let go."""

    def __init__(self, error: ItemError | None = None) -> None:
        self.calls = 0
        self.cancelled = 0
        self.go = asyncio.Event()
        self.error = error
        self.identity = ModelIdentity(name="slow", kind="none")
        self.prompts: dict[str, str] = {}
        self.options = {"version": "1"}

    async def extract(self, text: str, *, side: Side, question: str = "") -> Extraction:
        self.calls += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error:
            self.error.usage = Usage(calls=1)
            raise self.error
        replies = (RawReply(role="extract:truth", text="{}"),)
        claims = make_claims([f"{text} holds", f"call {self.calls}"], side)
        return Extraction(claims, replies, Usage(calls=1), ("a note",))


async def test_equal_extractions_in_flight_are_joined_and_counted_once() -> None:
    extractor = SlowExtractor()
    frozen = FrozenClaims(extractor)  # type: ignore[arg-type]
    waiting = [asyncio.create_task(frozen.claims("A", "q")) for _ in range(5)]
    await asyncio.sleep(0.01)
    extractor.go.set()
    results = await asyncio.gather(*waiting)
    assert extractor.calls == 1
    assert {result.claims for result in results} == {results[0].claims}
    assert sum(result.usage.calls for result in results) == 1
    assert sum(len(result.replies) for result in results) == 1
    assert all(result.notes == ("a note",) for result in results)
    later = await frozen.claims("A", "q")
    assert (extractor.calls, later.usage.calls) == (1, 0)
    assert later.claims == results[0].claims


async def test_another_question_or_truth_is_another_extraction() -> None:
    extractor = SlowExtractor()
    extractor.go.set()
    frozen = FrozenClaims(extractor)  # type: ignore[arg-type]
    for truth, question in (("A", "q"), ("B", "q"), ("A", "r")):
        await frozen.claims(truth, question)
    assert extractor.calls == 3


async def test_the_first_waiter_may_go_without_harm_to_the_others() -> None:
    extractor = SlowExtractor()
    frozen = FrozenClaims(extractor)  # type: ignore[arg-type]
    first, second = (asyncio.create_task(frozen.claims("A", "q")) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.sleep(0.01)
    extractor.go.set()
    assert (await second).usage.calls == 1
    assert (extractor.calls, extractor.cancelled) == (1, 0)
    assert first.cancelled()


async def test_without_a_waiter_the_extraction_ends_and_a_new_one_can_start() -> None:
    extractor = SlowExtractor()
    frozen = FrozenClaims(extractor)  # type: ignore[arg-type]
    waiting = asyncio.create_task(frozen.claims("A", "q"))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    extractor.go.set()
    assert (await frozen.claims("A", "q")).claims[1].text == "call 2"
    assert extractor.cancelled == 1


async def test_a_failure_reaches_all_waiters_is_counted_once_and_not_kept() -> None:
    extractor = SlowExtractor(CallError(UnscoredReason.TIMEOUT, "late"))
    frozen = FrozenClaims(extractor)  # type: ignore[arg-type]
    waiting = [asyncio.create_task(frozen.claims("A", "q")) for _ in range(3)]
    await asyncio.sleep(0.01)
    extractor.go.set()
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(error) for error in errors] == [CallError] * 3
    assert [getattr(error, "usage", None) for error in errors].count(None) == 2
    extractor.error = None
    assert (await frozen.claims("A", "q")).claims
    assert extractor.calls == 2


async def test_the_ledger_keeps_them_over_processes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    for expected in (1, 0):
        with Ledger.open(path) as ledger:
            extractor = SlowExtractor()
            extractor.go.set()
            store = LedgerClaims(ledger, "run")
            assert isinstance(store, ClaimStore)
            frozen = FrozenClaims(extractor, store)  # type: ignore[arg-type]
            result = await frozen.claims("Truth\x00 \ud800", "q")
            assert extractor.calls == expected
            assert [claim.id for claim in result.claims] == ["t1", "t2"]
            assert result.notes == ("a note",)
            assert ledger.count("run", "truth_claims") == 1


async def test_of_two_processes_the_first_freezes(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        one, two = LedgerClaims(ledger, "run"), LedgerClaims(ledger, "run")
        assert await two.get("k") is None
        assert await one.put("k", {"claims": [], "notes": ["first"]}) == {
            "claims": [],
            "notes": ["first"],
        }
        kept = await two.put("k", {"claims": [], "notes": ["second"]})
        assert kept["notes"] == ["first"]


async def test_memory_is_bounded() -> None:
    memory = MemoryClaims(most=2)
    for key in "abc":
        await memory.put(key, {"claims": [], "notes": [key]})
    assert await memory.get("a") is None
    assert await memory.get("c") == {"claims": [], "notes": ["c"]}


def test_the_key_holds_all_that_changes_the_claims() -> None:
    def key(name: str, truth: str = "t") -> str:
        model = InstantModel(lambda request: {"claims": []}, name=name)
        return FrozenClaims(ClaimExtractor(model)).key(truth, "q")

    assert key("m") == key("m")
    assert len({key("m"), key("n"), key("m", "u")}) == 3
