from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from basanite.errors import (
    ItemError,
    UnscoredReason,
)
from basanite.runs import Limits, Progress, run_items
from basanite.schema import Judgment
from basanite.store import Ledger, Record
from support.run_samples import RUN, judge_at_once, kept, make_items, make_work
from support.store_samples import make_judgment


async def test_each_item_is_judged_once_and_kept(ledger: Ledger) -> None:
    asked: list[int] = []

    async def judge(number: int) -> Judgment:
        asked.append(number)
        await asyncio.sleep(0.001 * (number % 3))
        return await judge_at_once(number)

    outcome = await run_items(make_work(judge), make_items(200), ledger, Limits(concurrency=16))
    assert sorted(asked) == list(range(200))
    assert kept(ledger) == {f"q{n}": make_judgment(f"q{n}", n / 1000) for n in range(200)}
    assert (outcome.done, outcome.skipped, outcome.failed, outcome.to_retry) == (200, 0, 0, 0)
    assert (outcome.not_started, outcome.stop_reason) == (0, "finished")
    assert (outcome.usage.calls, outcome.usage.prompt_tokens) == (200, 2000)
    assert outcome.usage.seconds == pytest.approx(20.0)


async def test_done_items_are_not_asked_again(ledger: Ledger) -> None:
    work = make_work(judge_at_once)
    await run_items(work, make_items(300), ledger, Limits())
    asked: list[int] = []

    async def judge(number: int) -> Judgment:
        asked.append(number)
        return await judge_at_once(number)

    outcome = await run_items(make_work(judge), make_items(305), ledger, Limits())
    assert sorted(asked) == [300, 301, 302, 303, 304]
    assert (outcome.done, outcome.skipped) == (5, 300)
    assert ledger.count(RUN, "judgment") == 305


async def test_no_items_is_a_run_too(ledger: Ledger) -> None:
    outcome = await run_items(make_work(judge_at_once), make_items(0), ledger, Limits(), total=0)
    assert (outcome.done, outcome.skipped, outcome.stop_reason) == (0, 0, "finished")


@pytest.mark.parametrize("concurrency", [1, 7, 64])
async def test_so_many_are_in_flight_and_no_more(ledger: Ledger, concurrency: int) -> None:
    now = most = 0

    async def judge(number: int) -> Judgment:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.005)
        now -= 1
        return await judge_at_once(number)

    limits = Limits(concurrency=concurrency)
    await run_items(make_work(judge), make_items(concurrency * 4), ledger, limits)
    assert most == concurrency


async def test_items_are_taken_as_there_is_room(ledger: Ledger) -> None:
    taken = finished = 0
    most_ahead = 0

    def items() -> Iterator[tuple[str, int]]:
        nonlocal taken
        for number in range(2_000):
            taken += 1
            yield f"q{number}", number

    async def judge(number: int) -> Judgment:
        nonlocal finished, most_ahead
        most_ahead = max(most_ahead, taken - finished)
        await asyncio.sleep(0)
        finished += 1
        return await judge_at_once(number)

    await run_items(make_work(judge), items(), ledger, Limits(concurrency=8))
    assert finished == 2_000
    assert most_ahead <= 8 + 2 * 8 + 4


async def test_progress_tells_where_the_run_stands(ledger: Ledger) -> None:
    await ledger.append(Record(RUN, "judgment", "q0", make_judgment("q0").model_dump(mode="json")))
    seen: list[Progress] = []

    async def judge(number: int) -> Judgment:
        await asyncio.sleep(0.01)
        if number == 1:
            raise ItemError(UnscoredReason.REPLY_EMPTY, "empty")
        return await judge_at_once(number)

    await run_items(
        make_work(judge),
        make_items(100),
        ledger,
        Limits(concurrency=2),
        total=100,
        on_progress=seen.append,
    )
    first, last = seen[0], seen[-1]
    assert (first.done, first.eta_seconds) == (0, None)
    assert (last.total, last.done, last.skipped, last.failed) == (100, 99, 1, 1)
    assert (last.in_flight, last.eta_seconds) == (0, 0.0)
    assert last.rate == pytest.approx(99 / last.seconds)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    middle = seen[len(seen) // 2]
    assert middle.eta_seconds is not None
    assert middle.in_flight == 2
    assert len(seen) <= last.seconds / 0.1 + 2
