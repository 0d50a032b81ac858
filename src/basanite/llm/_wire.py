"""Chat requests and completions as they go over the wire, and nothing of how they get there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..schema import Usage
from ._types import Completion, Request, TokenLogprob

_SCHEMA_PROMPT = "\n\nReply with one JSON value and nothing else. It must match this JSON schema:\n"
"""Takes the place of `response_format` where a server has none."""

_THINK, _THOUGHT = "<think>", "</think>"


class NotACompletion(ValueError):
    """A body that is no chat completion; the text says what it is instead."""


def body_of(request: Request, model: str, *, send_schema: bool) -> bytes:
    """The JSON body of a request: the same bytes for the same request.

    Sampling is always sent whole, so that no server's default decides. A replicate is a sample
    of its own: its number is added to the seed.

    Args:
        request: what to ask.
        model: name that the server knows the model by.
        send_schema: whether the schema goes as `response_format`; if not, as a prompt.
    """
    sampling = request.sampling
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    if request.schema is not None and not send_schema:
        _append_schema(messages, request.schema)
    body: dict[str, object] = {
        "model": model,
        "messages": messages,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed + request.replicate,
        "max_tokens": sampling.max_tokens,
    }
    if request.schema is not None and send_schema:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": request.schema},
        }
    if request.top_logprobs is not None:
        body["logprobs"] = True
        body["top_logprobs"] = request.top_logprobs
    # Property order in the schema is kept: servers generate in it, so it is part of the question.
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode("ascii")


def _append_schema(messages: list[dict[str, str]], schema: Mapping[str, object]) -> None:
    text = _SCHEMA_PROMPT + json.dumps(schema, separators=(",", ":"))
    if messages and messages[-1]["role"] == "user":
        last = messages[-1]
        messages[-1] = {"role": "user", "content": last["content"] + text}
    else:
        messages.append({"role": "user", "content": text.lstrip()})


def read_completion(content: bytes) -> tuple[Completion, str | None]:
    """Read a 200 body.

    Returns:
        The completion, its usage holding tokens only, and the refusal where the model's filter
        gave one instead of a text.

    Raises:
        NotACompletion: HTML, half a JSON, an error in JSON, or some other JSON.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise NotACompletion(_what_it_is(content)) from None
    return completion_of(body)


def completion_of(body: object) -> tuple[Completion, str | None]:
    """As `read_completion`, for a body that is parsed already.

    Raises:
        NotACompletion: it is some other JSON.
    """
    choice = _first_choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise NotACompletion("JSON that is no chat completion: a choice without a message")
    text, reasoning = _split_reasoning(_text_of(message.get("content")))
    for name in ("reasoning_content", "reasoning"):
        if reasoning is None and isinstance(message.get(name), str):
            reasoning = message[name]
    finish = choice.get("finish_reason")
    refusal = message.get("refusal")
    completion = Completion(
        text=text,
        finish_reason=finish if isinstance(finish, str) else None,
        usage=_usage_of(body.get("usage") if isinstance(body, dict) else None),
        reasoning=reasoning or None,
        logprobs=_logprobs_of(choice.get("logprobs")),
    )
    return completion, refusal if isinstance(refusal, str) and refusal else None


def _what_it_is(content: bytes) -> str:
    head = content[:200].lstrip().lower()
    if not head:
        return "an empty body"
    if head.startswith((b"<!doctype", b"<html")):
        return "a web page (HTML)"
    return "half a JSON" if head.startswith((b"{", b"[")) else "something that is not JSON"


def _first_choice(body: object) -> dict[str, object]:
    if not isinstance(body, dict):
        raise NotACompletion("JSON that is no chat completion")
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    error = body.get("error")
    if error is not None:
        text = error.get("message") if isinstance(error, dict) else error
        raise NotACompletion(f"an error with status 200: {text}")
    raise NotACompletion("JSON that is no chat completion: it has no choices")


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # some servers give a list of parts
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _split_reasoning(text: str) -> tuple[str, str | None]:
    """Take a leading `<think>…</think>` off a text.

    A block that never ends is all thought: the reply was cut before its answer. Where the chat
    template wrote the opening tag, the reply holds only the closing one; a text that starts as
    JSON does is left alone, for there the tag is part of a quote.
    """
    start = text.lstrip()
    if start.startswith(_THINK):
        thought, _, rest = start[len(_THINK) :].partition(_THOUGHT)
        return rest.lstrip(), thought.strip()
    if _THOUGHT in start and not start.startswith(("{", "[", "`", '"')):
        thought, _, rest = start.partition(_THOUGHT)
        if _THINK not in thought:
            return rest.lstrip(), thought.strip()
    return text, None


def _usage_of(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage(calls_without_usage=1)
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return Usage(calls_without_usage=1)
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _logprobs_of(logprobs: object) -> tuple[TokenLogprob, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    return tuple(_token(one) for one in content if isinstance(one, dict))


def _token(one: Mapping[str, object]) -> TokenLogprob:
    top = one.get("top_logprobs")
    alternatives: Sequence[object] = top if isinstance(top, list) else ()
    pairs = tuple(_pair(other) for other in alternatives if isinstance(other, dict))
    token, logprob = _pair(one)
    return TokenLogprob(token, logprob, pairs)


def _pair(one: Mapping[str, object]) -> tuple[str, float]:
    logprob = one.get("logprob")
    # A token outside of the grammar has no finite value in JSON: some servers give null.
    value = float(logprob) if isinstance(logprob, int | float) else float("-inf")
    return str(one.get("token", "")), value
