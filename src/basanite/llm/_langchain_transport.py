"""One attempt at one request, through a LangChain chat model."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from ..errors import UnscoredReason
from ._address import Address
from ._failure import Failure, of_body, of_connection, of_status, of_timeout
from ._types import Completion
from ._wire import NotACompletion, completion_of

_SAMPLING = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
    "max_tokens": ("max_tokens", "num_predict", "max_output_tokens", "max_new_tokens"),
    "logprobs": ("logprobs",),
    "top_logprobs": ("top_logprobs",),
}
"""Parameters of a request, each with the names of the field that different packages give it."""

_MESSAGES: Mapping[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}
_FINISH = {
    "end_turn": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
    "safety": "content_filter",
}
"""What other providers say, in OpenAI's words."""

_KEPT = 8
"""Most forms of a model (sampling and schema) that are kept for further requests."""


class LangChainTransport:
    """Asks a chat model what `Transport` would ask a server; never raises for a failed attempt."""

    def __init__(self, chat: BaseChatModel, address: Address) -> None:
        self._address = address
        # LangChain's own cache would give a repeat the reply that it is to be compared with.
        self._chat = chat.model_copy(update={"cache": False})
        declared = set(type(chat).model_fields)
        self._fields = {
            name: next((field for field in fields if field in declared), None)
            for name, fields in _SAMPLING.items()
        }
        self._set: OrderedDict[str, Runnable[list[BaseMessage], object]] = OrderedDict()

    def takes(self, name: str) -> bool:
        """Whether the model has a field for `temperature`, `top_p`, `seed` and so on."""
        return self._fields.get(name) is not None

    @property
    def sampling_fields(self) -> frozenset[str]:
        """The model's own names of what each request sets."""
        return frozenset(field for field in self._fields.values() if field is not None)

    async def chat(self, body: bytes, seconds: float) -> Completion | Failure:
        """Send a chat request; a refusal of the model is a completion that says `refusal`."""
        asked: dict[str, object] = json.loads(body)
        try:
            asking = self._asking(asked)
        except NotImplementedError:
            what = "the LangChain model has no structured output"
            return Failure(UnscoredReason.HTTP_ERROR, what, retry=False, rejects="schema")
        try:
            async with asyncio.timeout(seconds):
                reply = await asking.ainvoke(_messages(asked))
        except openai.LengthFinishReasonError as error:
            # The official client calls a cut reply an error where a schema was sent.
            return self._completion(error.completion.model_dump(mode="json"))
        except openai.ContentFilterFinishReasonError as error:
            return Completion(text=str(error), finish_reason="content_filter")
        except TimeoutError:
            return of_timeout(seconds)
        # Each provider's package raises what it likes. What can't be told apart as a failure of
        # the model or the network is raised again, for it is a bug of someone's.
        except Exception as error:
            failure = self._failure(error, seconds)
            if failure is None:
                raise
            return failure
        message = reply["raw"] if isinstance(reply, dict) else reply
        if not isinstance(message, AIMessage):
            return of_body(f"{type(message).__name__} instead of an AIMessage")
        return self._completion(_body_of(message))

    async def post(
        self, path: str, body: Mapping[str, object], seconds: float
    ) -> Mapping[str, object] | Failure:
        """Nothing else can be asked of a LangChain model."""
        return of_body(f"no {path}: a LangChain model has none")

    async def close(self) -> None:
        """Nothing to close: the chat model is its owner's."""

    def _asking(self, asked: Mapping[str, object]) -> Runnable[list[BaseMessage], object]:
        """The model with the request's sampling and schema set.

        Requests of one kind share it: to set a schema costs LangChain more than to ask.

        Raises:
            NotImplementedError: there is a schema, and the model can't be given one.
        """
        key = json.dumps([asked.get(name) for name in (*self._fields, "response_format")])
        known = self._set.get(key)
        if known is None:
            known = self._set[key] = self._made(asked)
            if len(self._set) > _KEPT:
                self._set.popitem(last=False)
        return known

    def _made(self, asked: Mapping[str, object]) -> Runnable[list[BaseMessage], object]:
        update = {
            field: asked[name]
            for name, field in self._fields.items()
            if field is not None and name in asked
        }
        # A copy shares the model's connections, not its counters: none where none is needed.
        chat = self._chat.model_copy(update=update) if update else self._chat
        form = asked.get("response_format")
        if not isinstance(form, dict):
            return chat
        # LangChain wants a schema to have a title, which becomes the name of a tool or a format.
        schema = {"title": "reply", "description": "The reply.", **form["json_schema"]["schema"]}
        try:
            return chat.with_structured_output(schema, method="json_schema", include_raw=True)
        except (TypeError, ValueError):  # a package that knows no such method
            return chat.with_structured_output(schema, include_raw=True)

    def _completion(self, body: Mapping[str, object]) -> Completion | Failure:
        try:
            completion, refusal = completion_of(body)
        except NotACompletion as error:
            return of_body(self._address.scrub(str(error)))
        if refusal is not None:
            return replace(completion, text=refusal, finish_reason="content_filter")
        return completion

    def _failure(self, error: Exception, seconds: float) -> Failure | None:
        """Read what a provider's package raised; None where it is no failure of an attempt."""
        names = {kind.__name__ for kind in type(error).__mro__}
        if "ContextOverflowError" in names:
            what = self._address.scrub(str(error))
            return Failure(UnscoredReason.CONTEXT_OVERFLOW, what, retry=False)
        status = _status_of(error)
        if status is not None:
            response = getattr(error, "response", None)
            headers = dict(getattr(response, "headers", None) or {})
            content = getattr(response, "content", None)
            return of_status(
                status,
                {str(name).lower(): str(value) for name, value in headers.items()},
                content if isinstance(content, bytes) and content else str(error).encode(),
                self._address,
            )
        if names & {"APITimeoutError", "TimeoutException", "ModelTimeoutError"}:
            return of_timeout(seconds)
        if isinstance(error, (OSError, *_connection_errors())):
            return of_connection(error)
        return None


def _status_of(error: Exception) -> int | None:
    """The HTTP status that an error carries, in one of the places where packages put it."""
    response = getattr(error, "response", None)
    for status in (
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(error, "code", None),
    ):
        if isinstance(status, int) and 300 <= status < 600:
            return int(status)
    return None


def _connection_errors() -> tuple[type[Exception], ...]:
    """What the HTTP clients raise that providers' packages use, as far as they are loaded."""
    found: list[type[Exception]] = [openai.APIConnectionError]
    for name in ("httpx", "httpx2"):
        kind = getattr(sys.modules.get(name), "TransportError", None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            found.append(kind)
    return tuple(found)


def _messages(asked: Mapping[str, object]) -> list[BaseMessage]:
    messages = asked["messages"]
    assert isinstance(messages, list)
    return [_MESSAGES[one["role"]](content=one["content"]) for one in messages]


def _body_of(message: AIMessage) -> dict[str, object]:
    """A message in the shape of OpenAI's reply, which one reader then reads."""
    metadata, more = message.response_metadata, message.additional_kwargs
    finish = next(
        (
            metadata[name]
            for name in ("finish_reason", "done_reason", "stop_reason")
            if isinstance(metadata.get(name), str)
        ),
        None,
    )
    content: object = message.content
    if not content and message.tool_calls:  # where a schema is enforced as a tool
        content, finish = json.dumps(message.tool_calls[0]["args"]), "stop"
    usage = message.usage_metadata
    return {
        "choices": [
            {
                "message": {
                    "content": content,
                    "reasoning_content": more.get("reasoning_content"),
                    "refusal": more.get("refusal"),
                },
                "finish_reason": _FINISH.get(finish.lower(), finish.lower()) if finish else None,
                "logprobs": metadata.get("logprobs"),
            }
        ],
        "usage": usage
        and {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
        },
    }
