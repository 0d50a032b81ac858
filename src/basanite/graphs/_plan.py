"""A judge's steps, written down once: run by LangGraph, or straight through.

LangGraph gives checkpoints, interrupts, streams and its tools, and costs about 0.8 ms of CPU and
35 MB for a graph of three nodes. One item of many needs none of that: its run's ledger makes it
durable. So `as_judge` takes a plan as it takes a graph, and both do the same steps in the same
order with the same reducers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast, get_type_hints

from ._state import JudgeState

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

_Reducer = Callable[[object, object], object]


class Step(Protocol):
    """Reads the state and gives what it adds to it; a node of the graph."""

    def __call__(self, state: JudgeState) -> Awaitable[JudgeState]: ...


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Named steps, each followed by the next; `first` says with which one a state begins."""

    name: str
    steps: Mapping[str, Step]
    first: Callable[[JudgeState], Awaitable[str]]

    def build(
        self, checkpointer: BaseCheckpointSaver[str] | None = None
    ) -> CompiledStateGraph[JudgeState, None, JudgeState, JudgeState]:
        """Build the LangGraph graph of these steps."""
        from langgraph.graph import END, START, StateGraph

        names = list(self.steps)
        graph: StateGraph[JudgeState, None, JudgeState, JudgeState] = StateGraph(JudgeState)
        for name, step in self.steps.items():
            graph.add_node(name, step)
        graph.add_conditional_edges(START, self.first, names)
        for name, following in zip(names, [*names[1:], END], strict=True):
            graph.add_edge(name, following)
        return graph.compile(checkpointer=checkpointer, name=self.name)

    @property
    def checkpointer(self) -> None:
        """None: a plan keeps nothing between its steps."""
        return None

    async def ainvoke(
        self, begin: JudgeState, config: RunnableConfig | None = None
    ) -> dict[str, object]:
        """Do the steps one after the other, as the graph would.

        Args:
            begin: the state to begin with.
            config: not read; here so that a plan stands wherever a graph does.
        """
        state: dict[str, object] = dict(begin)
        names = list(self.steps)
        for name in names[names.index(await self.first(begin)) :]:
            update = await self.steps[name](cast("JudgeState", state))
            state = _merged(state, cast("Mapping[str, object]", update))
        return state


def _merged(state: Mapping[str, object], update: Mapping[str, object]) -> dict[str, object]:
    """Apply an update as LangGraph does: by the key's reducer, else the last value stays."""
    merged = dict(state)
    for key, value in update.items():
        reducer = _reducers().get(key)
        merged[key] = reducer(merged[key], value) if reducer and key in merged else value
    return merged


@cache
def _reducers() -> Mapping[str, _Reducer]:
    hints = get_type_hints(JudgeState, include_extras=True)
    return {
        key: hint.__metadata__[0] for key, hint in hints.items() if hasattr(hint, "__metadata__")
    }
