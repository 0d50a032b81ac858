"""A critic around agents whose state does more than grow: trimmed, private, handed on, cleared."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    SummarizationMiddleware,
)
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.channels import UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from basanite.errors import InputError
from basanite.graphs.end_critic import EndCritic, StateKeys, add_end_critic, with_end_critic
from basanite.graphs.plan_critic import PlanCritic, with_plan_critic
from basanite.schema import Criticised
from support.critic_agents import ACCEPT, REVISE, asking, by_create_agent, measure, review
from support.scripted_chat import ScriptedChat, calling

THREAD: Any = {"configurable": {"thread_id": "one"}}
NEVER = ScriptedChat(lines=["must not be asked"])


def outcome(output: dict[str, Any], key: str = "critic") -> Criticised:
    return Criticised.model_validate(output[key])


def drafts(output: dict[str, Any], key: str = "critic") -> list[str]:
    return [draft.text for draft in outcome(output, key).drafts]


def one_node(state: type[Any], work: Callable[..., Any], **schemas: Any) -> Any:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state, **schemas)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    builder.add_edge("work", END)
    return builder


class Trimming(AgentMiddleware[Any, Any, Any]):
    """Keeps the last message alone before each call of the model."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), state["messages"][-1]]}


def summing(model: Any) -> Any:
    teller = ScriptedChat(lines=["cluster 3 was looked at"])
    return SummarizationMiddleware(teller, trigger=("messages", 7), keep=("messages", 2))


TRIMMERS = {"summary": summing, "remove all": lambda model: Trimming()}


@pytest.mark.parametrize("way", ["middleware", "around"])
@pytest.mark.parametrize("trimmer", TRIMMERS.values(), ids=TRIMMERS)
def test_a_history_that_is_trimmed_during_the_turn(trimmer: Any, way: str) -> None:
    calls = [calling("measure", number, what=f"c{number}") for number in range(4)]
    agent = ScriptedChat(lines=[*calls, "first", "second"])
    critic = ScriptedChat(lines=[REVISE, ACCEPT])
    inside = [EndCritic(critic)] if way == "middleware" else []
    graph: Any = create_agent(agent, [measure], middleware=[trimmer(agent), *inside])
    if way == "around":
        graph = with_end_critic(graph, critic)
    old: list[Any] = [("user", "an old task"), ("ai", "an old answer")] * 2
    output = graph.invoke({"messages": [*old, *asking("create_agent")["messages"]]})
    assert drafts(output) == ["first", "second"]
    assert outcome(output).stop_reason == "accepted"
    assert "an old answer" not in str(critic.asked[0][-1].content)
    assert "Which cells rise?" in str(critic.asked[1][-1].content)
    assert len(output["messages"]) < 10, "it was trimmed"


def test_a_plan_while_the_history_is_trimmed() -> None:
    agent = ScriptedChat(lines=["plan A", "plan B", "T cells rise"])
    graph: Any = create_agent(agent, [measure], middleware=[Trimming()])
    critic = ScriptedChat(lines=[REVISE, ACCEPT])
    output = with_plan_critic(graph, critic).invoke(asking("create_agent"))
    assert drafts(output, "plan_critic") == ["plan A", "plan B"]
    both: list[Any] = [Trimming(), PlanCritic(ScriptedChat(lines=[REVISE, ACCEPT]))]
    inside: Any = create_agent(
        ScriptedChat(lines=["plan A", "plan B", "T cells rise"]), [measure], middleware=both
    )
    assert drafts(inside.invoke(asking("create_agent")), "plan_critic") == ["plan A", "plan B"]


def test_an_empty_revision_is_not_the_draft_before() -> None:
    for way in ("middleware", "around"):
        agent, critic = ScriptedChat(lines=["first", "  "]), ScriptedChat(lines=[REVISE])
        inside = [EndCritic(critic)] if way == "middleware" else []
        graph: Any = create_agent(agent, [measure], middleware=inside)
        graph = graph if inside else with_end_critic(graph, critic)
        output = graph.invoke(asking("create_agent"))
        assert (drafts(output), outcome(output).stop_reason) == (["first"], "no_draft")
        assert str(output["messages"][-1].content) == "first"


class Team(MessagesState):
    notes: str


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("wrap", [with_end_critic, with_plan_critic])
def test_a_hand_off_to_the_graph_around(wrap: Any, deep: bool) -> None:
    def hand_off(state: Any) -> Command[Any]:
        update = {"messages": [AIMessage("ask Bob")], "notes": "handed off"}
        return Command(goto="bob", graph=Command.PARENT, update=update)

    alice: Any = wrap(one_node(Team, hand_off).compile(), ScriptedChat(lines=[ACCEPT]))
    team: Any = StateGraph(Team)
    team.add_node("alice", alice)
    team.add_node("bob", lambda state: {"messages": [AIMessage("Bob's answer")]})
    team.add_edge(START, "alice")
    graph = team.compile()
    if deep:
        whole: Any = StateGraph(Team)
        whole.add_node("team", graph)
        whole.add_edge(START, "team")
        graph = whole.compile()
    output = graph.invoke({"messages": [HumanMessage("Which?")]})
    texts = [message.content for message in output["messages"]]
    assert texts == ["Which?", "ask Bob", "Bob's answer"]
    assert output["notes"] == "handed off"


async def test_a_hand_off_of_an_async_agent() -> None:
    async def hand_off(state: Any) -> Command[Any]:
        return Command(goto="bob", graph=Command.PARENT)

    team: Any = StateGraph(Team)
    team.add_node("alice", with_end_critic(one_node(Team, hand_off).compile(), NEVER))
    team.add_node("bob", lambda state: {"messages": [AIMessage("Bob's answer")]})
    team.add_edge(START, "alice")
    output = await team.compile().ainvoke({"messages": [HumanMessage("Which?")]})
    assert str(output["messages"][-1].content) == "Bob's answer"


class Given(TypedDict):
    messages: list[Any]


class Kept(MessagesState):
    turns: int
    log: Annotated[list[str], operator.add]
    events: Annotated[int, lambda old, new: old + 1]
    """A reducer whose update is no state: it counts."""


def counting(state: Kept) -> dict[str, Any]:
    turns = state.get("turns", 0) + 1
    seen = f"turn {turns}, {len(state['log'])} before, {state['events']} events"
    return {"messages": [AIMessage(seen)], "turns": turns, "log": [seen], "events": 7}


@pytest.mark.parametrize("wrap", [None, with_end_critic, with_plan_critic])
def test_private_keys_last_from_turn_to_turn(wrap: Any) -> None:
    builder = one_node(Kept, counting, input_schema=Given, output_schema=Given)
    graph = builder.compile(checkpointer=InMemorySaver())
    if wrap is not None:
        # A plan is asked for in the agent's own graph, of which the work knows nothing.
        graph = wrap(graph, ScriptedChat(lines=[ACCEPT]))
    graph.invoke({"messages": [HumanMessage("first")]}, THREAD)
    output = graph.invoke({"messages": [HumanMessage("second")]}, THREAD)
    assert str(output["messages"][-1].content) == "turn 2, 1 before, 1 events"
    assert "turns" not in output and "log" not in output
    assert graph.get_state(THREAD).values["log"][0] == "turn 1, 0 before, 0 events"


def test_private_keys_last_from_draft_to_draft() -> None:
    builder = one_node(Kept, counting, input_schema=Given, output_schema=Given)
    graph = with_end_critic(builder.compile(), ScriptedChat(lines=[REVISE, ACCEPT]))
    output = graph.invoke({"messages": [HumanMessage("first")]})
    assert drafts(output) == ["turn 1, 0 before, 0 events", "turn 2, 1 before, 1 events"]


def test_private_keys_survive_an_interrupt() -> None:
    def work(state: Kept) -> dict[str, Any]:
        if state["log"]:
            interrupt("may I?")
        return counting(state)

    builder = one_node(Kept, work, input_schema=Given, output_schema=Given)
    graph = with_end_critic(
        builder.compile(checkpointer=InMemorySaver()), ScriptedChat(lines=[REVISE, ACCEPT])
    )
    paused = graph.invoke({"messages": [HumanMessage("first")]}, THREAD)
    assert paused["__interrupt__"][0].value == "may I?"
    output = graph.invoke(Command(resume="yes"), THREAD)
    assert drafts(output)[1] == "turn 2, 1 before, 1 events"


def test_what_no_checkpoint_can_keep_is_left_to_the_agent() -> None:
    class Locked(MessagesState):
        lock: Annotated[Any, UntrackedValue]

    def work(state: Locked) -> dict[str, Any]:
        return {"messages": [AIMessage(f"draft, {'lock' in state}")], "lock": threading.Lock()}

    builder = one_node(Locked, work, input_schema=Given, output_schema=Given)
    graph = with_end_critic(
        builder.compile(checkpointer=InMemorySaver()), ScriptedChat(lines=[REVISE, ACCEPT])
    )
    output = graph.invoke({"messages": [HumanMessage("first")]}, THREAD)
    assert drafts(output) == ["draft, False", "draft, False"]


def test_limits_of_a_thread_hold_around_create_agent() -> None:
    limit: Any = ModelCallLimitMiddleware(thread_limit=1, exit_behavior="error")
    agent: Any = create_agent(
        ScriptedChat(lines=["one", "two"]),
        [],
        middleware=[limit],
        checkpointer=InMemorySaver(),
    )
    graph = with_end_critic(agent, ScriptedChat(lines=[ACCEPT]))
    graph.invoke(asking("create_agent"), THREAD)
    with pytest.raises(Exception, match="limit"):
        graph.invoke(asking("create_agent"), THREAD)


def test_a_first_draft_that_fails_leaves_no_older_outcome() -> None:
    def builds(wrap: Any) -> Any:
        model = ScriptedChat(lines=["first", ValueError("out of memory")])
        return wrap(model, ScriptedChat(lines=[ACCEPT]), InMemorySaver())

    ways: list[Any] = [
        lambda model, critic, saver: create_agent(
            model, [measure], middleware=[EndCritic(critic)], checkpointer=saver
        ),
        lambda model, critic, saver: with_end_critic(
            by_create_agent(model, checkpointer=saver), critic
        ),
    ]
    for way in ways:
        graph = builds(way)
        graph.invoke(asking("create_agent"), THREAD)
        assert graph.get_state(THREAD).values["critic"]["stop_reason"] == "accepted"
        with pytest.raises(ValueError, match="out of memory"):
            graph.invoke(asking("create_agent"), THREAD)
        assert graph.get_state(THREAD).values["critic"] is None


def test_a_plan_that_fails_leaves_no_older_outcome() -> None:
    model = ScriptedChat(lines=["plan", "answer", ValueError("out of memory")])
    agent = by_create_agent(model, checkpointer=InMemorySaver())
    graph = with_plan_critic(agent, ScriptedChat(lines=[ACCEPT]))
    graph.invoke(asking("create_agent"), THREAD)
    with pytest.raises(ValueError, match="out of memory"):
        graph.invoke(asking("create_agent"), THREAD)
    assert graph.get_state(THREAD).values["plan_critic"] is None


class Reviewed(MessagesState):
    critic: str
    critic_work: str


def test_a_state_with_the_critics_own_keys() -> None:
    def work(state: Reviewed) -> dict[str, Any]:
        return {"messages": [AIMessage("draft")], "critic": f"{state['critic']}!"}

    builder = one_node(Reviewed, work)
    for wrap in (with_end_critic, lambda graph, critic: add_end_critic(builder, critic)):
        with pytest.raises(InputError, match=r"'critic' already.*StateKeys\(outcome="):
            wrap(builder.compile(), NEVER)
    graph = with_end_critic(
        builder.compile(), ScriptedChat(lines=[ACCEPT]), keys=StateKeys(outcome="verdict")
    )
    given: Any = {"messages": [HumanMessage("Which?")], "critic": "Ann", "critic_work": "none"}
    output = graph.invoke(given)
    assert (output["critic"], output["critic_work"]) == ("Ann!", "none")
    assert drafts(output, "verdict") == ["draft"]


class Named(AgentState[Any]):
    critic: str


def test_an_agent_of_create_agent_with_the_critics_own_keys() -> None:
    given: Any = asking("create_agent") | {"critic": "Ann"}
    middleware: list[Any] = [EndCritic(NEVER)]
    graph: Any = create_agent(
        ScriptedChat(lines=["x"]), [], state_schema=Named, middleware=middleware
    )
    with pytest.raises(InputError, match=r"'critic' already.*outcome='review'"):
        graph.invoke(given)
    middleware = [EndCritic(ScriptedChat(lines=[ACCEPT]), outcome="verdict")]
    graph = create_agent(ScriptedChat(lines=["x"]), [], state_schema=Named, middleware=middleware)
    output = graph.invoke(given)
    assert (output["critic"], drafts(output, "verdict")) == ("Ann", ["x"])


@pytest.mark.parametrize("way", ["middleware", "around"])
def test_two_critics_of_one_agent(way: str) -> None:
    agent = ScriptedChat(lines=["first", "second", "third"])
    # The inner one looks at each draft first; the outer one at what the inner one let pass.
    inner, outer = ScriptedChat(lines=[REVISE, ACCEPT]), ScriptedChat(lines=[REVISE, ACCEPT])
    if way == "middleware":
        both: list[Any] = [EndCritic(outer), EndCritic(inner, outcome="second_critic")]
        graph: Any = create_agent(agent, [], middleware=both)
    else:
        once = with_end_critic(
            create_agent(agent, []), inner, keys=StateKeys(outcome="second_critic")
        )
        with pytest.raises(InputError, match="'second_critic' already"):
            with_end_critic(once, outer, keys=StateKeys(outcome="second_critic"))
        graph = with_end_critic(once, outer)
    output = graph.invoke(asking("create_agent"))
    assert str(output["messages"][-1].content) == "third"
    assert drafts(output) == ["second", "third"]
    assert drafts(output, "second_critic")[-1] == "third"


class Watching(BaseCallbackHandler):
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        self.names.append(str(kwargs.get("name")))


def test_a_config_that_is_bound_to_the_graph() -> None:
    watching = Watching()
    agent = ScriptedChat(lines=["one", "two"])
    graph = by_create_agent(agent, checkpointer=InMemorySaver()).with_config(
        {**THREAD, "callbacks": [watching]}
    )
    wrapped = with_end_critic(graph, ScriptedChat(lines=[ACCEPT]))
    wrapped.invoke(asking("create_agent", "first task"))
    assert watching.names.count("model") == 1, "bound once, not once for each graph"
    output = wrapped.invoke(asking("create_agent", "second task"))
    assert [message.content for message in output["messages"]] == [
        *("first task", "one", "second task", "two")
    ]


def test_the_agents_own_recursion_limit_is_kept() -> None:
    calls = [calling("measure", number, what="x") for number in range(20)]
    agent = by_create_agent(ScriptedChat(lines=[*calls, "first"]))
    output = with_end_critic(agent, ScriptedChat(lines=[ACCEPT])).invoke(asking("create_agent"))
    assert drafts(output) == ["first"]


def test_a_reducer_that_only_one_schema_has() -> None:
    class Shown(TypedDict):
        messages: list[Any]

    def work(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"draft {len(state['messages'])}")]}

    builder = one_node(MessagesState, work, output_schema=Shown)
    critic = ScriptedChat(lines=[review("revise", 4, "x"), review("revise", 2, "x")])
    output = with_end_critic(builder.compile(), critic).invoke(
        {"messages": [HumanMessage("Which?")]}
    )
    assert drafts(output) == ["draft 1", "draft 3"]
    assert str(output["messages"][-1].content) == "draft 1"
    assert len(output["messages"]) == 5
