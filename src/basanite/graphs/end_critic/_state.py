"""What a critic as middleware adds to the state of its agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from typing_extensions import TypedDict

from ...errors import InputError
from ._limit import StepsLeft


def critic_state(outcome: str, private: Sequence[str], left: str) -> type[AgentState[Any]]:
    """A state with the outcome, a `Criticised` as plain JSON, and keys that only nodes see.

    Args:
        outcome: the outcome's key.
        private: keys that the critic sets itself.
        left: key of the steps that are left; LangGraph sets it.
    """
    hints: dict[str, Any] = {outcome: NotRequired[dict[str, Any] | None]}
    hints |= dict.fromkeys(private, NotRequired[Annotated[Any, PrivateStateAttr]])
    hints[left] = NotRequired[StepsLeft]
    made: type[AgentState[Any]] = cast(Any, TypedDict)("CriticState", hints)
    return made


def cleared_outcome(state: Any, outcome: str) -> dict[str, Any]:
    """Take away the outcome of the turn before, which must not stand for one that fails.

    Raises:
        InputError: the agent itself keeps something under this key.
    """
    there = state.get(outcome)
    # A key with a reducer in the state of a graph around this begins as an empty dict.
    if there is None or there == {}:
        return {}
    if not isinstance(there, Mapping) or "stop_reason" not in there:
        raise InputError(
            f"the agent's state has a key {outcome!r} already, and the critic needs it",
            where="middleware",
            todo="Rename it"
            if outcome == "plan_critic"
            else "Rename it, or give the critic another: EndCritic(model, outcome='review')",
        )
    return {outcome: None}
