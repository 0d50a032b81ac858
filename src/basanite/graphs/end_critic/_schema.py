"""The state of a graph that someone else wrote: its keys, their types and their channels."""

from __future__ import annotations

import copy
from typing import Any, NotRequired, Required, cast, get_origin, get_type_hints

from langgraph.channels import (
    AnyValue,
    BinaryOperatorAggregate,
    LastValue,
)
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from ...errors import InputError


def reduced(channel: object) -> bool:
    """Whether a channel has a reducer, which `Overwrite` goes past."""
    # DeltaChannel is one too, and only in newer versions of LangGraph.
    known = isinstance(channel, BinaryOperatorAggregate)
    return known or type(channel).__name__ == "DeltaChannel"


def carried(channel: object) -> bool:
    """Whether a key of the agent's own lasts from run to run and can be given back to it.

    Ephemeral and untracked ones do not: what they hold may be nothing that a checkpoint can keep.
    """
    return isinstance(channel, LastValue | AnyValue) or reduced(channel)


def hints_of(builder: StateGraph[Any, Any, Any, Any]) -> dict[str, Any]:
    """Names and types of all keys; those that LangGraph itself computes are left out.

    A key may have a reducer in one schema and none in another; LangGraph takes the reducer.
    """
    if "__root__" in builder.channels:
        raise InputError(
            "the graph's state is one value without keys",
            todo="Give it a TypedDict with a key for the messages, such as MessagesState",
        )
    hints: dict[str, Any] = {}
    for schema in builder.schemas:
        for name, hint in get_type_hints(schema, include_extras=True).items():
            if name in builder.channels and (name not in hints or _more(hint, hints[name])):
                hints[name] = hint
    return hints


def open_to(
    graph: CompiledStateGraph[Any, Any, Any, Any], hints: dict[str, Any]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A copy that takes all these keys as its input, also those outside of its input's schema.

    It has no checkpointer and no config of its own: both are those of the graph around it.
    """
    builder = graph.builder
    schema = typed("Everything", hints)
    wide = copy.copy(builder)
    wide.schemas = {**builder.schemas, schema: {name: builder.channels[name] for name in hints}}
    wide.input_schema = schema
    inner = graph.copy({"checkpointer": None, "config": None})
    inner.builder = wide
    edges = inner.nodes[START].writers[1:]  # the first puts the input into its channels
    inner.attach_node(START, None)
    inner.nodes[START].writers.extend(edges)
    return inner


def typed(name: str, hints: dict[str, Any]) -> type[Any]:
    """A TypedDict of these keys, none of them required."""
    made: type[Any] = cast(Any, TypedDict)(name, hints, total=False)
    return made


def _more(hint: Any, known: Any) -> bool:
    return _annotated(hint) and not _annotated(known)


def _annotated(hint: Any) -> bool:
    if get_origin(hint) in {Required, NotRequired}:
        hint = hint.__args__[0]
    return hasattr(hint, "__metadata__")
