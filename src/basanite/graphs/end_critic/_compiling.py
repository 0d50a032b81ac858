"""Graphs and builders that are taken from a user and given back with a critic."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from ...errors import InputError

BuilderT = TypeVar("BuilderT", bound=StateGraph[Any, Any, Any, Any])


def compiled_copy(builder: object, here: str, other: str) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile what a builder holds so far.

    Args:
        builder: of a graph.
        here: the function that was called.
        other: the one for compiled graphs.
    """
    if isinstance(builder, StateGraph):
        return copy.copy(builder).compile()
    compiled = isinstance(builder, CompiledStateGraph)
    raise InputError(
        f"{here} changes a StateGraph that is being built, not a {type(builder).__name__}",
        todo=f"Use {other}" if compiled else None,
    )


def compiled_around(
    graph: CompiledStateGraph[Any, Any, Any, Any], outer: StateGraph[Any, Any, Any, Any]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile a graph around another, whose checkpointer, store, cache and config it takes over."""
    saver = graph.checkpointer
    compiled = outer.compile(
        checkpointer=None if isinstance(saver, bool) else saver,
        store=graph.store,
        cache=graph.cache,
        name=graph.name,
    )
    return compiled.with_config(graph.config) if graph.config else compiled


def replace_builder(builder: BuilderT, outer: StateGraph[Any, Any, Any, Any]) -> BuilderT:
    """Make a builder hold another graph; whoever has the builder has that graph then."""
    builder.__dict__.clear()
    builder.__dict__.update(outer.__dict__)
    return builder
