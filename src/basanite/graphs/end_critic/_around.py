"""A critic around a graph: the graph becomes one node of another, which asks for revisions.

::

    start ── begin ── agent ── critic ─┬─ end
                        └──────────────┘

The agent's graph is not looked into: it runs as a subgraph, with the checkpointer, the store, the
streams and the interrupts of the whole. An error of its own in a revision ends the rounds, and the
best draft so far is the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from ...errors import InputError
from ...judges.critic import CriticOptions
from ...schema import Critique
from ._agent import (
    AgentGraph,
    Found,
    State,
    StateKeys,
    UnreadState,
    checked_keys,
)
from ._checks import answer_options, checked_rounds
from ._compiling import BuilderT, compiled_around, compiled_copy, replace_builder
from ._limit import StepsLeft, notice_of
from ._messages import USER, like, steps_of
from ._node import Node
from ._reviewing import CriticLedger, Reviewer
from ._rounds import (
    Work,
    asked_last,
    begun,
    drafted,
    failed,
    failure_of,
    feedback_of,
    finished,
    stopped,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...llm import ChatModel, ModelSpec

RESULT = "critic"
"""Key of the outcome in the state: a `Criticised` as plain JSON. Beside it stand `critic_work` and
`critic_values`, the drafts' own values where they are no texts, and `critic_steps_left`."""

_FOR_A_ROUND = 3
"""Steps that must be left for one more: agent and critic, and one that LangGraph keeps."""


def with_end_critic(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    keys: StateKeys | None = None,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Put a critic around a compiled graph.

    Args:
        graph: the agent. It is not changed; its checkpointer and its store become the whole's.
        model: the critic's: a LangChain chat model, an endpoint's URL, `embedded`, or a model that
            is open.
        rounds: most revisions.
        keys: where the state holds messages, task and answer.
        options: of the critic.
        record: keeps critiques in a ledger, and takes them from there when a run is repeated.

    Returns:
        A graph of the same input and output, with the outcome under `critic` in the output, or
        under the key that `keys` names. It is None while a turn is under way. Two critics around
        one agent need a key each.

    Raises:
        InputError: the graph is not a state graph, has no such key, or has the critic's keys
            already; the rounds are no number, or the options are for plans.
    """
    if not isinstance(graph, CompiledStateGraph):
        builder = isinstance(graph, StateGraph)
        raise InputError(
            f"a critic goes around a compiled StateGraph, not a {type(graph).__name__}",
            todo="Compile it first, or use add_end_critic"
            if builder
            else "Wrap another kind of agent as a function with run_with_critic",
        )
    reviewer = Reviewer(model, answer_options(options), record)
    return compiled_around(graph, _around(graph, keys, reviewer, rounds))


def add_end_critic(
    builder: BuilderT,
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    keys: StateKeys | None = None,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> BuilderT:
    """Put a critic at the end of a graph that is being built.

    What the builder holds so far becomes the node `agent`. Compile it afterwards as usual; to
    interrupt before one of its own nodes, compile it first and use `with_end_critic`.

    Args:
        builder: nodes and edges of the agent, complete. It is changed.
        model, rounds, keys, options, record: see `with_end_critic`.

    Returns:
        The builder.

    Raises:
        InputError: it is no builder; see also `with_end_critic`.
    """
    agent = compiled_copy(builder, "add_end_critic", "with_end_critic")
    reviewer = Reviewer(model, answer_options(options), record)
    return replace_builder(builder, _around(agent, keys, reviewer, rounds))


def _around(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    keys: StateKeys | None,
    reviewer: Reviewer,
    rounds: int,
) -> StateGraph[Any, Any, Any, Any]:
    keys = checked_keys(keys)
    result = keys.outcome or RESULT
    work, values = f"{result}_work", f"{result}_values"
    left = f"{result}_steps_left"
    agent = AgentGraph(graph, keys, (result, work, values, left))
    nodes = _Nodes(agent, reviewer, checked_rounds(rounds), result)
    outer = agent.builder(
        {result: dict[str, Any] | None}, {work: Work, values: list[Any], left: StepsLeft}
    )
    add = cast(Any, outer.add_node)  # its overloads know no state that is made up
    add("begin", Node("begin", nodes.begin))
    add("agent", Node("agent", nodes.agent, nodes.aagent))
    add("critic", Node("critic", nodes.critic, nodes.acritic))
    outer.add_edge(START, "begin")
    outer.add_edge("begin", "agent")
    outer.add_edge("agent", "critic")
    outer.add_conditional_edges("critic", nodes.then, {"agent": "agent", END: END})
    return outer


class _Nodes:
    """The nodes around an agent."""

    def __init__(self, agent: AgentGraph, reviewer: Reviewer, rounds: int, result: str) -> None:
        self._agent, self._reviewer, self._rounds = agent, reviewer, rounds
        self._result, self._work, self._values = result, f"{result}_work", f"{result}_values"
        self._left = f"{result}_steps_left"

    def begin(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        task, before = self._agent.task(state)
        update: dict[str, Any] = {self._work: begun(task, len(before), before), self._values: []}
        # What a turn before left behind must not stand for this one, should this one fail.
        if state.get(self._result) is not None:
            update[self._result] = None
        return update | self._agent.cleared(state)

    def agent(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        try:
            output = self._agent.run(self._input(state), config)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything
            return self._failure(state, error)
        return self._agent.cleared(state) | self._agent.update_of(output)

    async def aagent(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        try:
            output = await self._agent.arun(self._input(state), config)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything
            return self._failure(state, error)
        return self._agent.cleared(state) | self._agent.update_of(output)

    def _input(self, state: State) -> dict[str, Any]:
        work: Work = state[self._work]
        if not work["drafts"]:
            return self._agent.input_of(state)
        messages = self._agent.messages(state)
        words = like(messages, USER, feedback_of(work, "answer"))
        return self._agent.input_of(state, [*messages, words])

    def _failure(self, state: State, error: Exception) -> dict[str, Any]:
        """Keep the drafts that there are; where there is none, the error is the agent's."""
        work: Work = state[self._work]
        if not work["drafts"]:
            raise error
        return {self._work: failed(work, *failure_of(error))}

    def critic(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        found = self._found(state)
        asked = self._question(state, found)
        critique = self._reviewer.review_now(*asked) if asked else None
        return self._judged(state, found, critique, config)

    async def acritic(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        found = self._found(state)
        asked = self._question(state, found)
        critique = await self._reviewer.review(*asked) if asked else None
        return self._judged(state, found, critique, config)

    def _found(self, state: State) -> Found:
        work: Work = state[self._work]
        # After a failure the state is as it was at the draft before, without the feedback.
        asked = "" if "failure" in work else asked_last(work, "answer")
        try:
            return self._agent.draft(state, work["before"], asked)
        except UnreadState as error:
            if not work["drafts"]:
                raise
            return Found("", None, (), str(error))

    def _question(self, state: State, found: Found) -> tuple[str, str, list[Any]] | None:
        """Task, draft and steps; None where there is nothing to review."""
        work, text = state[self._work], found.text
        if "failure" in work:
            return None
        if found.failed is not None or not text.strip():
            return None
        if work["drafts"] and notice_of(text) is not None:
            return None
        return work["task"], text, steps_of(found.before)

    def _judged(
        self, state: State, found: Found, critique: Critique | None, config: RunnableConfig
    ) -> dict[str, Any]:
        work: Work = state[self._work]
        values = list(state[self._values])
        if "failure" not in work:
            text, notice = found.text, notice_of(found.text)
            if found.failed is not None:
                work = failed(work, "agent_failed", found.failed)
            elif notice is not None and work["drafts"]:
                work = failed(work, "agent_limit", notice)
            elif text.strip() or not work["drafts"]:
                work = drafted(work, text, critique)
                values.append(found.value)
            else:
                work = failed(work, "no_draft", "the revision ended without an answer")
        reason = stopped(work, self._rounds)
        if reason is None and state[self._left] < _FOR_A_ROUND:
            limit = config.get("recursion_limit")
            work = failed(work, "agent_limit", f"the recursion limit of {limit} leaves no step")
            reason = stopped(work, self._rounds)
        if reason is None:
            return {self._work: work, self._values: values}
        outcome = finished(work, reason)
        placed = self._agent.placed(state, found, outcome.answer, values[outcome.chosen])
        done = {self._result: outcome.model_dump(mode="json"), self._work: work, self._values: []}
        return done | placed

    def then(self, state: State) -> str:
        """Go back to the agent, or end."""
        reason = stopped(state[self._work], self._rounds)
        return END if reason is not None else "agent"
