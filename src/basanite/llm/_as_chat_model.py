"""A model that judges ask, as a LangChain chat model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_json_schema
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from ..errors import InputError
from ..schema import Sampling
from ._jsontext import read_json
from ._types import ChatModel, Completion, Message, Request

T = TypeVar("T")

_PARSER_VERSION = "langchain/1"
_LEFT_OUT = frozenset({"ls_structured_output_format", "stream", "stream_usage"})
"""Arguments that LangChain passes along for its own ends."""


def as_chat_model(model: ChatModel, sampling: Sampling | None = None) -> BaseChatModel:
    """Give a model as LangChain's: for agents, chains and graphs, with the model's cache and
    retries.

    It has `invoke`, `ainvoke`, `stream` (in one piece) and `with_structured_output` (the schema is
    enforced by the endpoint). Its sampling can be changed per call (`temperature`, `top_p`, `seed`,
    `max_tokens`). It takes text only, and no tools.

    Args:
        model: what `open_model` gave, or any other; it must stay open.
        sampling: used where a call says nothing else; None takes temperature 0 and seed 0.

    Raises:
        InputError: from a call with images, tool messages or unknown arguments.
    """
    return _Adapted(model=model, sampling=sampling or Sampling())


class _Home:
    """The event loop on which a model is asked: its connections belong to one.

    The loop of the first async call is it. Where the first call is a plain one, it is a loop in a
    thread of its own, which also serves callers inside of a running loop, such as a notebook's.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        current = asyncio.get_running_loop()
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = current
            home = self._loop
        if home is current:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, home))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
            home = self._loop
        if home is _running_loop():
            work.close()
            raise InputError(
                "a plain call would block the event loop on which the model runs",
                todo="Use ainvoke or abatch here.",
            )
        return asyncio.run_coroutine_threadsafe(work, home).result()


class _Adapted(BaseChatModel):
    """A `ChatModel` behind LangChain's interface."""

    # Nothing leaves by tracing what a wrapped model does not show: it is no field of a dump.
    model: ChatModel = Field(exclude=True)
    sampling: Sampling

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _home: _Home = PrivateAttr(default_factory=_Home)

    @property
    def _llm_type(self) -> str:
        return "basanite"

    @property
    def _identifying_params(self) -> Mapping[str, object]:
        return {
            "model": self.model.identity.model_dump(mode="json"),
            "sampling": self.sampling.model_dump(mode="json"),
        }

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, kwargs)
        return _result(self._home.wait(self.model.complete(request)), stop)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, kwargs)
        return _result(await self._home.run(self.model.complete(request)), stop)

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Reply with a value of a schema.

        Args:
            schema: a pydantic model, or a JSON schema as a dict.
            include_raw: give `{"raw", "parsed", "parsing_error"}` and raise no error.
            **kwargs: `method` and `strict` are taken and not needed.

        Raises:
            InputError: another argument.
            ValueError: from a call, if the reply does not match.
        """
        unknown = sorted(set(kwargs) - {"method", "strict"})
        if unknown:
            raise InputError(f"with_structured_output takes no {', '.join(unknown)}")
        parse = _parser(schema)
        asking = self.bind(schema=convert_to_json_schema(schema))
        if not include_raw:
            return asking | RunnableLambda(parse)
        return asking | RunnableLambda(lambda message: _with_raw(message, parse))

    def _request(self, messages: Sequence[BaseMessage], given: Mapping[str, Any]) -> Request:
        changes = {name: given[name] for name in Sampling.model_fields if name in given}
        unknown = sorted(set(given) - set(changes) - _LEFT_OUT - {"schema"})
        if unknown:
            raise InputError(
                f"the model takes no {', '.join(unknown)}",
                todo="It takes temperature, top_p, seed and max_tokens, and no tools.",
            )
        sampling = self.sampling
        if changes:
            sampling = Sampling.model_validate({**sampling.model_dump(), **changes})
        return Request(
            messages=tuple(_message(one) for one in messages),
            sampling=sampling,
            role="langchain",
            parser_version=_PARSER_VERSION,
            schema=given.get("schema"),
        )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _message(message: BaseMessage) -> Message:
    content = message.content
    parts = [content] if isinstance(content, str) else content
    texts = [part if isinstance(part, str) else part.get("text") for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise InputError("a message holds something that is not text", todo="Send text only.")
    text = "".join(str(text) for text in texts)
    if isinstance(message, SystemMessage):
        return Message("system", text)
    if isinstance(message, HumanMessage):
        return Message("user", text)
    if isinstance(message, AIMessage) and not message.tool_calls:
        return Message("assistant", text)
    raise InputError(
        f"a message of the kind {message.type} can't be sent",
        todo="Send system, human and AI messages, without tool calls.",
    )


def _result(completion: Completion, stop: Sequence[str] | None) -> ChatResult:
    text, finish, usage = completion.text, completion.finish_reason, completion.usage
    ends = [text.index(mark) for mark in stop or () if mark in text]
    if ends:
        text, finish = text[: min(ends)], "stop"
    # Where the server reported no counts, there are none: a zero would be made up.
    counted = not usage.calls_without_usage
    more = {} if completion.reasoning is None else {"reasoning_content": completion.reasoning}
    message = AIMessage(
        content=text,
        additional_kwargs=more,
        response_metadata={"finish_reason": finish, "cached": completion.cached},
        usage_metadata={
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        }
        if counted
        else None,
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _parser(schema: dict[str, Any] | type) -> Callable[[BaseMessage], dict[str, Any] | BaseModel]:
    def parse(message: BaseMessage) -> dict[str, Any] | BaseModel:
        if message.response_metadata.get("finish_reason") == "length":
            raise ValueError("the reply was cut at its token limit")
        value = read_json(str(message.content))
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            return schema.model_validate(value)
        if not isinstance(value, dict):
            raise ValueError("the reply is no JSON object")
        return value

    return parse


def _with_raw(
    message: BaseMessage, parse: Callable[[BaseMessage], dict[str, Any] | BaseModel]
) -> dict[str, Any]:
    try:
        return {"raw": message, "parsed": parse(message), "parsing_error": None}
    except ValueError as error:
        return {"raw": message, "parsed": None, "parsing_error": error}
