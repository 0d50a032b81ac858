"""An endpoint against a real server: each fault has a clear end."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from basanite.errors import (
    CallError,
    EndpointError,
    InputError,
    ReplyError,
    UnscoredReason,
)
from basanite.llm import EndpointConfig, open_endpoint, usage_of
from support.asking import after_probe, asked_of, endpoint, request, until
from support.mock_endpoint import MockConfig, MockEndpoint, Reply


async def _closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def test_a_reply_comes_back_with_its_usage() -> None:
    with MockEndpoint(responder=after_probe('{"a1": "neutral"}')) as mock:
        async with endpoint(mock.url) as model:
            completion = await model.complete(request())
    assert completion.text == '{"a1": "neutral"}'
    assert completion.finish_reason == "stop"
    assert completion.cached is False
    assert (completion.usage.calls, completion.usage.completion_tokens) == (1, 4)
    assert completion.usage.prompt_tokens > 0
    assert completion.usage.seconds > 0


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_an_address_works_with_and_without_v1(suffix: str) -> None:
    with MockEndpoint() as mock:
        async with endpoint(mock.url.removesuffix("/v1") + suffix) as model:
            assert (await model.complete(request())).text
            assert model.address == mock.url


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("429-bare", UnscoredReason.RATE_LIMITED),
        ("429", UnscoredReason.RATE_LIMITED),
        ("500", UnscoredReason.HTTP_ERROR),
        ("html", UnscoredReason.HTTP_ERROR),
        ("half", UnscoredReason.HTTP_ERROR),
        ("not-chat", UnscoredReason.HTTP_ERROR),
        ("disconnect", UnscoredReason.CONNECTION_FAILED),
    ],
)
async def test_a_fault_that_stays_ends_after_five_attempts(
    fault: str, reason: UnscoredReason
) -> None:
    config = MockConfig(retry_after="0.01")
    with MockEndpoint(config, responder=after_probe(Reply("{}", fault=fault))) as mock:
        async with endpoint(mock.url) as model:
            with pytest.raises(CallError) as caught:
                await model.complete(request())
        assert len(asked_of(mock)) == 5
    assert caught.value.reason is reason
    assert usage_of(caught.value).calls == 5
    assert "5 attempts" in str(caught.value)
    assert mock.url in str(caught.value)


@pytest.mark.parametrize(
    "fault", ["429-bare", "429", "500", "html", "half", "not-chat", "disconnect"]
)
async def test_a_fault_that_passes_costs_one_more_attempt(fault: str) -> None:
    replies = (Reply("{}", fault=fault), "good")
    with MockEndpoint(MockConfig(retry_after="0.01"), responder=after_probe(*replies)) as mock:
        async with endpoint(mock.url) as model:
            completion = await model.complete(request())
    assert completion.text == "good"
    assert completion.usage.calls == 2


async def test_a_hanging_request_ends_at_its_deadline_and_is_tried_once_more() -> None:
    with MockEndpoint(responder=after_probe(Reply("{}", fault="hang"))) as mock:
        async with endpoint(mock.url, attempt_seconds=0.1) as model:
            started = time.monotonic()
            with pytest.raises(CallError) as caught:
                await model.complete(request())
            seconds = time.monotonic() - started
        assert len(asked_of(mock)) == 2
    assert caught.value.reason is UnscoredReason.TIMEOUT
    assert "0.1 s" in str(caught.value)
    assert 0.2 <= seconds < 2
    assert usage_of(caught.value).calls_without_usage == 2


async def test_a_slow_answer_ends_at_its_deadline() -> None:
    replies = (Reply("late", latency=9.0), "good")
    with MockEndpoint(responder=after_probe(*replies)) as mock:
        async with endpoint(mock.url, attempt_seconds=0.5) as model:
            assert (await model.complete(request())).text == "good"


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_no_request_survives_stops_the_run_and_says_what_to_do(status: int) -> None:
    reply = Reply(status=status, body={"error": {"message": "no"}})
    with MockEndpoint(responder=after_probe(reply)) as mock:
        async with endpoint(mock.url) as model:
            with pytest.raises(EndpointError) as caught:
                await model.complete(request())
        assert len(asked_of(mock)) == 1
    assert mock.url in str(caught.value)
    assert caught.value.todo
    assert ("BASANITE_API_KEY" in caught.value.todo) is (status != 404)


async def test_a_redirect_is_not_followed() -> None:
    headers = {"Location": "http://elsewhere.invalid/v1"}
    reply = Reply(status=307, body={}, headers=headers)
    with MockEndpoint(responder=after_probe(reply)) as mock:
        async with endpoint(mock.url) as model:
            with pytest.raises(EndpointError, match=r"elsewhere\.invalid"):
                await model.complete(request())


async def test_an_overflow_of_the_context_is_not_tried_again() -> None:
    with MockEndpoint(MockConfig(context_tokens=100)) as mock:
        async with endpoint(mock.url) as model:
            with pytest.raises(ReplyError) as caught:
                await model.complete(request("long " * 1000))
        assert len(asked_of(mock)) == 1
    assert caught.value.reason is UnscoredReason.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    "reply",
    [Reply("why", finish_reason="content_filter"), Reply(message={"refusal": "why"})],
)
async def test_a_refusal_is_its_own_reason(reply: Reply) -> None:
    with MockEndpoint(responder=after_probe(reply)) as mock:
        async with endpoint(mock.url) as model:
            with pytest.raises(ReplyError, match="why") as caught:
                await model.complete(request())
    assert caught.value.reason is UnscoredReason.REFUSED
    assert usage_of(caught.value).calls == 1


async def test_an_endpoint_that_is_down_at_the_start_is_named_with_what_to_do() -> None:
    url = f"http://127.0.0.1:{await _closed_port()}/v1"
    with pytest.raises(EndpointError) as caught:
        await open_endpoint(EndpointConfig(url))
    assert url in str(caught.value)
    assert "Start the server" in str(caught.value)


async def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(EndpointError, match=r"nowhere\.invalid") as caught:
        await open_endpoint(EndpointConfig("http://nowhere.invalid:8000"))
    assert "host" in str(caught.value)


async def test_an_endpoint_that_goes_down_in_the_middle_fails_each_call_in_bounded_time() -> None:
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as model:
            assert (await model.complete(request())).text
            mock.stop()
            with pytest.raises(CallError) as caught:
                await model.complete(request())
    assert caught.value.reason is UnscoredReason.CONNECTION_FAILED
    assert usage_of(caught.value).calls == 5


async def test_a_cancelled_call_cancels_its_http_request() -> None:
    with MockEndpoint(responder=after_probe(Reply("{}", fault="hang"), "good")) as mock:
        async with endpoint(mock.url, concurrency=1) as model:
            task = asyncio.create_task(model.complete(request()))
            await until(lambda: asked_of(mock))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: mock.stats.disconnects == 1)
            # Its place is free again: the only one there is.
            assert (await model.complete(request())).text == "good"


async def test_the_asked_for_concurrency_is_reached_and_not_passed() -> None:
    with MockEndpoint(MockConfig(latency=0.6)) as mock:
        async with endpoint(mock.url, concurrency=64) as model:
            await asyncio.gather(*(model.complete(request(f"{i}")) for i in range(128)))
        assert mock.max_in_flight == 64
        assert mock.stats.connections <= 65


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(InputError, match="concurrency"):
        EndpointConfig("http://127.0.0.1:1", concurrency=0)
    with pytest.raises(InputError, match="attempt_seconds"):
        EndpointConfig("http://127.0.0.1:1", attempt_seconds=0)
