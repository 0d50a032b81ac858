from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.errors import (
    CallError,
    CapabilityError,
    EndpointError,
    InputError,
    ItemError,
    RowError,
    StorageError,
    UnscoredReason,
)
from basanite.runs import Limits, run_items
from basanite.schema import Judgment
from basanite.store import Ledger
from support.run_samples import judge_at_once, kept, make_items, make_work
from support.store_samples import make_judgment


def _raise(number: int) -> None:
    errors: list[Exception] = [
        CallError(UnscoredReason.RATE_LIMITED, "429 again and again"),
        ItemError(UnscoredReason.REPLY_CUT, "cut"),
        RowError("no truth"),
        ZeroDivisionError("a bug"),
        TimeoutError("from within"),
    ]
    raise errors[number % 5]


async def test_what_concerns_one_item_is_counted_and_ends_no_run(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    async def judge(number: int) -> Judgment:
        if number % 2:
            _raise(number // 2)
        return await judge_at_once(number)

    with caplog.at_level(logging.ERROR):
        outcome = await run_items(make_work(judge), make_items(20), ledger, Limits())
    done, tried = kept(ledger), kept(ledger, "attempt")
    assert (outcome.done, outcome.failed, outcome.to_retry) == (20, 10, 6)
    # For what lies outside of the item a later run tries again; the rest is final.
    reasons = {key: one.scores["f1"].unscored_reason for key, one in (done | tried).items()}
    assert [reasons[f"q{n}"] for n in range(0, 20, 2)] == [None] * 10
    assert [reasons[f"q{n}#1"] for n in (1, 11)] == [UnscoredReason.RATE_LIMITED] * 2
    assert [reasons[f"q{n}"] for n in (3, 13)] == [UnscoredReason.REPLY_CUT] * 2
    assert [reasons[f"q{n}"] for n in (5, 15)] == [UnscoredReason.INVALID_ROW] * 2
    assert [reasons[f"q{n}#1"] for n in (7, 17)] == [UnscoredReason.INTERNAL_ERROR] * 2
    assert [reasons[f"q{n}#1"] for n in (9, 19)] == [UnscoredReason.TIMEOUT] * 2
    assert len(reasons) == 20
    assert "ZeroDivisionError" in (tried["q7#1"].message or "")
    assert "Traceback" in caplog.text


async def test_what_failed_outside_is_tried_again_and_nothing_overwritten(ledger: Ledger) -> None:
    tries = 0

    async def judge(number: int) -> Judgment:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise CallError(UnscoredReason.CONNECTION_FAILED, f"try {tries}")
        return await judge_at_once(number)

    for _ in range(4):
        outcome = await run_items(make_work(judge), make_items(1), ledger, Limits())
    assert tries == 3
    assert (outcome.done, outcome.skipped) == (0, 1)
    attempts = kept(ledger, "attempt")
    assert list(attempts) == ["q0#1", "q0#2"]
    assert "try 1" in (attempts["q0#1"].message or "")
    assert list(kept(ledger)) == ["q0"]


async def test_a_judgment_that_says_itself_it_failed_outside_is_an_attempt(ledger: Ledger) -> None:
    async def judge(number: int) -> Judgment:
        return make_judgment(f"q{number}", None, UnscoredReason.HTTP_ERROR)

    outcome = await run_items(make_work(judge), make_items(3), ledger, Limits())
    assert (outcome.done, outcome.failed, outcome.to_retry) == (3, 3, 3)
    assert kept(ledger) == {}


@pytest.mark.parametrize(
    "error", [EndpointError("gone"), StorageError("full"), CapabilityError("no schema")]
)
async def test_what_concerns_all_items_stops_the_run(ledger: Ledger, error: Exception) -> None:
    cancelled: list[int] = []

    async def judge(number: int) -> Judgment:
        if number < 20:
            return await judge_at_once(number)
        if number == 25:
            await asyncio.sleep(0.02)
            raise error
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise
        raise AssertionError("unreachable")

    async with asyncio.timeout(10):
        with pytest.raises(type(error), match=str(error)):
            await run_items(make_work(judge), make_items(500), ledger, Limits())
    assert len(cancelled) == 7  # all others in flight
    assert sorted(kept(ledger)) == sorted(f"q{number}" for number in range(20))


async def test_items_that_can_not_be_read_stop_the_run(ledger: Ledger) -> None:
    def items() -> Iterator[tuple[str, int]]:
        yield from make_items(30)
        raise InputError("the file broke off")

    async with asyncio.timeout(10):
        with pytest.raises(InputError, match="broke off"):
            await run_items(make_work(judge_at_once), items(), ledger, Limits())


async def test_a_full_ledger_stops_the_run_at_once(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")

    async def judge(number: int) -> Judgment:
        if number == 5:
            ledger.close()
        elif number > 5:
            await asyncio.sleep(60)
        return await judge_at_once(number)

    async with asyncio.timeout(10):
        with pytest.raises(StorageError, match="closed"):
            await run_items(make_work(judge), make_items(100), ledger, Limits())


async def test_a_cancelled_run_keeps_what_was_finished(ledger: Ledger) -> None:
    started: list[int] = []
    finished: list[int] = []
    all_wait = asyncio.Event()

    async def judge(number: int) -> Judgment:
        started.append(number)
        if len(started) == 50:
            all_wait.set()
        await asyncio.sleep(0.001 if number < 40 else 60)
        finished.append(number)
        return await judge_at_once(number)

    task = asyncio.create_task(
        run_items(make_work(judge), make_items(10_000), ledger, Limits(concurrency=10))
    )
    await all_wait.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(kept(ledger)) == sorted(f"q{number}" for number in finished)
    assert len(started) == 50


async def test_a_call_that_was_cancelled_from_within_costs_one_item(ledger: Ledger) -> None:
    async def judge(number: int) -> Judgment:
        if number == 3:
            raise asyncio.CancelledError
        return await judge_at_once(number)

    outcome = await run_items(make_work(judge), make_items(10), ledger, Limits(concurrency=2))
    assert (outcome.done, outcome.to_retry) == (10, 1)
    assert kept(ledger, "attempt")["q3#1"].scores["f1"].unscored_reason == (
        UnscoredReason.INTERNAL_ERROR
    )
