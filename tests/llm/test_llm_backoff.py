"""Waiting, slowing down and coming back: how an endpoint that is busy is treated."""

from __future__ import annotations

import asyncio
import email.utils
import time
from dataclasses import replace

from basanite.errors import (
    ItemError,
)
from basanite.llm import RetryPolicy
from support.asking import QUICK, after_probe, asked_of, endpoint, is_probe, request, until
from support.mock_endpoint import MockConfig, MockEndpoint, Reply


async def test_retry_after_in_seconds_is_waited_for_by_all_callers() -> None:
    refused = Reply(status=429, body={"error": "slow"}, headers={"Retry-After": "0.3"})
    with MockEndpoint(responder=after_probe(refused, "good")) as mock:
        async with endpoint(mock.url, concurrency=8) as model:
            started = time.monotonic()
            first = asyncio.create_task(model.complete(request("1")))
            await until(lambda: asked_of(mock))
            await asyncio.sleep(0.05)
            await model.complete(request("2"))
            assert time.monotonic() - started >= 0.29
            assert (await first).usage.calls == 2
            assert 4 <= model.limiter.limit < 6


async def test_retry_after_as_a_date_is_waited_for() -> None:
    refusals = [2]

    def respond(body: dict[str, object]) -> Reply | str:
        if is_probe(body) or not refusals:
            return "good"
        until = email.utils.formatdate(time.time() + refusals.pop(), usegmt=True)
        return Reply(status=429, body={"error": "slow"}, headers={"Retry-After": until})

    with MockEndpoint(responder=respond) as mock:
        async with endpoint(mock.url) as model:
            started = time.monotonic()
            await model.complete(request())
    # A date has whole seconds, so it is one to two seconds away.
    assert 0.9 <= time.monotonic() - started < 6


async def test_a_long_retry_after_is_cut_at_its_cap() -> None:
    refused = Reply(status=429, body={"error": "slow"}, headers={"Retry-After": "3600"})
    policy = replace(QUICK, retry_after_cap_seconds=0.1)
    with MockEndpoint(responder=after_probe(refused, "good")) as mock:
        async with endpoint(mock.url, retry=policy) as model:
            started = time.monotonic()
            await model.complete(request())
    assert 0.1 <= time.monotonic() - started < 2


async def test_a_busy_server_halves_the_limit_and_successes_bring_it_back() -> None:
    with MockEndpoint(responder=after_probe(Reply("{}", fault="429-bare"), "good")) as mock:
        async with endpoint(mock.url, concurrency=16) as model:
            await model.complete(request("first"))
            assert 8 <= model.limiter.limit < 10
            for index in range(120):
                await model.complete(request(str(index)))
            assert model.limiter.limit == 16


async def test_with_every_fifth_attempt_failing_nothing_is_lost() -> None:
    faults = dict.fromkeys(("429", "429-bare", "500", "hang", "disconnect", "html"), 0.035)
    config = MockConfig(faults=faults, retry_after="0.01", seed=3)
    with MockEndpoint(config) as mock:
        async with endpoint(mock.url, concurrency=32, attempt_seconds=1.0) as model:
            outcomes = await asyncio.gather(
                *(model.complete(request(f"item {i}")) for i in range(150)), return_exceptions=True
            )
        assert sum(mock.stats.faults.values()) >= 20
    failed = [one for one in outcomes if isinstance(one, BaseException)]
    assert all(isinstance(one, ItemError) for one in failed)
    assert len(failed) <= 3
    assert all(one.text for one in outcomes if not isinstance(one, BaseException))


async def test_backoff_is_bounded_and_jittered() -> None:
    with MockEndpoint() as mock:
        policy = RetryPolicy(backoff_seconds=0.5, backoff_cap_seconds=20)
        async with endpoint(mock.url, retry=policy) as model:
            from basanite.llm._endpoint import _Call
            from basanite.llm._failure import of_timeout

            for failures, top in ((1, 1.0), (3, 4.0), (10, 20.0), (5000, 20.0)):
                waits = [
                    model._wait_seconds(of_timeout(1), _Call(failures=failures)) for _ in range(200)
                ]
                assert 0 <= min(waits) <= max(waits) <= top
                assert max(waits) - min(waits) > top / 2
