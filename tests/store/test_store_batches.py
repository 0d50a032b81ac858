from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from basanite.errors import StorageError
from basanite.store._batches import Batches


async def test_what_is_asked_while_a_batch_is_done_makes_the_next_one() -> None:
    sizes: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def do(batch: Sequence[int]) -> list[int]:
        sizes.append(len(batch))
        begun.set()
        go_on.wait(10)
        return [number * 2 for number in batch]

    batches: Batches[int, int] = Batches(do, name="test")
    first = batches.ask(1)
    await asyncio.to_thread(begun.wait, 10)
    rest = [batches.ask(number) for number in range(2, 50)]
    go_on.set()
    assert await asyncio.gather(first, *rest) == [number * 2 for number in range(1, 50)]
    assert sizes == [1, 48]
    batches.close()


async def test_each_caller_gets_an_error_of_its_own() -> None:
    def do(batch: Sequence[int]) -> list[int]:
        raise StorageError("full", where="there", todo="Do it.")

    batches: Batches[int, int] = Batches(do, name="test")
    errors = await asyncio.gather(*(batches.ask(n) for n in range(5)), return_exceptions=True)
    assert {str(error) for error in errors} == {"there: full. Do it."}
    assert len({id(error) for error in errors}) == 5
    batches.close()


async def test_a_bug_reaches_the_callers_and_the_thread_goes_on() -> None:
    def do(batch: Sequence[int]) -> list[int]:
        return [100 // number for number in batch]

    batches: Batches[int, int] = Batches(do, name="test")
    with pytest.raises(ZeroDivisionError):
        await batches.ask(0)
    with pytest.raises(ZeroDivisionError):
        await asyncio.to_thread(batches.ask_now, 0)
    assert await batches.ask(5) == 20
    batches.close()


async def test_flush_waits_for_what_was_asked_before() -> None:
    done: list[int] = []

    def do(batch: Sequence[int]) -> list[None]:
        done.extend(batch)
        return [None] * len(batch)

    batches: Batches[int, None] = Batches(do, name="test")
    for number in range(2_000):  # several batches
        batches.ask(number)
    await batches.flush()
    assert done == list(range(2_000))
    batches.close()


def test_an_event_loop_that_is_gone_stops_nothing() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def do(batch: Sequence[int]) -> list[int]:
        begun.set()
        go_on.wait(10)
        return list(batch)

    batches: Batches[int, int] = Batches(do, name="test")

    async def ask_and_leave() -> None:
        batches.ask(1)
        await asyncio.to_thread(begun.wait, 10)

    asyncio.run(ask_and_leave())
    go_on.set()
    assert batches.ask_now(2) == 2
    batches.close()


def test_nothing_is_asked_after_the_end() -> None:
    batches: Batches[int, int] = Batches(list, name="test")
    batches.close()
    with pytest.raises(StorageError, match="is closed"):
        batches.ask_now(1)
