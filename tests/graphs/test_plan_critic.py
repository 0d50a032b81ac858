"""A critic of the plan, on agents that we did not write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent

from basanite.graphs.end_critic import EndCritic, Reply
from basanite.graphs.plan_critic import (
    PlanCritic,
    add_plan_critic,
    arun_with_plan_critic,
    run_with_plan_critic,
    with_plan_critic,
)
from basanite.schema import Criticised
from support.critic_agents import (
    ACCEPT,
    AGENTS,
    REVISE,
    asking,
    by_plain_graph,
    measure,
    plain_builder,
    tool_call,
)
from support.scripted_chat import ScriptedChat

Wrap = Callable[..., Any]


def middleware(model: Any, critic: Any, **options: Any) -> Any:
    return create_agent(model, [measure], middleware=[PlanCritic(critic, **options)])


def around(kind: str) -> Wrap:
    return lambda model, critic, **options: with_plan_critic(AGENTS[kind](model), critic, **options)


def added(model: Any, critic: Any, **options: Any) -> Any:
    return add_plan_critic(plain_builder(model), critic, **options).compile()


WAYS: dict[str, tuple[Wrap, str]] = {
    "middleware": (middleware, "create_agent"),
    "around create_agent": (around("create_agent"), "create_agent"),
    "around react_agent": (around("react_agent"), "react_agent"),
    "around plain_list": (around("plain_list"), "plain_list"),
    "added to plain_list": (added, "plain_list"),
}

every_way = pytest.mark.parametrize(("wrap", "kind"), WAYS.values(), ids=WAYS)


def outcome(output: dict[str, Any]) -> Criticised:
    return Criticised.model_validate(output["plan_critic"])


@every_way
def test_a_plan_is_revised_and_carried_out(wrap: Wrap, kind: str) -> None:
    lines = ["plan A", "plan B", tool_call(kind, "T cells"), "T cells rise twofold"]
    agent, critic = ScriptedChat(lines=lines), ScriptedChat(lines=[REVISE, ACCEPT])
    output = wrap(agent, critic).invoke(asking(kind))
    assert str(output["messages"][-1].content) == "T cells rise twofold"
    assert [draft.text for draft in outcome(output).drafts] == ["plan A", "plan B"]
    assert outcome(output).stop_reason == "accepted"
    assert "write down your plan" in str(agent.asked[0][-1].content)
    assert "compute it" in str(agent.asked[1][-1].content)
    started = str(agent.asked[2][-1].content)
    assert "Carry it out now" in started and "plan B" in started
    assert all("Which cells rise?" in str(one[-1].content) for one in critic.asked)


@every_way
def test_a_critic_that_fails_leaves_the_plan(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["plan A", "T cells rise"])
    output = wrap(agent, ScriptedChat(lines=["hm"])).invoke(asking(kind))
    assert outcome(output).stop_reason == "critic_failed"
    assert "plan A" in str(agent.asked[1][-1].content)
    assert str(output["messages"][-1].content) == "T cells rise"


@every_way
def test_a_model_that_fails_while_it_plans_again(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["plan A", ValueError("out of memory"), "T cells rise"])
    output = wrap(agent, ScriptedChat(lines=[REVISE])).invoke(asking(kind))
    found = outcome(output)
    assert (found.stop_reason, found.answer) == ("agent_failed", "plan A")
    assert "plan A" in str(agent.asked[2][-1].content)
    assert str(output["messages"][-1].content) == "T cells rise"


@every_way
def test_a_model_that_fails_at_once(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=[ValueError("out of memory")])
    with pytest.raises(ValueError, match="out of memory"):
        wrap(agent, ScriptedChat(lines=[ACCEPT])).invoke(asking(kind))


@every_way
async def test_async_does_the_same(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["plan A", "plan B", "T cells rise"])
    output = await wrap(agent, ScriptedChat(lines=[REVISE, ACCEPT])).ainvoke(asking(kind))
    if kind == "plain_list":
        assert output["messages"]
    assert [draft.text for draft in outcome(output).drafts] == ["plan A", "plan B"]


def test_the_middleware_plans_without_tools() -> None:
    bound: list[int] = []

    class Watching(ScriptedChat):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            bound.append(len(tools))
            return self

    agent = Watching(lines=["plan A", "T cells rise"])
    critic = PlanCritic(ScriptedChat(lines=[ACCEPT]))
    graph: Any = create_agent(agent, [measure], middleware=[critic])
    graph.invoke(asking("create_agent"))
    assert bound == [1], "tools are bound for the work alone"


def test_a_planner_of_its_own() -> None:
    planner = ScriptedChat(lines=["plan A", "plan B"])
    agent, critic = ScriptedChat(lines=["T cells rise"]), ScriptedChat(lines=[REVISE, ACCEPT])
    graph = with_plan_critic(by_plain_graph(agent), critic, planner=planner)
    output = graph.invoke(asking("plain_list"))
    assert len(planner.asked) == 2
    assert "Which cells rise?" in str(planner.asked[0])
    assert "plan B" in str(agent.asked[0][-1].content)
    assert outcome(output).answer == "plan B"


def test_plan_critic_and_end_critic_together() -> None:
    agent = ScriptedChat(lines=["plan A", "first", "second"])
    critic = ScriptedChat(lines=[ACCEPT, REVISE, ACCEPT])
    both: list[Any] = [PlanCritic(critic), EndCritic(critic)]
    graph: Any = create_agent(agent, [measure], middleware=both)
    output = graph.invoke(asking("create_agent"))
    assert outcome(output).answer == "plan A"
    answers = Criticised.model_validate(output["critic"])
    assert [draft.text for draft in answers.drafts] == ["first", "second"]


def test_a_function_as_an_agent() -> None:
    prompts: list[str] = []

    def agent(task: str) -> str:
        prompts.append(task)
        return f"reply {len(prompts)}"

    reply, plans = run_with_plan_critic(agent, "Which?", ScriptedChat(lines=[REVISE, ACCEPT]))
    assert isinstance(reply, Reply) and reply.text == "reply 3"
    assert plans.answer == "reply 2"
    assert "write down your plan" in prompts[0]
    assert "reply 2" in prompts[2] and "Carry it out" in prompts[2]


async def test_a_coroutine_function_as_an_agent() -> None:
    async def agent(task: str) -> str:
        return "plan" if "write down your plan" in task else "answer"

    reply, plans = await arun_with_plan_critic(agent, "Which?", ScriptedChat(lines=[ACCEPT]))
    assert (reply.text, plans.answer) == ("answer", "plan")
