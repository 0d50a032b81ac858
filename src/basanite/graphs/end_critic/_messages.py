"""Messages of any form: LangChain's objects, `{"role", "content"}` dicts, pairs, plain texts."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ...judges.critic import Step

AGENT, USER = "agent", "user"

_KINDS = {"human": USER, "user": USER, "ai": AGENT, "assistant": AGENT, "function": "tool"}
_SPEAKERS = {*_KINDS, "system", "developer", "tool"}


def kind_of(message: object) -> str:
    """Who speaks: `user`, `agent`, `tool`, `system`, or what the message says itself."""
    if isinstance(message, BaseMessage):
        kind = message.type
    elif isinstance(message, Mapping):
        if any(part.get("type") == "tool_result" for part in _parts(message)):
            return "tool"
        kind = str(message.get("role") or message.get("type") or "unknown")
    elif _is_pair(message):
        kind = message[0]  # type: ignore[index]
    else:
        kind = USER
    kind = kind.removesuffix("MessageChunk").lower()
    return _KINDS.get(kind, kind)


def text_of(message: object) -> str:
    """The text of a message, without images and other parts."""
    if isinstance(message, BaseMessage):
        content: object = message.content
    elif isinstance(message, Mapping):
        content = message.get("content")
    elif _is_pair(message):
        content = message[1]  # type: ignore[index]
    else:
        content = message
    return _text(content)


def calls_of(message: object) -> list[str]:
    """The tools that a message calls, each as `NAME(ARGUMENTS)`."""
    if isinstance(message, AIMessage):
        return [_call(one) for one in [*message.tool_calls, *message.invalid_tool_calls]]
    if not isinstance(message, Mapping):
        return []
    found = [*(message.get("tool_calls") or ())]
    found += [message["function_call"]] if message.get("function_call") else []
    found += [part for part in _parts(message) if part.get("type") == "tool_use"]
    return [_call(one) for one in found if isinstance(one, Mapping)]


def step_of(message: object) -> Step:
    """A message as a step: its text, and the tools that it calls."""
    text = text_of(message)
    lines = [text] if text else []
    lines += [f"calls {call}" for call in calls_of(message)]
    if isinstance(message, Mapping):
        name = message.get("name")
    else:
        name = message.name if isinstance(message, BaseMessage) else None
    kind = kind_of(message)
    return Step(f"{kind} {name}" if kind == "tool" and name else kind, "\n".join(lines))


def steps_of(messages: Sequence[object]) -> list[Step]:
    """The messages that say something, as steps."""
    return [step for step in map(step_of, messages) if step.text.strip()]


def last_task(messages: Sequence[object]) -> tuple[str, int]:
    """The text of the last message of the user, and the number of messages up to it."""
    for index in range(len(messages) - 1, -1, -1):
        if kind_of(messages[index]) == USER and text_of(messages[index]).strip():
            return text_of(messages[index]), index + 1
    return "", 0


def last_answer(messages: Sequence[object], asked: str = "") -> tuple[str, int]:
    """The text of the agent's last answer, and the number of messages before it.

    Results of tools at the very end are the answer themselves: the agent has ended with them.

    Args:
        messages: those of this turn.
        asked: a text of the user; what stands before it is no answer to it.

    Returns:
        An empty text and the number of all messages where there is no answer.
    """
    end = len(messages)
    first = end
    while first and kind_of(messages[first - 1]) == "tool":
        first -= 1
    text = "\n\n".join(filter(str.strip, map(text_of, messages[first:])))
    if text:
        return text, first
    for index in range(end - 1, -1, -1):
        message = messages[index]
        kind, text = kind_of(message), text_of(message)
        if kind == AGENT and text.strip() and not calls_of(message):
            return text, index
        if asked and kind == USER and text == asked:
            break
    return "", end


def like(messages: Sequence[object], kind: str, text: str) -> object:
    """A new message in the form that the others have."""
    last = messages[-1] if messages else None
    if isinstance(last, Mapping):
        role = "user" if kind == USER else "assistant"
        return {"role": role, "content": text}
    if _is_pair(last):
        pair = ("human" if kind == USER else "ai", text)
        return list(pair) if isinstance(last, list) else pair
    return HumanMessage(text) if kind == USER else AIMessage(text)


def copied(messages: object) -> object:
    """Copies of messages that an agent may change as it likes."""
    if not isinstance(messages, list | tuple):
        return copy.copy(messages)
    made = [_copy_of(message) for message in messages]
    return tuple(made) if isinstance(messages, tuple) else made


def _copy_of(message: object) -> object:
    if isinstance(message, BaseMessage):
        content = message.content
        parts = {"content": copy.deepcopy(content)} if isinstance(content, list) else None
        return message.model_copy(update=parts)
    try:
        return copy.deepcopy(message)
    except Exception:  # noqa: BLE001 - a message of the agent's own may hold anything
        return copy.copy(message)


def source_of(messages: Sequence[object], answer: str) -> object | None:
    """The message in which an answer stands; the agent's last one where it stands in none."""
    answer = answer.strip()
    if not answer:
        return None
    agents = [one for one in reversed(messages) if kind_of(one) == AGENT]
    holding = (one for one in [*agents, *reversed(messages)] if answer in text_of(one))
    return next(holding, agents[0] if agents else None)


def said_again(message: object) -> object:
    """A message with the same words, as a new one that calls no tools."""
    calls = calls_of(message)
    if isinstance(message, BaseMessage):
        content = text_of(message) if calls else message.content
        if isinstance(message, HumanMessage):
            return HumanMessage(content=content, name=message.name)
        return AIMessage(content=content, name=message.name)
    if isinstance(message, Mapping):
        kept = {key: one for key, one in message.items() if key in ("role", "type", "name")}
        return kept | {"content": text_of(message) if calls else message.get("content")}
    return copy.copy(message)


def _is_pair(message: object) -> bool:
    """Whether it is speaker and content; a list may also be something else."""
    if not isinstance(message, tuple | list) or len(message) != 2:
        return False
    return isinstance(message, tuple) or str(message[0]).lower() in _SPEAKERS


def _parts(message: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The parts of a dict's content that are dicts themselves."""
    content = message.get("content")
    if isinstance(content, list):
        yield from (part for part in content if isinstance(part, Mapping))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(map(_part, content))
    return "" if content is None else str(content)


def _part(part: object) -> str:
    if not isinstance(part, Mapping):
        return part if isinstance(part, str) else ""
    if part.get("type") == "tool_result":
        return _text(part.get("content"))
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _call(call: Mapping[str, object]) -> str:
    """A call in LangChain's, OpenAI's or Anthropic's form."""
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    given = next((inner[key] for key in ("args", "arguments", "input") if key in inner), {})
    shown = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    return f"{inner.get('name')}({shown})"
