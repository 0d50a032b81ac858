"""The limit on requests in flight."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from basanite.llm._limiter import AdaptiveLimiter


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_than_the_limit_are_in_flight_and_the_first_comes_first() -> None:
    limiter, order, most = AdaptiveLimiter(3), [], 0

    async def one(index: int) -> None:
        nonlocal most
        await limiter.acquire()
        order.append(index)
        most = max(most, limiter.in_flight)
        await asyncio.sleep(0.001)
        limiter.release()

    await asyncio.gather(*(one(index) for index in range(20)))
    assert most == 3
    assert order == list(range(20))
    assert limiter.in_flight == 0


async def test_one_overload_halves_once_however_many_it_refuses() -> None:
    limiter = AdaptiveLimiter(16)
    epochs = [await limiter.acquire() for _ in range(8)]
    for epoch in epochs:
        limiter.overloaded(epoch, 0.0)
        limiter.release()
    assert limiter.limit == 8
    limiter.overloaded(await limiter.acquire(), 0.0)
    assert limiter.limit == 4


async def test_the_limit_never_falls_below_one_and_grows_back_additively() -> None:
    limiter = AdaptiveLimiter(32)
    for _ in range(10):
        limiter.overloaded(await limiter.acquire(), 0.0)
        limiter.release()
    assert limiter.limit == 1
    limits = []
    for _ in range(1000):
        limiter.succeeded()
        limits.append(limiter.limit)
    assert limits[-1] == 32
    assert limits == sorted(limits)
    assert max(b - a for a, b in itertools.pairwise(limits)) <= 2


async def test_a_pause_holds_back_everyone_and_ends_by_itself() -> None:
    limiter, loop = AdaptiveLimiter(4), asyncio.get_running_loop()
    limiter.overloaded(await limiter.acquire(), 0.1)
    limiter.release()
    started = loop.time()
    await asyncio.gather(*(limiter.acquire() for _ in range(2)))
    assert loop.time() - started >= 0.09


async def test_a_longer_pause_wins() -> None:
    limiter, loop = AdaptiveLimiter(4), asyncio.get_running_loop()
    epoch = await limiter.acquire()
    limiter.overloaded(epoch, 0.02)
    waiting = asyncio.ensure_future(limiter.acquire())
    await _settle()
    started = loop.time()
    limiter.overloaded(epoch, 0.1)
    limiter.release()
    await waiting
    assert loop.time() - started >= 0.09


async def test_a_cancelled_waiter_leaves_its_place_to_the_next() -> None:
    limiter = AdaptiveLimiter(1)
    await limiter.acquire()
    first = asyncio.ensure_future(limiter.acquire())
    second = asyncio.ensure_future(limiter.acquire())
    await _settle()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    limiter.release()
    await asyncio.wait_for(second, 1)
    assert limiter.in_flight == 1


async def test_a_place_given_in_the_moment_of_a_cancellation_is_not_lost() -> None:
    limiter = AdaptiveLimiter(1)
    await limiter.acquire()
    first = asyncio.ensure_future(limiter.acquire())
    await _settle()
    limiter.release()  # gives the place to `first`, which has not run yet
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await asyncio.wait_for(limiter.acquire(), 1)
    assert limiter.in_flight == 1
