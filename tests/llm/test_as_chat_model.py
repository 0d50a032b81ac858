"""A judge's model as a LangChain chat model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from pydantic import BaseModel, ValidationError

from basanite.errors import InputError
from basanite.llm import CachedModel, LangChainModel, as_chat_model
from basanite.schema import Sampling
from support.asking import endpoint, is_probe
from support.memory_cache import MemoryCache
from support.mock_endpoint import MockEndpoint, Reply, Responder


class Verdict(BaseModel):
    """One label."""

    a1: str


@asynccontextmanager
async def _chat(responder: Responder) -> AsyncIterator[tuple[BaseChatModel, MockEndpoint]]:
    def answer(body: dict[str, object]) -> Any:
        return '{"touchstone": "basanite"}' if is_probe(body) else responder(body)

    with MockEndpoint(responder=answer) as mock:
        async with endpoint(mock.url) as model:
            yield as_chat_model(CachedModel(model, MemoryCache())), mock


def _asked(mock: MockEndpoint) -> list[dict[str, Any]]:
    return [body for body in mock.requests if not is_probe(body)]


async def test_it_answers_chains_with_metadata_and_cache() -> None:
    async with _chat(lambda body: "It is so.") as (chat, mock):
        assert isinstance(chat, BaseChatModel)
        prompt = ChatPromptTemplate.from_messages([("system", "Judge."), ("human", "{claim}")])
        chain = prompt | chat | StrOutputParser()
        assert await chain.ainvoke({"claim": "Is it?"}) == "It is so."
        again = await chat.ainvoke([SystemMessage("Judge."), HumanMessage("Is it?")])
        (sent,) = _asked(mock)
    assert [turn["content"] for turn in sent["messages"]] == ["Judge.", "Is it?"]
    assert (sent["temperature"], sent["seed"], sent["top_p"]) == (0.0, 0, 1.0)
    assert isinstance(again, AIMessage)
    assert again.response_metadata == {"finish_reason": "stop", "cached": True}
    assert again.usage_metadata is not None


async def test_tokens_are_reported() -> None:
    async with _chat(lambda body: "It is so.") as (chat, _):
        message = await chat.ainvoke("Is it?")
    usage = message.usage_metadata
    assert usage is not None
    assert usage["input_tokens"] > 0
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


async def test_tokens_that_no_server_counted_are_not_zero() -> None:
    async with _chat(lambda body: Reply("It is so.", usage=False)) as (chat, _):
        assert (await chat.ainvoke("Is it?")).usage_metadata is None


async def test_sampling_is_set_at_making_and_per_call() -> None:
    async with _chat(lambda body: "so") as (chat, mock):
        assert chat.bind(temperature=0.7)
        await chat.ainvoke("Is it?", temperature=0.7, max_tokens=5)
        await chat.bind(seed=3).ainvoke("Is it?")
        first, second = _asked(mock)
    assert (first["temperature"], first["max_tokens"], first["seed"]) == (0.7, 5, 0)
    assert (second["temperature"], second["seed"]) == (0.0, 3)
    assert second["max_tokens"] == Sampling().max_tokens


async def test_structured_output_is_enforced_and_read() -> None:
    async with _chat(lambda body: '{"a1": "entailed"}') as (chat, mock):
        verdict = await chat.with_structured_output(Verdict).ainvoke("Is it?")
        as_dict = await chat.with_structured_output(Verdict.model_json_schema()).ainvoke("Is it?")
        sent = _asked(mock)[0]
    assert verdict == Verdict(a1="entailed")
    assert as_dict == {"a1": "entailed"}
    schema = sent["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["a1"]


async def test_structured_output_that_does_not_match_is_an_error() -> None:
    async with _chat(lambda body: '{"b": 1}') as (chat, _):
        with pytest.raises(ValidationError):
            await chat.with_structured_output(Verdict).ainvoke("Is it?")
        raw = await chat.with_structured_output(Verdict, include_raw=True).ainvoke("Is it?")
        with pytest.raises(InputError, match="colour"):
            chat.with_structured_output(Verdict, colour="red")
    assert isinstance(raw, dict)
    assert raw["parsed"] is None
    assert isinstance(raw["parsing_error"], ValueError)
    assert isinstance(raw["raw"], AIMessage)


async def test_a_cut_reply_is_no_structured_output() -> None:
    cut = Reply('{"a1": "entailed"}', finish_reason="length")
    async with _chat(lambda body: cut) as (chat, _):
        with pytest.raises(ValueError, match="token limit"):
            await chat.with_structured_output(Verdict).ainvoke("Is it?")


async def test_it_streams_in_one_piece_and_stops_at_words() -> None:
    async with _chat(lambda body: "one two three") as (chat, _):
        pieces = [piece.text async for piece in chat.astream("Count.")]
        stopped = await chat.ainvoke("Count.", stop=["three", " two"])
    assert "".join(pieces) == "one two three"
    assert stopped.text == "one"


async def test_plain_calls_work_from_another_thread() -> None:
    async with _chat(lambda body: "so") as (chat, mock):
        await chat.ainvoke("first")  # this loop is the model's home from here on
        message = await asyncio.to_thread(chat.invoke, "second")
        assert message.text == "so"
        with pytest.raises(InputError, match="ainvoke"):
            chat.invoke("third")
        assert len(_asked(mock)) == 2


def test_plain_calls_work_without_any_loop() -> None:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    chat = as_chat_model(LangChainModel(FakeListChatModel(responses=["one", "two", "three"])))
    assert chat.invoke("a").text == "one"

    async def later() -> str:  # as in a notebook: a loop runs, and a plain call is made
        plain = chat.invoke("b").text
        return f"{plain} {(await chat.ainvoke('c')).text}"

    assert asyncio.run(later()) == "two three"


async def test_what_it_can_not_send_is_refused() -> None:
    async with _chat(lambda body: "so") as (chat, mock):
        picture = HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}])
        parts = HumanMessage([{"type": "text", "text": "Is "}, "it?"])
        for bad in ([picture], [ToolMessage("42", tool_call_id="1")]):
            with pytest.raises(InputError):
                await chat.ainvoke(bad)
        with pytest.raises(InputError, match="logit_bias"):
            await chat.ainvoke("Is it?", logit_bias={})
        with pytest.raises(NotImplementedError):
            chat.bind_tools([])
        await chat.ainvoke([parts])
        (sent,) = _asked(mock)
    assert sent["messages"][0]["content"] == "Is it?"


async def test_it_judges_through_both_adapters() -> None:
    async with _chat(lambda body: "so") as (chat, mock):
        model = LangChainModel(chat)
        from support.asking import request

        completion = await model.complete(request(schema=None))
        assert completion.text == "so"
        assert len(_asked(mock)) == 1
