"""What an endpoint refuses in use is learned, once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from basanite.errors import (
    CapabilityError,
)
from support.asking import asked_of, endpoint, is_probe, request
from support.mock_endpoint import MockConfig, MockEndpoint, Reply


async def test_a_schema_that_is_refused_is_learned_once() -> None:
    with MockEndpoint(MockConfig(json_schema=False, latency=0.02)) as mock:
        async with endpoint(mock.url) as model:
            # As if the probe could not tell.
            unknown = replace(model.capabilities, json_schema=None)
            model.settle(replace(model.profile, capabilities=unknown), None)
            assert '"a1"' in (await model.complete(request("1"))).text
            assert model.capabilities.json_schema is False
            before = mock.calls
            await model.complete(request("2"))
            assert mock.calls == before + 1
            assert "response_format" not in mock.requests[-1]


async def test_one_schema_that_is_refused_does_not_cost_the_others_theirs() -> None:
    def respond(body: dict[str, object]) -> Reply | str:
        if is_probe(body):
            return '{"touchstone": "basanite"}'
        if "pattern" in str(body.get("response_format")):
            message = "The provided JSON schema contains features not supported by xgrammar"
            return Reply(status=400, body={"error": {"message": message}})
        return "fine"

    odd = {"type": "object", "properties": {"x": {"type": "string", "pattern": "(?=a)"}}}
    with MockEndpoint(responder=respond) as mock:
        async with endpoint(mock.url) as model:
            assert (await model.complete(request("1", schema=odd))).text == "fine"
            assert (await model.complete(request("2", schema=odd))).text == "fine"
            assert (await model.complete(request("3"))).text == "fine"
            assert model.capabilities.json_schema is True
        sent = ["response_format" in body for body in asked_of(mock)]
    assert sent == [True, False, False, True]


async def test_log_probabilities_come_back_and_their_absence_is_an_error() -> None:
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as model:
            completion = await model.complete(request(top_logprobs=3))
    assert completion.logprobs is not None
    assert len(completion.logprobs[0].top) == 3
    with MockEndpoint(MockConfig(logprobs=False)) as mock:
        async with endpoint(mock.url) as model:
            with pytest.raises(CapabilityError, match="log probabilities"):
                await model.complete(request(top_logprobs=3))


async def test_requests_in_flight_while_it_is_learned_all_succeed() -> None:
    with MockEndpoint(MockConfig(json_schema=False, latency=0.05)) as mock:
        async with endpoint(mock.url, concurrency=20) as model:
            unknown = replace(model.capabilities, json_schema=None, logprobs=None)
            model.settle(replace(model.profile, capabilities=unknown), None)
            replies = await asyncio.gather(
                *(model.complete(request(f"{i}", top_logprobs=1)) for i in range(20))
            )
        assert len(replies) == 20
        assert [reply.usage.calls for reply in replies] == [2] * 20
