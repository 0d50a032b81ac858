"""Equal requests in flight are one request, whoever waits for it and whoever goes away."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from basanite.errors import CallError, UnscoredReason
from basanite.llm import (
    CachedModel,
    Completion,
    usage_of,
)
from support.asking import QUICK, endpoint, is_probe, request, until
from support.memory_cache import MemoryCache
from support.mock_endpoint import MockConfig, MockEndpoint, Reply


def _asked(mock: MockEndpoint) -> int:
    return sum(not is_probe(body) for body in mock.requests)


def _hanging(body: dict[str, object]) -> Reply:
    return Reply("x", fault=None if is_probe(body) else "hang")


@pytest.mark.parametrize("mode", ["use", "refresh", "off"])
async def test_fifty_equal_requests_in_flight_are_one_call(mode: str) -> None:
    with MockEndpoint(MockConfig(latency=0.1)) as mock:
        async with endpoint(mock.url, concurrency=64) as inner:
            model = CachedModel(inner, MemoryCache(), mode=mode)  # type: ignore[arg-type]
            replies = await asyncio.gather(*(model.complete(request()) for _ in range(50)))
        assert _asked(mock) == 1
    assert len({reply.text for reply in replies}) == 1
    assert sum(reply.usage.calls for reply in replies) == 1
    assert sum(reply.usage.cached_calls for reply in replies) == 49


async def test_cancelling_the_first_waiter_leaves_the_reply_to_the_others() -> None:
    with MockEndpoint(MockConfig(latency=0.2)) as mock:
        async with endpoint(mock.url) as inner:
            model = CachedModel(inner, MemoryCache())
            tasks = [asyncio.create_task(model.complete(request())) for _ in range(3)]
            await until(lambda: _asked(mock))
            tasks[0].cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert _asked(mock) == 1
        assert mock.stats.disconnects == 0
    assert isinstance(outcomes[0], asyncio.CancelledError)
    replies = [one for one in outcomes if isinstance(one, Completion)]
    assert sorted(one.usage.calls for one in replies) == [0, 1]


async def test_cancelling_the_last_waiter_cancels_the_request() -> None:
    cache = MemoryCache()
    with MockEndpoint(
        responder=lambda body: Reply("x", latency=0 if is_probe(body) else 30)
    ) as mock:
        async with endpoint(mock.url, attempt_seconds=60) as inner:
            model = CachedModel(inner, cache)
            tasks = [asyncio.create_task(model.complete(request())) for _ in range(2)]
            await until(lambda: _asked(mock))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await until(lambda: mock.stats.disconnects == 1)
    assert cache.puts == 0


async def test_a_request_after_a_cancelled_one_is_a_new_one() -> None:
    replies = iter([Reply("x", fault="hang"), Reply("good")])

    def respond(body: dict[str, object]) -> Reply | str:
        return "hello" if is_probe(body) else next(replies)

    with MockEndpoint(responder=respond) as mock:
        async with endpoint(mock.url) as inner:
            model = CachedModel(inner, MemoryCache())
            task = asyncio.create_task(model.complete(request()))
            await until(lambda: _asked(mock))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert (await model.complete(request())).text == "good"


async def test_closing_ends_what_is_in_flight() -> None:
    with MockEndpoint(
        responder=lambda body: Reply("x", latency=0 if is_probe(body) else 30)
    ) as mock:
        async with endpoint(mock.url, attempt_seconds=60) as inner:
            model = CachedModel(inner, None)
            task = asyncio.create_task(model.complete(request()))
            await until(lambda: _asked(mock))
            await model.aclose()
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_a_failure_is_never_kept_and_its_usage_counted_once() -> None:
    replies = iter([Reply(fault="500"), Reply(fault="500"), Reply("good")])

    def respond(body: dict[str, object]) -> Reply | str:
        return "hello" if is_probe(body) else next(replies)

    cache = MemoryCache()
    with MockEndpoint(responder=respond) as mock:
        async with endpoint(mock.url, retry=replace(QUICK, attempts=2)) as inner:
            model = CachedModel(inner, cache)
            outcomes = await asyncio.gather(
                *(model.complete(request()) for _ in range(3)), return_exceptions=True
            )
            assert cache.puts == 0
            errors = [one for one in outcomes if isinstance(one, CallError)]
            assert [one.reason for one in errors] == [UnscoredReason.HTTP_ERROR] * 3
            assert sum(usage_of(one).calls for one in errors) == 2
            assert (await model.complete(request())).text == "good"
    assert cache.puts == 1
