"""A LangChain chat model as a judge's model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from basanite.errors import CallError, CapabilityError, EndpointError, ReplyError, UnscoredReason
from basanite.llm import (
    CachedModel,
    ChatModel,
    EndpointConfig,
    LangChainModel,
    RetryPolicy,
    ask,
    read_json,
)
from support.asking import QUICK, SCHEMA, request
from support.memory_cache import MemoryCache
from support.mock_endpoint import MockConfig, MockEndpoint, Reply, Responder

_GOOD = '{"a1": "entailed"}'


def _config(retry: RetryPolicy = QUICK, seconds: float = 5.0) -> EndpointConfig:
    return EndpointConfig(url="unused", retry=retry, attempt_seconds=seconds)


def _openai(mock: MockEndpoint, **more: Any) -> ChatOpenAI:
    key = SecretStr("none")
    return ChatOpenAI(
        model="mock-model",
        base_url=mock.url,
        api_key=key,
        max_retries=0,
        stream_usage=False,
        **more,
    )


class Speaker(BaseChatModel):
    """Says or raises what it is given, in turn; has no async implementation and no fields."""

    turns: list[Any]
    asked: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "speaker"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        assert not kwargs
        self.asked.append(messages)
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return ChatResult(generations=[ChatGeneration(message=turn)])


def _speaker(*turns: AIMessage | Exception) -> tuple[LangChainModel, Speaker]:
    speaker = Speaker(turns=list(turns), asked=[])
    return LangChainModel(speaker, config=_config()), speaker


async def test_the_request_of_a_judge_reaches_an_openai_server_whole() -> None:
    with MockEndpoint(responder=lambda body: _GOOD) as mock:
        model = LangChainModel(_openai(mock))
        completion = await model.complete(request(top_logprobs=3))
        sent = mock.requests[0]
    assert completion.text == _GOOD
    assert completion.finish_reason == "stop"
    assert completion.usage.calls == 1
    assert completion.usage.prompt_tokens > 0
    assert completion.usage.calls_without_usage == 0
    assert completion.logprobs is not None
    assert "".join(one.token for one in completion.logprobs) == _GOOD
    assert isinstance(model, ChatModel)
    assert model.uncontrolled == ()
    assert sent["messages"] == [
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": "Is it so?"},
    ]
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.0, 1.0, 0)
    assert sent["max_completion_tokens"] == 64
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 3)
    form = sent["response_format"]
    assert isinstance(form, dict)
    schema = form["json_schema"]["schema"]
    assert schema["properties"] == SCHEMA["properties"]
    assert schema["required"] == SCHEMA["required"]


async def test_a_replicate_has_a_seed_of_its_own() -> None:
    with MockEndpoint(responder=lambda body: _GOOD) as mock:
        model = LangChainModel(_openai(mock))
        for replicate in range(3):
            await model.complete(request(replicate=replicate))
        assert [body["seed"] for body in mock.requests] == [0, 1, 2]


async def test_a_model_without_fields_says_what_it_can_not_be_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="basanite"):
        model = LangChainModel(FakeListChatModel(responses=["so"]))
    assert model.uncontrolled == ("temperature", "top_p", "seed", "max_tokens")
    assert "takes no temperature" in caplog.text
    assert (await model.complete(request(schema=None))).text == "so"
    with pytest.raises(CapabilityError):
        await model.complete(request(top_logprobs=2))


async def test_without_structured_output_the_schema_goes_into_the_prompt() -> None:
    model, speaker = _speaker(AIMessage("Sure: " + _GOOD), AIMessage(_GOOD))
    asked = await ask(model, request(), lambda value: value)
    await model.complete(request())
    assert asked.value == {"a1": "entailed"}
    assert asked.first_valid
    assert len(speaker.asked) == 2
    for messages in speaker.asked:
        assert "JSON schema" in str(messages[-1].content)
        assert '"enum":["entailed","neutral","contradicted"]' in str(messages[-1].content)
    assert model.capabilities.json_schema is False


async def test_a_server_that_refuses_schemas_is_learned_from() -> None:
    def answer(body: dict[str, object]) -> Reply | str:
        if "response_format" in body:
            return Reply(status=400, body={"error": {"message": "response_format unsupported"}})
        return _GOOD

    with MockEndpoint(responder=answer) as mock:
        model = LangChainModel(_openai(mock), config=_config())
        for _ in range(2):
            assert read_json((await model.complete(request())).text) == {"a1": "entailed"}
        assert ["response_format" in body for body in mock.requests] == [True, False, False]


async def test_a_schema_enforced_as_a_tool_is_read_too() -> None:
    message = AIMessage(
        "",
        tool_calls=[{"name": "reply", "args": {"a1": "neutral"}, "id": "1", "type": "tool_call"}],
    )

    class WithTools(Speaker):
        def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
            assert tools[0]["properties"] == SCHEMA["properties"]
            return self

    model = LangChainModel(WithTools(turns=[message], asked=[]))
    completion = await model.complete(request())
    assert read_json(completion.text) == {"a1": "neutral"}
    assert completion.usage.calls_without_usage == 1


@pytest.mark.parametrize("schema", [SCHEMA, None])
async def test_a_cut_reply_is_asked_for_again_with_a_larger_limit(schema: Any) -> None:
    replies: list[Reply | str] = [Reply('{"a1": "ent', finish_reason="length"), _GOOD]
    with MockEndpoint(responder=lambda body: replies.pop(0)) as mock:
        model = LangChainModel(_openai(mock), config=_config())
        asked = await ask(model, request(schema=schema), lambda value: value)
        assert [body["max_completion_tokens"] for body in mock.requests] == [64, 128]
    assert [reply.error for reply in asked.replies] == [UnscoredReason.REPLY_CUT, None]


async def test_reasoning_is_kept_apart() -> None:
    model, _ = _speaker(AIMessage("<think>Hm.</think>yes"))
    completion = await model.complete(request(schema=None))
    assert (completion.text, completion.reasoning) == ("yes", "Hm.")


async def test_a_content_filter_is_a_refusal() -> None:
    stopped = Reply("no", finish_reason="content_filter")
    with MockEndpoint(responder=lambda body: stopped) as mock:
        model = LangChainModel(_openai(mock), config=_config())
        for schema in (SCHEMA, None):
            with pytest.raises(ReplyError) as caught:
                await model.complete(request(schema=schema))
            assert caught.value.reason is UnscoredReason.REFUSED


@pytest.mark.parametrize(
    ("reply", "reason", "calls"),
    [
        (Reply(fault="500"), UnscoredReason.HTTP_ERROR, 5),
        (Reply(fault="429"), UnscoredReason.RATE_LIMITED, 5),
        (Reply(fault="disconnect"), UnscoredReason.CONNECTION_FAILED, 5),
        (
            Reply(status=400, body={"error": {"message": "maximum context length is 8"}}),
            UnscoredReason.CONTEXT_OVERFLOW,
            1,
        ),
        (Reply(status=422, body={"error": {"message": "no"}}), UnscoredReason.HTTP_ERROR, 1),
    ],
)
async def test_failures_of_the_server_have_their_names(
    reply: Reply, reason: UnscoredReason, calls: int
) -> None:
    with MockEndpoint(responder=lambda body: reply) as mock:
        model = LangChainModel(_openai(mock), config=_config())
        with pytest.raises((CallError, ReplyError)) as caught:
            await model.complete(request(schema=None))
        assert mock.calls == calls
    assert caught.value.reason is reason


async def test_a_wrong_key_ends_the_run() -> None:
    with MockEndpoint(MockConfig(api_key="right")) as mock:
        model = LangChainModel(_openai(mock), config=_config())
        with pytest.raises(EndpointError):
            await model.complete(request())
        assert mock.calls <= 1


async def test_a_slow_server_is_given_up_and_the_request_cancelled() -> None:
    policy = RetryPolicy(timeouts=1)
    with MockEndpoint(responder=lambda body: Reply(fault="hang")) as mock:
        model = LangChainModel(_openai(mock), config=_config(policy, seconds=0.3))
        with pytest.raises(CallError) as caught:
            await model.complete(request())
        await asyncio.sleep(0.2)
        assert mock.stats.disconnects == 1
    assert caught.value.reason is UnscoredReason.TIMEOUT


async def test_errors_of_other_packages_are_told_apart() -> None:
    class ResponseError(Exception):  # as ollama's
        status_code = 503

    class ContextOverflowError(Exception):
        pass

    model, speaker = _speaker(ResponseError("busy"), ConnectionError("gone"), AIMessage("so"))
    completion = await model.complete(request(schema=None))
    assert (completion.text, completion.usage.calls) == ("so", 3)
    model, _ = _speaker(ContextOverflowError("too much"))
    with pytest.raises(ReplyError) as caught:
        await model.complete(request(schema=None))
    assert caught.value.reason is UnscoredReason.CONTEXT_OVERFLOW
    model, speaker = _speaker(KeyError("a bug"), AIMessage("never asked for"))
    with pytest.raises(KeyError):
        await model.complete(request(schema=None))
    assert len(speaker.asked) == 1


async def test_identity_and_key_tell_models_apart() -> None:
    answer: Responder = lambda body: _GOOD  # noqa: E731
    with MockEndpoint(responder=answer) as one, MockEndpoint(responder=answer) as other:
        models = [
            CachedModel(LangChainModel(chat), MemoryCache())
            for chat in (
                _openai(one),
                _openai(one, extra_body={"chat_template_kwargs": {"enable_thinking": False}}),
                _openai(other),
                _openai(one),
            )
        ]
    keys = [model.key(request()) for model in models]
    assert len(set(keys)) == 3
    assert keys[0] == keys[3]
    identity = models[0].identity
    assert (identity.name, identity.kind) == ("mock-model", "langchain")
    assert identity.engine.startswith("langchain-openai ")
    assert identity.weights_sha256 == "unknown"


async def test_the_cache_of_langchain_is_not_asked() -> None:
    from langchain_core.caches import InMemoryCache
    from langchain_core.globals import set_llm_cache

    set_llm_cache(InMemoryCache())
    try:
        model, speaker = _speaker(AIMessage("one"), AIMessage("two"))
        texts = [(await model.complete(request(schema=None, replicate=n))).text for n in (0, 1)]
    finally:
        set_llm_cache(None)
    assert texts == ["one", "two"]
    assert speaker.cache is None


async def test_the_context_is_what_the_caller_or_the_model_says() -> None:
    chat = FakeListChatModel(responses=["so"])
    assert LangChainModel(chat).capabilities.context_tokens is None
    assert LangChainModel(chat, context_tokens=512).capabilities.context_tokens == 512
    profiled = FakeListChatModel(responses=["so"], profile={"max_input_tokens": 2048})
    assert LangChainModel(profiled).capabilities.context_tokens == 2048
    assert await LangChainModel(chat).count_tokens("a few words") > 0
