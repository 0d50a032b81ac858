"""Messages that stand for a failure of the agent, and the steps that its run has left."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config

from ._rounds import failure_of

STEPS_KEPT = 6
"""Steps of the recursion limit that are kept free in a revision, so that the agent can end."""

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
    """The failure with which the agent has ended, and the id of a message to put in its place.

    A reply of the model that stands for a failure can be replaced; a tool's result can't, since the
    call before it would have none.
    """
    if messages and isinstance(messages[-1], AIMessage):
        return mark_of(messages[-1]), messages[-1].id
    return _of_tools(messages), None


def cut_short(messages: list[Any]) -> AIMessage | None:
    """A reply that ends a revision in which a tool has failed, or which has few steps left."""
    mark = _of_tools(messages)
    if mark is not None:
        return marked(mark["reason"], mark["message"])
    return marked("agent_limit", limit_text()) if steps_left() < STEPS_KEPT else None


def _of_tools(messages: list[Any]) -> dict[str, Any] | None:
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        mark = mark_of(message)
        if mark is not None:
            return mark
    return None


def steps_left() -> int:
    """Steps until the recursion limit of the run in which this is called."""
    config = get_config()
    step = config.get("metadata", {}).get("langgraph_step", 0)
    return int(config.get("recursion_limit", 10_000)) - int(step)


def limit_text() -> str:
    """What is said where the recursion limit ends the rounds."""
    limit = get_config().get("recursion_limit")
    return f"the recursion limit of {limit} leaves too few steps for a revision"
