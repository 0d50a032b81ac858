from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Iterator

import pytest

from basanite.errors import InputError, UnscoredReason
from basanite.runs import Limits, Work, run_items
from basanite.schema import Judgment
from basanite.store import Ledger
from support.run_samples import make_failed, make_items
from support.store_samples import make_judgment


async def judge_slowly(number: int) -> Judgment:
    await asyncio.sleep(0.01)
    return make_judgment(f"q{number}")


async def test_an_item_that_hangs_meets_its_deadline(ledger: Ledger) -> None:
    async def judge(number: int) -> Judgment:
        if number % 50 == 0:
            await asyncio.Event().wait()
        return make_judgment(f"q{number}")

    start = time.monotonic()
    outcome = await run_items(
        Work("r", judge, make_failed),
        make_items(200),
        ledger,
        Limits(concurrency=8, item_seconds=0.2),
    )
    assert time.monotonic() - start < 5
    assert (outcome.done, outcome.failed, outcome.to_retry) == (200, 4, 4)
    for record in ledger.records("r", "attempt"):
        judgment = Judgment.model_validate(record.body)
        assert judgment.scores["f1"].unscored_reason == UnscoredReason.TIMEOUT
        assert "0.2 s" in (judgment.message or "")


async def test_a_cap_on_tokens_starts_no_more(ledger: Ledger) -> None:
    work = Work("r", judge_slowly, make_failed)  # 15 tokens an item
    limits = Limits(concurrency=4, max_tokens=150)
    outcome = await run_items(work, make_items(100), ledger, limits)
    assert outcome.stop_reason == "max_tokens"
    assert 10 <= outcome.done <= 10 + 4
    assert outcome.done + outcome.not_started == 100
    again = await run_items(work, make_items(100), ledger, limits)
    assert again.skipped == outcome.done
    assert again.done + again.skipped + again.not_started == 100


async def test_a_cap_on_time_starts_no_more_and_finishes_what_is_in_flight(ledger: Ledger) -> None:
    outcome = await run_items(
        Work("r", judge_slowly, make_failed),
        make_items(10_000),
        ledger,
        Limits(concurrency=4, run_seconds=0.15),
    )
    assert outcome.stop_reason == "run_seconds"
    assert 4 <= outcome.done < 200
    assert outcome.done == ledger.count("r", "judgment")
    assert outcome.done + outcome.not_started == 10_000
    assert outcome.seconds < 5


async def test_so_many_start_whatever_the_time(ledger: Ledger) -> None:
    limits = Limits(concurrency=2, run_seconds=1e-9, at_least=6)
    outcome = await run_items(Work("r", judge_slowly, make_failed), make_items(50), ledger, limits)
    assert outcome.stop_reason == "run_seconds"
    assert 6 <= outcome.done <= 8
    assert outcome.done + outcome.not_started == 50


async def test_done_items_are_no_rest(ledger: Ledger) -> None:
    work = Work("r", judge_slowly, make_failed)
    await run_items(work, ((f"q{n}", n) for n in range(50, 100)), ledger, Limits(concurrency=50))
    outcome = await run_items(work, make_items(100), ledger, Limits(concurrency=2, max_tokens=30))
    assert outcome.skipped == 50
    assert outcome.done + outcome.not_started == 50


@pytest.mark.parametrize("name", ["concurrency", "item_seconds", "run_seconds", "max_tokens"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_of_nothing_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=name):
        Limits(**{name: value})  # type: ignore[arg-type]


async def test_memory_does_not_grow_with_the_items(ledger: Ledger) -> None:
    async def judge(number: int) -> Judgment:
        if number % 100 == 0:
            gc.collect()  # what is held is measured, not what waits to be collected
        return make_judgment(f"q{number}")

    def items(start: int, count: int) -> Iterator[tuple[str, int]]:
        return ((f"q{number}", number) for number in range(start, start + count))

    work = Work("r", judge, make_failed)
    await run_items(work, items(0, 500), ledger, Limits())
    tracemalloc.start()
    await run_items(work, items(0, 1_000), ledger, Limits())
    _, small = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    await run_items(work, items(0, 3_000), ledger, Limits())
    _, large = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ledger.count("r", "judgment") == 3_000
    assert large < small * 1.5 + 200_000
