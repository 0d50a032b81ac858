"""The steps that a run has left under its recursion limit, and those that an agent needs to end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from langchain.agents.middleware.types import PrivateStateAttr
from langgraph.config import get_config
from langgraph.managed import RemainingSteps

# What LangGraph computes must stand last.
StepsLeft = Annotated[int, PrivateStateAttr, *RemainingSteps.__metadata__]
"""A key of the state that LangGraph fills in: counted from where this run began, not from the
beginning of a conversation, as the step's own number is."""

_NOTICE = re.compile(
    r"Sorry, need more steps to process this request\.$"
    r"|Model call limits exceeded: (thread|run) limit \("
    r"|('[^']+' tool|Tool) call limit reached: (thread|run) limit exceeded \("
)
"""What LangGraph's prebuilt ReAct agent answers where its recursion limit is reached, and what
LangChain's middleware does where its limits of calls are."""

_SUPPOSED = Counter({"before_model": 4, "after_model": 4, "after_agent": 5})
"""Nodes of hooks that are supposed where an agent's nodes can't be told."""
UNKNOWN_LEFT = 10_000
"""Steps that are left where a state does not say: another middleware may have replaced it."""
_TO_NODE = "branch:to:"


def too_few(left: int, *, at_model: bool) -> bool:
    """Whether a revision could run into the limit, and the drafts be lost with it.

    One more reply of the model may call tools: then the hooks after the model, the tools, the hooks
    before the model and the model itself follow, which is told to end there; and then the hooks
    after the model and after the agent.

    Args:
        left: steps, as `StepsLeft` says.
        at_model: asked before a call of the model, and not at the end of the agent.
    """
    nodes = _hooks()
    before, after, end = (nodes[one] for one in ("before_model", "after_model", "after_agent"))
    needed = after + 1 + before + 1 + after + end
    if not at_model:
        needed += before + 1
    return left <= needed


def notice_of(text: str) -> str | None:
    """What an answer says of a limit, where it says no more than that it was reached."""
    text = text.strip()
    found = _NOTICE.match(text)
    if found is None:
        return None
    # The agent's own words don't say which limit.
    return text if "limit" in found[0] else f"it says of its recursion limit: {text}"


def limit_text() -> str:
    """What is said where the recursion limit ends the rounds."""
    limit = get_config().get("recursion_limit")
    return f"the recursion limit of {limit} leaves too few steps for a revision"


def _hooks() -> Counter[str]:
    """How many nodes of each kind of hook the running agent has.

    Each middleware adds some, and none is told of the others. LangGraph gives a node a channel for
    each other one, through the function with which it reads the state.
    """
    read = get_config().get("configurable", {}).get("__pregel_read")
    for given in getattr(read, "args", ()):
        if isinstance(given, Mapping):
            found = Counter(_kinds(given))
            if found["after_agent"]:
                return found
    return _SUPPOSED


def _kinds(channels: Iterable[Any]) -> Iterable[str]:
    for name in channels:
        if isinstance(name, str) and name.startswith(_TO_NODE):
            yield name.rpartition(".")[2]
