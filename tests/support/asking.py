"""Requests and endpoints for tests of the way to a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from basanite.llm import Endpoint, EndpointConfig, Message, Request, RetryPolicy, open_endpoint
from basanite.llm._probe import ProfileStore
from basanite.llm._types import Capabilities
from basanite.schema import Sampling
from support.mock_endpoint import MockEndpoint, Reply, Responder

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"a1": {"type": "string", "enum": ["entailed", "neutral", "contradicted"]}},
    "required": ["a1"],
    "additionalProperties": False,
}

QUICK = RetryPolicy(backoff_seconds=0.01, backoff_cap_seconds=0.05)
"""Five attempts, as by default, without its waits."""

KNOWN = Capabilities(json_schema=True, logprobs=True)


def request(
    text: str = "Is it so?",
    *,
    schema: Mapping[str, object] | None = SCHEMA,
    max_tokens: int = 64,
    top_logprobs: int | None = None,
    replicate: int = 0,
    parser_version: str = "1",
) -> Request:
    """A small request."""
    return Request(
        messages=(Message("system", "You judge."), Message("user", text)),
        sampling=Sampling(max_tokens=max_tokens),
        role="check:truth",
        parser_version=parser_version,
        schema=schema,
        top_logprobs=top_logprobs,
        replicate=replicate,
    )


@asynccontextmanager
async def endpoint(
    url: str,
    *,
    concurrency: int = 8,
    attempt_seconds: float = 5.0,
    retry: RetryPolicy = QUICK,
    profiles: ProfileStore | None = None,
    model: str | None = None,
) -> AsyncIterator[Endpoint]:
    """An open endpoint, closed at the end."""
    config = EndpointConfig(
        url,
        model=model,
        concurrency=concurrency,
        attempt_seconds=attempt_seconds,
        retry=retry,
    )
    opened = await open_endpoint(config, profiles)
    try:
        yield opened
    finally:
        await opened.aclose()


def is_probe(body: Mapping[str, object]) -> bool:
    """Whether a chat request is one of the probe's."""
    return "Say hello in one word." in str(body.get("messages"))


async def until(condition: Callable[[], object], *, seconds: float = 10.0) -> None:
    """Wait for something that happens in another thread, which can't set an event here."""
    for _ in range(int(seconds / 0.005)):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"did not happen within {seconds} s")


def after_probe(*replies: Reply | str) -> Responder:
    """Answer the probe well, then with these replies in turn, the last of them for ever."""
    left = list(replies)

    def respond(body: dict[str, object]) -> Reply | str:
        if is_probe(body):
            return '{"touchstone": "basanite"}'
        return left.pop(0) if len(left) > 1 else left[0]

    return respond


def asked_of(mock: MockEndpoint) -> list[dict[str, object]]:
    """Chat requests that a mock got, without the probe's."""
    return [body for body in mock.requests if not is_probe(body)]
