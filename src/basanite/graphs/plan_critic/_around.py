"""A critic of the plan before a graph: plan, review, plan again, then the graph does its work.

::

    start ── begin ── plan ── critic ─┬─ agent ── end
                       └──────────────┘

The plan is the agent's own: its graph is asked for a plan first. A planner of its own (a chat
model) can write it instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from ...errors import InputError
from ...judges.critic import CriticOptions
from ...schema import Critique
from ..end_critic._agent import (
    AgentGraph,
    State,
    StateKeys,
    checked_keys,
)
from ..end_critic._checks import checked_rounds
from ..end_critic._compiling import BuilderT, compiled_around, compiled_copy, replace_builder
from ..end_critic._limit import StepsLeft, limit_text
from ..end_critic._messages import USER, last_answer, like, steps_of, text_of
from ..end_critic._node import Node
from ..end_critic._reviewing import CriticLedger, Reviewer
from ..end_critic._rounds import (
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
from ..end_critic._turn import known, made_since
from ._options import plan_options
from ._words import ASK, carry_out

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...llm import ChatModel, ModelSpec

RESULT = "plan_critic"
"""Key of the outcome in the state: a `Criticised` as plain JSON. Beside it stand `plan_critic_work`
and `plan_critic_messages`, the messages while the plan is made; the agent gets the plan alone."""

_FOR_A_ROUND = 4
"""Steps that must be left to plan again: plan, critic, agent, and one that LangGraph keeps."""


def with_plan_critic(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    planner: BaseChatModel | None = None,
    keys: StateKeys | None = None,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Put a critic of the plan before a compiled graph.

    Args:
        graph: the agent. It is not changed; its checkpointer and its store become the whole's.
        model: the critic's: a LangChain chat model, an endpoint's URL, `embedded`, or a model that
            is open.
        rounds: most revisions of the plan.
        planner: writes the plan; None asks the agent itself, with its tools at hand.
        keys: where the state holds messages and task.
        options: of the critic.
        record: keeps critiques in a ledger, and takes them from there when a run is repeated.

    Returns:
        A graph of the same input and output, with the outcome under `plan_critic` in the output.

    Raises:
        InputError: the graph is not a state graph, has no such key, or has the critic's keys
            already; the rounds are no number.
    """
    if not isinstance(graph, CompiledStateGraph):
        builder = isinstance(graph, StateGraph)
        raise InputError(
            f"a critic goes before a compiled StateGraph, not a {type(graph).__name__}",
            todo="Compile it first, or use add_plan_critic"
            if builder
            else "Wrap another kind of agent as a function with run_with_plan_critic",
        )
    reviewer = Reviewer(model, plan_options(options), record)
    return compiled_around(graph, _before(graph, keys, reviewer, rounds, planner))


def add_plan_critic(
    builder: BuilderT,
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    planner: BaseChatModel | None = None,
    keys: StateKeys | None = None,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> BuilderT:
    """Put a critic of the plan before a graph that is being built.

    What the builder holds so far becomes the node `agent`. Compile it afterwards as usual.

    Args:
        builder: nodes and edges of the agent, complete. It is changed.
        model, rounds, planner, keys, options, record: see `with_plan_critic`.

    Returns:
        The builder.

    Raises:
        InputError: it is no builder; see also `with_plan_critic`.
    """
    agent = compiled_copy(builder, "add_plan_critic", "with_plan_critic")
    reviewer = Reviewer(model, plan_options(options), record)
    return replace_builder(builder, _before(agent, keys, reviewer, rounds, planner))


def _before(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    keys: StateKeys | None,
    reviewer: Reviewer,
    rounds: int,
    planner: BaseChatModel | None,
) -> StateGraph[Any, Any, Any, Any]:
    keys = checked_keys(keys)
    result = keys.outcome or RESULT
    work, planning = f"{result}_work", f"{result}_messages"
    left = f"{result}_steps_left"
    agent = AgentGraph(graph, keys, (result, work, planning, left))
    nodes = _Nodes(agent, reviewer, checked_rounds(rounds), planner, result)
    outer = agent.builder(
        {result: dict[str, Any] | None}, {work: Work, planning: list[Any], left: StepsLeft}
    )
    add = cast(Any, outer.add_node)
    add("begin", Node("begin", nodes.begin))
    add("plan", Node("plan", nodes.plan, nodes.aplan))
    add("critic", Node("critic", nodes.critic, nodes.acritic))
    add("agent", Node("agent", nodes.agent, nodes.aagent))
    outer.add_edge(START, "begin")
    outer.add_edge("begin", "plan")
    outer.add_edge("plan", "critic")
    outer.add_conditional_edges("critic", nodes.then, {"plan": "plan", "agent": "agent"})
    outer.add_edge("agent", END)
    return outer


class _Nodes:
    """The nodes before an agent."""

    def __init__(
        self,
        agent: AgentGraph,
        reviewer: Reviewer,
        rounds: int,
        planner: BaseChatModel | None,
        result: str,
    ) -> None:
        self._agent, self._reviewer, self._rounds = agent, reviewer, rounds
        self._planner = planner
        self._result, self._work = result, f"{result}_work"
        self._planning = f"{result}_messages"
        self._left = f"{result}_steps_left"

    def begin(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        task, _ = self._agent.task(state)
        messages = self._agent.messages(state)
        update = {
            self._work: begun(task, len(messages), known(messages)),
            self._planning: [*messages, like(messages, USER, ASK)],
        }
        # What a turn before left behind must not stand for this one, should this one fail.
        return update | ({self._result: None} if state.get(self._result) is not None else {})

    def plan(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        messages = self._asked(state)
        try:
            if self._planner is not None:
                reply = self._planner.invoke(self._words(state), config)
                return {self._planning: [*messages, reply]}
            return self._written(self._agent.run(self._agent.input_of(state, messages), config))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything
            return self._failure(state, error)

    async def aplan(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        messages = self._asked(state)
        try:
            if self._planner is not None:
                reply = await self._planner.ainvoke(self._words(state), config)
                return {self._planning: [*messages, reply]}
            given = self._agent.input_of(state, messages)
            return self._written(await self._agent.arun(given, config))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything
            return self._failure(state, error)

    def _asked(self, state: State) -> list[Any]:
        messages, work = state[self._planning], state[self._work]
        if not work["drafts"]:
            return list(messages)
        return [*messages, like(messages, USER, feedback_of(work, "plan"))]

    def _words(self, state: State) -> list[Any]:
        """What a planner of its own gets: texts alone, since tools' messages may not suit it."""
        work = state[self._work]
        asked = self._asked(state)[work["start"] :]
        turns = [HumanMessage(f"{work['task']}\n\n{text_of(asked[0])}")]
        return [*turns, *asked[1:]]

    def _written(self, output: State) -> dict[str, Any]:
        return {self._planning: self._agent.messages(output)}

    def _failure(self, state: State, error: Exception) -> dict[str, Any]:
        """Keep the plans that there are; where there is none, the error is the agent's."""
        work: Work = state[self._work]
        if not work["drafts"]:
            raise error
        return {self._work: failed(work, *failure_of(error))}

    def critic(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        asked = self._question(state)
        return self._judged(state, self._reviewer.review_now(*asked) if asked else None)

    async def acritic(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        asked = self._question(state)
        return self._judged(state, await self._reviewer.review(*asked) if asked else None)

    def _question(self, state: State) -> tuple[str, str, list[Any]] | None:
        work: Work = state[self._work]
        if "failure" in work:
            return None
        text, before = self._found(state)
        return (work["task"], text, steps_of(before)) if text.strip() else None

    def _found(self, state: State) -> tuple[str, list[Any]]:
        """The plan, and what the agent did before it."""
        work: Work = state[self._work]
        made = made_since(state[self._planning], work["before"])
        text, place = last_answer(made, asked_last(work, "plan"))
        return text, [one for one in made[:place] if text_of(one) != ASK]

    def _judged(self, state: State, critique: Critique | None) -> dict[str, Any]:
        work: Work = state[self._work]
        if "failure" not in work:
            text, _ = self._found(state)
            if text.strip() or not work["drafts"]:
                work = drafted(work, text, critique)
            else:
                work = failed(work, "no_draft", "the revision ended without a plan")
        reason = stopped(work, self._rounds)
        if reason is None and state[self._left] < _FOR_A_ROUND:
            work = failed(work, "agent_limit", limit_text())
            reason = stopped(work, self._rounds)
        if reason is None:
            return {self._work: work}
        return {
            self._work: work,
            self._result: finished(work, reason).model_dump(mode="json"),
            self._planning: [],
        }

    def then(self, state: State) -> str:
        """Plan again, or begin."""
        return "plan" if stopped(state[self._work], self._rounds) is None else "agent"

    def agent(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        return self._agent.update_of(self._agent.run(self._start(state), config))

    async def aagent(self, state: State, config: RunnableConfig) -> dict[str, Any]:
        return self._agent.update_of(await self._agent.arun(self._start(state), config))

    def _start(self, state: State) -> dict[str, Any]:
        outcome = state[self._result]
        plan: str = outcome["drafts"][outcome["chosen"]]["text"]
        messages = self._agent.messages(state)
        if plan.strip():
            messages = [*messages, like(messages, USER, carry_out(plan))]
        return self._agent.input_of(state, messages)
