"""Messages that stand for a failure of the agent."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from ._limit import limit_text, notice_of, too_few
from ._messages import text_of
from ._rounds import failure_of

_FAILURE = "basanite_failure"


def marked(reason: str, message: str) -> AIMessage:
    """A reply of the model that stands for a failure."""
    return AIMessage(message, additional_kwargs={_FAILURE: {"reason": reason, "message": message}})


def stands_for(error: Exception) -> AIMessage:
    """A reply of the model that stands for its error."""
    return marked(*failure_of(error))


def tool_failure(call: Any, error: Exception) -> ToolMessage:
    """A tool's result that stands for its error."""
    reason, text = failure_of(error)
    return ToolMessage(
        text,
        tool_call_id=call["id"],
        name=call["name"],
        status="error",
        additional_kwargs={_FAILURE: {"reason": reason, "message": text}},
    )


def mark_of(message: Any) -> dict[str, Any] | None:
    """What a message that stands for a failure says; None for any other."""
    mark = message.additional_kwargs.get(_FAILURE)
    return mark if isinstance(mark, dict) else None


def failure_in(messages: list[Any]) -> tuple[dict[str, Any] | None, str | None]:
    """The failure with which a revision has ended, and the id of a message to put in its place.

    A reply that stands for a failure can be replaced; a tool's result can't, since the call before
    it would have none.
    """
    last = messages[-1] if messages else None
    if not isinstance(last, AIMessage):
        return _of_tools(messages), None
    mark, notice = mark_of(last), notice_of(text_of(last))
    if mark is None and notice is not None:
        mark = {"reason": "agent_limit", "message": notice}
    return mark, last.id


def cut_short(messages: list[Any], left: int) -> AIMessage | None:
    """A reply that ends a revision in which a tool has failed, or which has few steps left."""
    mark = _of_tools(messages)
    if mark is not None:
        return marked(mark["reason"], mark["message"])
    return marked("agent_limit", limit_text()) if too_few(left, at_model=True) else None


def _of_tools(messages: list[Any]) -> dict[str, Any] | None:
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        mark = mark_of(message)
        if mark is not None:
            return mark
    return None
