"""Limits that end a revision, of steps and of calls: never at the cost of a draft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph

from basanite.graphs.end_critic import EndCritic, with_end_critic
from basanite.graphs.end_critic import _limit as limit
from basanite.graphs.plan_critic import with_plan_critic
from support.critic_agents import ACCEPT, REVISE, by_react_agent, measure, plain_builder, review
from support.scripted_chat import ScriptedChat, calling

GIVEN: Any = {"messages": [("user", "Which cells rise?")]}


def one_node() -> Any:
    model = ScriptedChat(lines=["first", "second", "third", "fourth"])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("node", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile()


def revising() -> ScriptedChat:
    return ScriptedChat(answer=lambda _: REVISE)


@pytest.mark.parametrize("rounds", [1, 2, 3, 6, 12])
def test_the_rounds_around_a_graph_end_within_any_limit(rounds: int) -> None:
    graph = with_end_critic(one_node(), revising(), rounds=rounds)
    with pytest.raises(GraphRecursionError):  # it has no draft yet that was reviewed
        graph.invoke(GIVEN, {"recursion_limit": 3})
    for steps in range(4, 2 * rounds + 8):
        found = graph.invoke(GIVEN, {"recursion_limit": steps})["critic"]
        assert len(found["drafts"]) == min(rounds + 1, steps // 2 - 1), steps
        whole = len(found["drafts"]) == rounds + 1
        assert found["stop_reason"] == ("rounds_used" if whole else "agent_limit"), steps


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_rounds_before_a_graph_end_within_any_limit(rounds: int) -> None:
    graph = with_plan_critic(one_node(), revising(), rounds=rounds)
    for steps in range(5, 20):
        output = graph.invoke(GIVEN, {"recursion_limit": steps})
        plans = len(output["plan_critic"]["drafts"])
        assert plans == min(rounds + 1, (steps - 3) // 2), steps


class Hooks(AgentMiddleware[Any, Any, Any]):
    """All four hooks, none of which does anything."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def before_agent(self, state: Any, runtime: Any) -> None:
        return None

    def before_model(self, state: Any, runtime: Any) -> None:
        return None

    def after_model(self, state: Any, runtime: Any) -> None:
        return None

    def after_agent(self, state: Any, runtime: Any) -> None:
        return None


def summaries() -> Any:
    return SummarizationMiddleware(ScriptedChat(lines=["s"]))


OTHERS: dict[str, Callable[[], list[Any]]] = {
    "none": list,
    "a limit of calls": lambda: [ModelCallLimitMiddleware(run_limit=50)],
    "two": lambda: [ModelCallLimitMiddleware(run_limit=50), summaries()],
    "three": lambda: [PIIMiddleware("email"), ModelCallLimitMiddleware(run_limit=50), summaries()],
    "four of all hooks": lambda: [Hooks(name) for name in "abcd"],
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS)
def test_a_revision_without_end_leaves_the_draft_at_any_limit(
    others: Callable[[], list[Any]], first: bool
) -> None:
    """The agent calls tools for ever, whatever other middleware it has."""
    revised = 0
    least = 4 + 6 * 4 if others is OTHERS["four of all hooks"] else 12
    for steps in range(least, least + 24):  # more than twice the nodes from one call to the next
        model = ScriptedChat(
            answer=lambda messages: (
                calling("measure", len(messages), what="T cells")
                if "A reviewer" in str(messages)
                else "T cells rise"
            )
        )
        critic = EndCritic(revising())
        middleware = [critic, *others()] if first else [*others(), critic]
        agent: Any = create_agent(model, [measure], middleware=middleware)
        output = agent.invoke(GIVEN, {"recursion_limit": steps})
        found = output["critic"]
        assert (found["stop_reason"], found["chosen"]) == ("agent_limit", 0), steps
        assert output["messages"][-1].content == "T cells rise", steps
        revised += len(model.asked) > 1
    assert revised >= 8, "where there are steps enough, it does revise"


def test_where_the_nodes_can_not_be_told_more_steps_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for config in ({}, {"configurable": {"__pregel_read": len}}):
        monkeypatch.setattr(limit, "get_config", lambda config=config: config)
        assert limit.too_few(19, at_model=True)
        assert not limit.too_few(20, at_model=True)


def test_no_more_steps_are_kept_than_the_agent_needs() -> None:
    """Of an agent with no other middleware: the model, the tools, the model, the critic."""
    for steps, drafts in ((7, 1), (8, 2)):
        model = ScriptedChat(lines=["first", "second"])
        agent: Any = create_agent(model, [measure], middleware=[EndCritic(revising())])
        found = agent.invoke(GIVEN, {"recursion_limit": steps})["critic"]
        assert len(found["drafts"]) == drafts, steps


@pytest.mark.parametrize("around", [True, False])
def test_a_long_conversation_has_its_limit_in_each_turn(around: bool) -> None:
    """The number of a step goes on over the turns; what is left is counted in each anew."""
    saver = InMemorySaver()
    if around:
        graph = plain_builder(ScriptedChat(lines=["x"])).compile(checkpointer=saver)
        agent: Any = with_end_critic(graph, revising())
    else:
        model = ScriptedChat(lines=["x"])
        agent = create_agent(model, [], middleware=[EndCritic(revising())], checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 16}
    given = GIVEN | ({"next_step": None} if around else {})
    for turn in range(6):
        found = agent.invoke(given, config)["critic"]
        assert found["stop_reason"] == "rounds_used", turn
        assert len(found["drafts"]) == 2


LIMITS: dict[str, Callable[[], Any]] = {
    "model calls": lambda: ModelCallLimitMiddleware(run_limit=1),
    "tool calls": lambda: ToolCallLimitMiddleware(run_limit=1, exit_behavior="end"),
    "calls of a tool": lambda: ToolCallLimitMiddleware(
        tool_name="measure", run_limit=1, exit_behavior="end"
    ),
}


@pytest.mark.parametrize("way", ["before", "after", "around"])
@pytest.mark.parametrize("kind", LIMITS)
def test_a_notice_of_a_limit_is_no_draft(kind: str, way: str) -> None:
    lines = ["T cells rise", calling("measure", 1, what="a"), calling("measure", 2, what="b")]
    model = ScriptedChat(lines=lines)
    critic = ScriptedChat(lines=[review("revise", 3, "more"), ACCEPT])
    other = LIMITS[kind]()
    if way == "around":
        agent: Any = with_end_critic(create_agent(model, [measure], middleware=[other]), critic)
        if kind == "model calls":  # they are counted anew in each round
            model.lines = ["T cells rise", calling("measure", 1, what="a")]
    else:
        both = [EndCritic(critic), other]
        middleware = both if way == "before" else both[::-1]
        agent = create_agent(model, [measure], middleware=middleware)
    output = agent.invoke(GIVEN)
    found = output["critic"]
    assert (found["stop_reason"], len(found["drafts"])) == ("agent_limit", 1)
    assert "limit" in found["message"]
    assert output["messages"][-1].content == "T cells rise"
    assert len(critic.asked) == 1


def test_an_answer_about_limits_is_a_draft() -> None:
    for text in ("The model call limits exceeded: no.", "Tool call limit reached the cells."):
        assert limit.notice_of(text) is None
    model = ScriptedChat(lines=["first", "Recursion limits exceeded: none. T cells rise."])
    graph = with_end_critic(by_react_agent(model), ScriptedChat(lines=[REVISE, ACCEPT]))
    assert len(graph.invoke(GIVEN)["critic"]["drafts"]) == 2
