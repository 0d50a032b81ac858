"""The cache around a model: what is asked once, and what is not."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from basanite.llm import (
    CachedModel,
    Capabilities,
    Completion,
    EndpointConfig,
    Message,
    Request,
    open_endpoint,
)
from basanite.llm._types import TokenLogprob
from basanite.schema import ModelIdentity
from support.asking import SCHEMA, endpoint, is_probe, request
from support.instant_model import InstantModel
from support.memory_cache import MemoryCache
from support.mock_endpoint import MockConfig, MockEndpoint


def _asked(mock: MockEndpoint) -> int:
    return sum(not is_probe(body) for body in mock.requests)


async def test_a_second_run_makes_no_call_and_gives_the_same() -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        async with endpoint(mock.url, profiles=cache) as inner:
            first = await CachedModel(inner, cache).complete(request(top_logprobs=2))
        before = mock.calls
        async with endpoint(mock.url, profiles=cache) as inner:
            second = await CachedModel(inner, cache).complete(request(top_logprobs=2))
        assert mock.calls == before
    assert second.cached
    assert not first.cached
    assert (second.text, second.logprobs) == (first.text, first.logprobs)
    assert (second.usage.calls, second.usage.cached_calls) == (0, 1)
    assert second.usage.prompt_tokens == 0


_CHANGES: list[Request] = [
    replace(request(), messages=(Message("user", "Another prompt?"),)),
    replace(request(), messages=(*request().messages, Message("user", "more"))),
    request(schema={**SCHEMA, "title": "other"}),
    request(schema=None),
    request(max_tokens=65),
    request(top_logprobs=1),
    request(parser_version="2"),
    request(replicate=1),
    replace(request(), sampling=request().sampling.model_copy(update={"temperature": 0.5})),
    replace(request(), sampling=request().sampling.model_copy(update={"seed": 1})),
]


@pytest.mark.parametrize("changed", _CHANGES)
async def test_whatever_changes_the_reply_or_its_reading_makes_a_new_call(
    changed: Request,
) -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as inner:
            model = CachedModel(inner, cache)
            await model.complete(request())
            await model.complete(changed)
            assert _asked(mock) == 2
            await model.complete(request())
            await model.complete(changed)
        assert _asked(mock) == 2


async def test_the_role_is_a_label_only() -> None:
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as inner:
            model = CachedModel(inner, MemoryCache())
            await model.complete(request())
            await model.complete(replace(request(), role="another"))
        assert _asked(mock) == 1


async def test_replicates_are_each_asked_once() -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as inner:
            for _ in range(2):
                model = CachedModel(inner, cache)
                for replicate in range(3):
                    await model.complete(request(replicate=replicate))
                assert _asked(mock) == 3


async def test_another_model_or_unknown_weights_elsewhere_have_another_key() -> None:
    known = ModelIdentity(name="mock-model", kind="openai", weights_sha256="ab" * 32)
    keys: dict[str, list[str]] = {"known": [], "unknown": []}
    for _ in range(2):
        with MockEndpoint() as mock:
            for name, identity in (("known", known), ("unknown", None)):
                inner = await open_endpoint(EndpointConfig(mock.url, identity=identity))
                keys[name].append(CachedModel(inner, None).key(request()))
                await inner.aclose()
    assert keys["known"][0] == keys["known"][1]
    assert keys["unknown"][0] != keys["unknown"][1]
    with MockEndpoint() as mock:
        other = known.model_copy(update={"weights_sha256": "cd" * 32})
        inner = await open_endpoint(EndpointConfig(mock.url, identity=other))
        assert CachedModel(inner, None).key(request()) != keys["known"][0]
        await inner.aclose()


async def test_a_password_is_no_part_of_the_key() -> None:
    with MockEndpoint() as mock:
        plain = await open_endpoint(EndpointConfig(mock.url))
        url = mock.url.replace("://", "://me:hunter2@")
        secret = await open_endpoint(EndpointConfig(url, api_key="sk-secret"))
        one, other = (CachedModel(model, None).key(request()) for model in (plain, secret))
        assert one == other
        await plain.aclose()
        await secret.aclose()


async def test_refresh_asks_anew_and_writes_off_does_neither() -> None:
    cache = MemoryCache()
    count = 0

    def answer(one: Request) -> str:
        nonlocal count
        count += 1
        return f"reply {count}"

    inner = InstantModel(answer)
    assert (await CachedModel(inner, cache).complete(request())).text == "reply 1"
    refreshing = CachedModel(inner, cache, mode="refresh")
    assert (await refreshing.complete(request())).text == "reply 2"
    assert (await CachedModel(inner, cache).complete(request())).text == "reply 2"
    gets, puts = cache.gets, cache.puts
    assert (await CachedModel(inner, cache, mode="off").complete(request())).text == "reply 3"
    assert (cache.gets, cache.puts) == (gets, puts)


async def test_a_reply_is_stored_before_it_is_given_back() -> None:
    order: list[str] = []

    class _Slow(MemoryCache):
        async def put(self, key: str, body: object) -> None:
            await asyncio.sleep(0.05)
            order.append("stored")

    await CachedModel(InstantModel(lambda one: "x"), _Slow()).complete(request())
    order.append("given back")
    assert order == ["stored", "given back"]


async def test_any_reply_survives_the_cache() -> None:
    reply = Completion(
        text="\x00 \ud800 {} 日本",
        finish_reason="stop",
        reasoning="so",
        logprobs=(TokenLogprob("a", -0.5, (("a", -0.5), ("b", float("-inf")))),),
    )
    cache = MemoryCache()
    await CachedModel(InstantModel(lambda one: reply), cache).complete(request())
    kept = await CachedModel(InstantModel(lambda one: "never"), cache).complete(request())
    assert (kept.text, kept.finish_reason, kept.reasoning, kept.logprobs) == (
        reply.text,
        reply.finish_reason,
        reply.reasoning,
        reply.logprobs,
    )


@pytest.mark.parametrize("body", [{}, {"v": 0, "text": "x"}, {"v": 1, "text": 7}])
async def test_a_body_of_another_form_is_asked_anew(body: dict[str, object]) -> None:
    cache, inner = MemoryCache(), InstantModel(lambda one: "fresh")
    model = CachedModel(inner, cache)
    cache.replies[model.key(request())] = json.dumps(body)
    assert (await model.complete(request())).text == "fresh"


async def test_a_reply_got_while_learning_is_found_in_the_next_run() -> None:
    cache = MemoryCache()
    with MockEndpoint(MockConfig(json_schema=False)) as mock:
        async with endpoint(mock.url, profiles=cache) as inner:
            unknown = Capabilities(context_tokens=32768)
            inner.settle(replace(inner.profile, capabilities=unknown), None)
            await CachedModel(inner, cache).complete(request())
        before = mock.calls
        async with endpoint(mock.url, profiles=cache) as inner:
            assert (await CachedModel(inner, cache).complete(request())).cached
        assert mock.calls == before


async def test_the_stores_own_cache_serves_as_one(tmp_path: Path) -> None:
    from basanite.store import ReplyCache

    with MockEndpoint() as mock:
        for _ in range(2):
            with ReplyCache.open(tmp_path / "cache.sqlite") as cache:
                async with endpoint(mock.url, profiles=cache) as inner:
                    model = CachedModel(inner, cache)
                    await asyncio.gather(*(model.complete(request(f"{i}")) for i in range(20)))
            assert mock.calls == 21


async def test_the_wrapper_is_the_model_in_all_else() -> None:
    inner = InstantModel(lambda one: "x")
    model = CachedModel(inner, None)
    assert model.identity == inner.identity
    assert model.capabilities == inner.capabilities
    assert await model.count_tokens("four") == 1
    await model.aclose()
    assert inner.closed
