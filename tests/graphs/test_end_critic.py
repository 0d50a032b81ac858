"""An end-critic on agents that we did not write, and whatever happens to it or to them."""

from __future__ import annotations

import asyncio
import operator
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from basanite.errors import InputError
from basanite.graphs.end_critic import (
    CriticLedger,
    EndCritic,
    Reply,
    StateKeys,
    add_end_critic,
    arun_with_critic,
    run_with_critic,
    with_end_critic,
)
from basanite.judges.critic import CriticOptions, Step
from basanite.schema import Criticised
from basanite.store import Ledger
from support.critic_agents import (
    ACCEPT,
    AGENTS,
    REVISE,
    BrokenTool,
    asking,
    by_plain_graph,
    measure,
    plain_builder,
    review,
    tool_call,
)
from support.mock_endpoint import MockEndpoint
from support.scripted_chat import ScriptedChat, calling

Wrap = Callable[..., Any]


def middleware(model: Any, critic: Any, **options: Any) -> Any:
    """`create_agent` with `EndCritic` inside."""
    more = {name: options.pop(name) for name in ("checkpointer",) if name in options}
    return create_agent(model, [measure], middleware=[EndCritic(critic, **options)], **more)


def around(kind: str) -> Wrap:
    """One of the agents with a critic around it."""

    def wrap(model: Any, critic: Any, **options: Any) -> Any:
        more = {name: options.pop(name) for name in ("checkpointer",) if name in options}
        return with_end_critic(AGENTS[kind](model, **more), critic, **options)

    return wrap


def added(model: Any, critic: Any, **options: Any) -> Any:
    """A builder that a critic was added to."""
    more = {name: options.pop(name) for name in ("checkpointer",) if name in options}
    builder = plain_builder(model)
    assert add_end_critic(builder, critic, **options) is builder
    return builder.compile(**more)


WAYS: dict[str, tuple[Wrap, str]] = {
    "middleware": (middleware, "create_agent"),
    "around create_agent": (around("create_agent"), "create_agent"),
    "around react_agent": (around("react_agent"), "react_agent"),
    "around plain_list": (around("plain_list"), "plain_list"),
    "added to plain_list": (added, "plain_list"),
}

every_way = pytest.mark.parametrize(("wrap", "kind"), WAYS.values(), ids=WAYS)


def said(output: dict[str, Any]) -> str:
    """The answer that a caller of the agent reads."""
    return str(output["messages"][-1].content)


def outcome(output: dict[str, Any]) -> Criticised:
    return Criticised.model_validate(output["critic"])


def drafts(output: dict[str, Any]) -> list[str]:
    return [draft.text for draft in outcome(output).drafts]


@every_way
def test_accepted_at_once(wrap: Wrap, kind: str) -> None:
    agent, critic = ScriptedChat(lines=["T cells rise"]), ScriptedChat(lines=[ACCEPT])
    output = wrap(agent, critic).invoke(asking(kind))
    assert said(output) == "T cells rise"
    assert (outcome(output).stop_reason, drafts(output)) == ("accepted", ["T cells rise"])
    assert (len(agent.asked), len(critic.asked)) == (1, 1)
    assert len(output["messages"]) == 2


@every_way
def test_revised_then_accepted(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["T cells rise", tool_call(kind, "T cells"), "T cells rise twofold"])
    critic = ScriptedChat(lines=[REVISE, ACCEPT])
    output = wrap(agent, critic).invoke(asking(kind))
    assert said(output) == "T cells rise twofold"
    assert outcome(output).stop_reason == "accepted"
    assert drafts(output) == ["T cells rise", "T cells rise twofold"]
    # The feedback is the agent's last word to read, typed points and all.
    told = str(agent.asked[1][-1].content)
    assert "the size of the effect" in told and "compute it" in told
    # The critic sees the task, the steps between and the draft.
    seen = str(critic.asked[1][-1].content)
    assert all(words in seen for words in ("Which cells rise?", "T cells: 2.0", "rise twofold"))
    critique = outcome(output).drafts[0].critique
    assert critique is not None and critique.missing == ("the size of the effect",)
    texts = [str(message.content) for message in output["messages"]]
    assert texts.count("T cells rise") == 1, "no message twice"


@every_way
def test_rounds_used_up_keeps_the_best(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["first", "second", "third"])
    critic = ScriptedChat(lines=[review("revise", n, "more") for n in (2, 4, 1)])
    output = wrap(agent, critic, rounds=2).invoke(asking(kind))
    assert outcome(output).stop_reason == "rounds_used"
    assert drafts(output) == ["first", "second", "third"]
    assert outcome(output).chosen == 1
    assert said(output) == outcome(output).answer == "second"
    assert len(critic.asked) == 3


@every_way
def test_no_rounds_is_a_review_alone(wrap: Wrap, kind: str) -> None:
    agent, critic = ScriptedChat(lines=["first"]), ScriptedChat(lines=[REVISE])
    output = wrap(agent, critic, rounds=0).invoke(asking(kind))
    assert (outcome(output).stop_reason, said(output)) == ("rounds_used", "first")


@every_way
@pytest.mark.parametrize("fault", ["nonsense", RuntimeError("no such model"), ""])
def test_a_critic_that_fails_leaves_the_draft(fault: Any, wrap: Wrap, kind: str) -> None:
    agent, critic = ScriptedChat(lines=["T cells rise"]), ScriptedChat(lines=[fault])
    output = wrap(agent, critic).invoke(asking(kind))
    assert said(output) == "T cells rise"
    assert outcome(output).stop_reason == "critic_failed"
    assert outcome(output).message
    critique = outcome(output).drafts[0].critique
    assert critique is not None and critique.unscored_reason is not None


@every_way
def test_a_critic_that_fails_later_leaves_the_newer_draft(wrap: Wrap, kind: str) -> None:
    agent, critic = ScriptedChat(lines=["first", "second"]), ScriptedChat(lines=[REVISE, "hm"])
    output = wrap(agent, critic).invoke(asking(kind))
    assert (outcome(output).stop_reason, said(output)) == ("critic_failed", "second")


@every_way
@pytest.mark.parametrize("where", ["model", "tool"])
def test_an_agent_that_crashes_in_a_revision(where: str, wrap: Wrap, kind: str) -> None:
    crash = ValueError("out of memory") if where == "model" else tool_call(kind, "break")
    agent = ScriptedChat(lines=["T cells rise", crash])
    output = wrap(agent, ScriptedChat(lines=[REVISE])).invoke(asking(kind))
    assert said(output) == "T cells rise"
    found = outcome(output)
    assert (found.stop_reason, found.chosen, len(found.drafts)) == ("agent_failed", 0, 1)
    assert found.message is not None
    assert ("out of memory" if where == "model" else "the disk is full") in found.message


@every_way
def test_an_agent_that_crashes_at_once_has_no_draft_to_save(wrap: Wrap, kind: str) -> None:
    critic = ScriptedChat(lines=[ACCEPT])
    with pytest.raises(ValueError, match="out of memory"):
        wrap(ScriptedChat(lines=[ValueError("out of memory")]), critic).invoke(asking(kind))
    with pytest.raises(BrokenTool):
        wrap(ScriptedChat(lines=[tool_call(kind, "break")]), critic).invoke(asking(kind))


@every_way
def test_a_recursion_limit_in_the_second_round(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["T cells rise", tool_call(kind, "T cells")])
    output = wrap(agent, ScriptedChat(lines=[REVISE])).invoke(asking(kind), {"recursion_limit": 20})
    assert said(output) == "T cells rise"
    found = outcome(output)
    assert (found.stop_reason, found.chosen) == ("agent_limit", 0)
    assert "recursion limit" in (found.message or "").lower()


@every_way
async def test_async_does_the_same(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["T cells rise", tool_call(kind, "T cells"), "twofold"])
    graph = wrap(agent, ScriptedChat(lines=[REVISE, ACCEPT]))
    output = await graph.ainvoke(asking(kind))
    assert said(output) == "twofold"
    assert (outcome(output).stop_reason, len(outcome(output).drafts)) == ("accepted", 2)


@every_way
async def test_two_agents_at_once_do_not_mix(wrap: Wrap, kind: str) -> None:
    def answer(messages: Any) -> str:
        name = "A" if "task A" in str(messages) else "B"
        return f"{name} again" if "A reviewer has read" in str(messages) else name

    def criticise(messages: Any) -> str:
        text = str(messages[-1].content)
        return ACCEPT if "again\n" in text else REVISE

    critic = ScriptedChat(answer=criticise)
    graph = wrap(ScriptedChat(answer=answer), critic)
    work = [graph.ainvoke(asking(kind, f"task {name}")) for name in "ABABAB"]
    for name, output in zip("ABABAB", await asyncio.gather(*work), strict=True):
        assert drafts(output) == [name, f"{name} again"]
    sync = [asyncio.to_thread(graph.invoke, asking(kind, f"task {name}")) for name in "AB"]
    for name, output in zip("AB", await asyncio.gather(*sync), strict=True):
        assert drafts(output) == [name, f"{name} again"]


@every_way
def test_streams_show_the_agent_and_not_the_critic(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["T cells rise", "T cells rise twofold"])
    graph = wrap(agent, ScriptedChat(lines=[REVISE, ACCEPT]))
    tokens, values = [], []
    for _, mode, data in graph.stream(
        asking(kind), stream_mode=["messages", "values"], subgraphs=True
    ):
        if mode == "messages":
            tokens.append(str(data[0].content))
        else:
            values.append(data)
    assert "T cells rise" in tokens and "T cells rise twofold" in tokens
    assert not any("verdict" in token for token in tokens)
    assert outcome(values[-1]).stop_reason == "accepted"


@every_way
def test_a_second_turn_of_a_conversation(wrap: Wrap, kind: str) -> None:
    agent = ScriptedChat(lines=["one", "one more", "two"])
    critic = ScriptedChat(lines=[REVISE, ACCEPT, ACCEPT])
    graph = wrap(agent, critic, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
    first = graph.invoke(asking(kind, "first task"), config)
    assert drafts(first) == ["one", "one more"]
    second = asking(kind, "second task")
    if kind == "plain_list":  # a plain list is replaced by the input, with or without a critic
        second["messages"] = [*first["messages"], *second["messages"]]
    output = graph.invoke(second, config)
    assert drafts(output) == ["two"]
    assert "second task" in str(critic.asked[2][-1].content)
    texts = [str(message.content) for message in output["messages"]]
    assert [text for text in texts if "task" in text] == ["first task", "second task"]


class Asking(TypedDict, total=False):
    messages: Annotated[list[Any], operator.add]
    permission: str


def asking_graph(model: Any) -> StateGraph[Any, Any, Any, Any]:
    """A graph that asks a person before its second answer; its list only ever grows."""

    def work(state: Asking) -> Asking:
        revising = any("A reviewer" in str(m.content) for m in state["messages"])
        permission = interrupt("may I?") if revising else "not needed"
        reply = model.invoke(state["messages"])
        return {"messages": [reply], "permission": permission}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Asking)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    return builder


@pytest.mark.parametrize("way", ["around", "added"])
def test_interrupted_and_resumed_in_the_middle_of_a_round(way: str) -> None:
    agent = ScriptedChat(lines=["first", "second"])
    critic = ScriptedChat(lines=[REVISE, ACCEPT])
    if way == "around":
        graph = with_end_critic(asking_graph(agent).compile(checkpointer=InMemorySaver()), critic)
    else:
        builder = add_end_critic(asking_graph(agent), critic)
        graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    paused = graph.invoke({"messages": [HumanMessage("Which?")]}, config)
    assert paused["__interrupt__"][0].value == "may I?"
    assert (len(agent.asked), len(critic.asked)) == (1, 1)
    output = graph.invoke(Command(resume="yes"), config)
    assert (drafts(output), output["permission"]) == (["first", "second"], "yes")
    assert (len(agent.asked), len(critic.asked)) == (2, 2), "nothing finished is done again"
    assert [str(m.content)[:8] for m in output["messages"]] == [
        *("Which?", "first", "A review", "second")
    ]


def test_interrupted_inside_of_create_agent() -> None:
    def ask_person(question: str) -> str:
        """Ask a person."""
        return str(interrupt(question))

    lines = ["first", calling("ask_person", question="may I?"), "second"]
    agent, critic = ScriptedChat(lines=lines), ScriptedChat(lines=[REVISE, ACCEPT])
    saver = InMemorySaver()
    graph = create_agent(agent, [ask_person], middleware=[EndCritic(critic)], checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "one"}}
    paused = graph.invoke({"messages": [HumanMessage("Which?")]}, config)
    assert paused["__interrupt__"][0].value == "may I?"
    output = graph.invoke(Command(resume="yes"), config)
    assert drafts(output) == ["first", "second"]
    assert (len(agent.asked), len(critic.asked)) == (3, 2)


def test_as_a_subgraph_of_another_graph() -> None:
    agent, critic = ScriptedChat(lines=["first", "second"]), ScriptedChat(lines=[REVISE, ACCEPT])
    inner = with_end_critic(by_plain_graph(agent), critic)

    class Outer(TypedDict, total=False):
        messages: list[Any]
        critic: dict[str, Any]

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Outer)
    builder.add_node("solve", inner)
    builder.add_edge(START, "solve")
    builder.add_edge("solve", END)
    output = builder.compile().invoke(asking("create_agent"))
    assert (said(output), drafts(output)) == ("second", ["first", "second"])


class Report(BaseModel):
    finding: str
    size: float


def test_a_structured_response_is_the_draft_and_the_best_is_kept() -> None:
    def report(size: float, number: int) -> AIMessage:
        return calling("Report", number, finding="T cells rise", size=size)

    agent = ScriptedChat(lines=[report(2.0, 1), report(9.0, 2)])
    critic = ScriptedChat(lines=[review("revise", 4, "a test"), review("revise", 1, "more")])
    graph: Any = create_agent(agent, [], response_format=Report, middleware=[EndCritic(critic)])
    output = graph.invoke(asking("create_agent"))
    assert '"size":9.0' in str(critic.asked[1][-1].content)
    assert outcome(output).chosen == 0
    assert output["structured_response"] == Report(finding="T cells rise", size=2.0)


def test_other_keys_of_the_state() -> None:
    class Lab(TypedDict, total=False):
        question: str
        log: list[Any]
        finding: str

    def work(state: Lab) -> Lab:
        again = len(state["log"]) > 0
        return {"finding": "worse" if again else "better", "log": [*state["log"], "worked"]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Lab)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    critic = ScriptedChat(lines=[review("revise", 4, "x"), review("revise", 2, "x")])
    keys = StateKeys(messages="log", task="question", answer="finding")
    graph = with_end_critic(builder.compile(), critic, keys=keys)
    output = graph.invoke({"question": "Which rise?", "log": []})
    assert output["finding"] == "better"
    assert drafts(output) == ["better", "worse"]
    assert "Which rise?" in str(critic.asked[0][-1].content)
    with pytest.raises(InputError, match="finding"):
        with_end_critic(builder.compile(), critic)


def test_an_answer_can_be_read_by_a_function() -> None:
    agent = ScriptedChat(lines=["<solution>T cells</solution>"])
    critic = ScriptedChat(lines=[ACCEPT])

    def solution(state: dict[str, Any]) -> str:
        return str(state["messages"][-1].content).removeprefix("<solution>").partition("<")[0]

    keys = StateKeys(answer=solution)
    graph = with_end_critic(by_plain_graph(agent), critic, keys=keys)
    output = graph.invoke(asking("plain_list"))
    assert drafts(output) == ["T cells"]


def test_reducers_are_not_run_twice_over_the_agents_values() -> None:
    class Counting(MessagesState):
        log: Annotated[list[str], operator.add]

    def work(state: Counting) -> dict[str, Any]:
        return {"messages": [AIMessage(f"draft {len(state['log'])}")], "log": ["worked"]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Counting)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    graph = with_end_critic(builder.compile(), ScriptedChat(lines=[REVISE, ACCEPT]))
    output = graph.invoke({"messages": [HumanMessage("Which?")], "log": []})
    assert output["log"] == ["worked", "worked"]
    assert len(output["messages"]) == 4


def test_an_agent_that_says_nothing() -> None:
    critic = ScriptedChat(lines=[ACCEPT])
    output = around("plain_list")(ScriptedChat(lines=["  "]), critic).invoke(asking("plain_list"))
    assert outcome(output).stop_reason == "no_draft"
    assert critic.asked == []


def test_a_function_as_an_agent() -> None:
    prompts: list[str] = []

    def agent(task: str) -> str | Reply:
        prompts.append(task)
        if len(prompts) == 1:
            return Reply("first", (Step("tool", "measured 2.0"),))
        return "second"

    critic = ScriptedChat(lines=[REVISE, ACCEPT])
    found = run_with_critic(agent, "Which rise?", critic)
    assert (found.answer, found.stop_reason, found.chosen) == ("second", "accepted", 1)
    assert "measured 2.0" in str(critic.asked[0][-1].content)
    assert prompts[0] == "Which rise?"
    assert all(words in prompts[1] for words in ("Which rise?", "first", "compute it"))


def test_a_function_that_fails() -> None:
    def agent(task: str) -> str:
        if "reviewer" in task:
            raise BrokenTool("the disk is full")
        return "first"

    found = run_with_critic(agent, "Which?", ScriptedChat(lines=[REVISE]))
    assert (found.answer, found.stop_reason) == ("first", "agent_failed")
    assert found.message == "BrokenTool: the disk is full"

    def broken(task: str) -> str:
        raise BrokenTool("at once")

    with pytest.raises(BrokenTool):
        run_with_critic(broken, "Which?", ScriptedChat(lines=[ACCEPT]))
    with pytest.raises(InputError, match="text or a Reply"):
        run_with_critic(lambda task: 5, "Which?", ScriptedChat(lines=[ACCEPT]))  # type: ignore[arg-type, return-value]


async def test_a_coroutine_function_as_an_agent() -> None:
    async def agent(task: str) -> str:
        return "second" if "reviewer" in task else "first"

    found = await arun_with_critic(agent, "Which?", ScriptedChat(lines=[REVISE, ACCEPT]))
    assert [draft.text for draft in found.drafts] == ["first", "second"]
    with pytest.raises(InputError, match="arun_with_critic"):
        run_with_critic(agent, "Which?", ScriptedChat(lines=[ACCEPT]))  # type: ignore[arg-type]


def test_an_endpoint_as_the_critic() -> None:
    with MockEndpoint(responder=lambda body: ACCEPT) as mock:
        for _ in range(2):
            found = run_with_critic(lambda task: "first", "Which?", mock.url)
            assert (found.stop_reason, found.usage.calls) == ("accepted", 1)
            assert found.usage.prompt_tokens > 0


async def test_an_endpoint_as_the_critic_of_an_async_agent() -> None:
    with MockEndpoint(responder=lambda body: ACCEPT) as mock:
        graph = around("create_agent")(ScriptedChat(lines=["first"]), mock.url)
        output = await graph.ainvoke(asking("create_agent"))
        assert outcome(output).stop_reason == "accepted"
        # Plain calls inside of a running loop, as in a notebook.
        assert outcome(graph.invoke(asking("create_agent"))).stop_reason == "accepted"


def test_critiques_are_kept_in_a_ledger_and_taken_from_there(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    record = CriticLedger(ledger, "run-1")
    critic = ScriptedChat(lines=[REVISE, ACCEPT])
    answers = iter(["first", "second"] * 2)
    for _ in range(2):
        found = run_with_critic(lambda task: next(answers), "Which?", critic, record=record)
        assert [draft.text for draft in found.drafts] == ["first", "second"]
    assert len(critic.asked) == 2, "the second run asked nobody"
    kept = list(ledger.records("run-1", "critique"))
    assert [one.body["draft"] for one in kept] == ["first", "second"]
    assert kept[0].body["critique"]["verdict"] == "revise"  # type: ignore[index]
    ledger.close()


def test_a_failure_outside_of_the_draft_is_not_kept(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    record = CriticLedger(ledger, "run-1")
    with MockEndpoint() as mock:
        gone = mock.url
    for model in (gone, ScriptedChat(lines=[RuntimeError("busy")])):
        found = run_with_critic(lambda task: "x", "Which?", model, record=record)
        assert (found.answer, found.stop_reason) == ("x", "critic_failed")
    assert ledger.count("run-1", "critique") == 0
    nonsense = ScriptedChat(lines=["hm"])
    run_with_critic(lambda task: "x", "Which?", nonsense, record=record)
    assert ledger.count("run-1", "critique") == 1
    ledger.close()


@pytest.mark.parametrize(
    ("model", "rounds", "said_"),
    [(5, 1, "can't ask a int"), (ScriptedChat(lines=[ACCEPT]), -1, "-1 rounds")],
)
def test_what_can_not_be(model: Any, rounds: int, said_: str) -> None:
    with pytest.raises(InputError, match=said_):
        EndCritic(model, rounds=rounds)
    with pytest.raises(InputError, match=said_):
        with_end_critic(by_plain_graph(ScriptedChat(lines=["x"])), model, rounds=rounds)
    with pytest.raises(InputError, match=said_):
        run_with_critic(lambda task: "x", "Which?", model, rounds=rounds)


def test_only_state_graphs_can_be_wrapped() -> None:
    with pytest.raises(InputError, match="run_with_critic"):
        with_end_critic(lambda state: state, ScriptedChat(lines=[ACCEPT]))  # type: ignore[arg-type]


def test_criteria_reach_the_critic() -> None:
    critic = ScriptedChat(lines=[ACCEPT])
    options = CriticOptions(criteria="Each claim needs a p value.")
    run_with_critic(lambda task: "x", "Which?", critic, options=options)
    assert "Each claim needs a p value." in str(critic.asked[0][-1].content)
