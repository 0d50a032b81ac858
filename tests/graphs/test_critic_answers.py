"""What a critic takes for the answer: messages of any form, tools' results, objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from basanite.errors import InputError
from basanite.graphs.end_critic import EndCritic, StateKeys, add_end_critic, with_end_critic
from basanite.graphs.end_critic._messages import calls_of, kind_of, last_answer, like, text_of
from basanite.graphs.end_critic._turn import known, made_since
from basanite.graphs.plan_critic import PlanCritic, add_plan_critic, with_plan_critic
from basanite.judges.critic import CriticOptions
from basanite.schema import Criticised
from support.critic_agents import ACCEPT, BrokenTool, asking, by_plain_graph, plain_builder, review
from support.scripted_chat import ScriptedChat, calling

BETTER, WORSE = review("revise", 4, "a test"), review("revise", 1, "more")
Way = Callable[..., Any]


def inside(model: Any, critic: Any, tools: Any = (), **more: Any) -> Any:
    return create_agent(model, list(tools), middleware=[EndCritic(critic)], **more)


def around(model: Any, critic: Any, tools: Any = (), **more: Any) -> Any:
    keys = more.pop("keys", None)
    return with_end_critic(create_agent(model, list(tools), **more), critic, keys=keys)


both_ways = pytest.mark.parametrize("way", [inside, around])


def outcome(output: dict[str, Any]) -> Criticised:
    return Criticised.model_validate(output["critic"])


def drafts(output: dict[str, Any]) -> list[str]:
    return [draft.text for draft in outcome(output).drafts]


class Report(BaseModel):
    finding: str
    size: float


def report(size: float, number: int) -> AIMessage:
    return calling("Report", number, finding="T cells rise", size=size)


@tool(return_direct=True)
def look_up(what: str) -> str:
    """Look something up."""
    if what == "break":
        raise BrokenTool("the disk is full")
    return f"{what}: 2.0"


@both_ways
def test_a_structured_response_by_a_tool(way: Way) -> None:
    agent = ScriptedChat(lines=[report(2.0, 1), report(9.0, 2)])
    critic = ScriptedChat(lines=[BETTER, WORSE])
    output = way(agent, critic, response_format=ToolStrategy(Report)).invoke(asking("create_agent"))
    assert drafts(output) == [
        f'{{"finding":"T cells rise","size":{size}}}' for size in ("2.0", "9.0")
    ]
    assert outcome(output).chosen == 0
    assert output["structured_response"] == Report(finding="T cells rise", size=2.0)
    assert '"size":2.0' in str(output["messages"][-1].content)


def test_a_structured_response_that_is_named_as_the_answer() -> None:
    agent = ScriptedChat(lines=[report(2.0, 1), report(9.0, 2)])
    keys = StateKeys(answer="structured_response")
    graph = around(
        agent, ScriptedChat(lines=[BETTER, WORSE]), response_format=ToolStrategy(Report), keys=keys
    )
    output = graph.invoke(asking("create_agent"))
    assert output["structured_response"] == Report(finding="T cells rise", size=2.0)


@both_ways
def test_an_object_of_a_draft_or_turn_before_is_not_the_answer_now(way: Way) -> None:
    agent = ScriptedChat(lines=[report(2.0, 1), "no number", "only words"])
    critic = ScriptedChat(lines=[BETTER, ACCEPT, ACCEPT])
    saver = InMemorySaver()
    # With tools of its own, LangChain lets an agent end without the object.
    graph = way(agent, critic, [look_up], response_format=ToolStrategy(Report), checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "one"}}
    output = graph.invoke(asking("create_agent"), config)
    assert drafts(output)[1] == "no number"
    assert output.get("structured_response") is None
    assert drafts(graph.invoke(asking("create_agent", "Why?"), config)) == ["only words"]


@both_ways
def test_a_revision_that_crashes_keeps_the_object(way: Way) -> None:
    agent = ScriptedChat(lines=[report(2.0, 1), ValueError("out of memory")])
    graph = way(agent, ScriptedChat(lines=[BETTER]), response_format=ToolStrategy(Report))
    output = graph.invoke(asking("create_agent"))
    assert outcome(output).stop_reason == "agent_failed"
    assert output["structured_response"] == Report(finding="T cells rise", size=2.0)


@dataclass
class Size:
    size: float


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda size: {"size": size, "of": ["T cells", "β"]},
            '{"size": 2.0, "of": ["T cells", "β"]}',
        ),
        (lambda size: Report(finding="up", size=size), '{"finding":"up","size":2.0}'),
        (Size, '{"size": 2.0}'),
        (lambda size: [Report(finding="up", size=size)], '[{"finding": "up", "size": 2.0}]'),
        (lambda size: size, "2.0"),
        (lambda size: AIMessage(f"size {size}"), "size 2.0"),
    ],
)
def test_answers_that_are_no_texts_are_kept_as_they_are(make: Any, text: str) -> None:
    class Lab(TypedDict, total=False):
        messages: list[Any]
        finding: Any

    def work(state: Lab) -> Lab:
        return {"finding": make(9.0 if "finding" in state else 2.0)}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Lab)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    critic = ScriptedChat(lines=[BETTER, WORSE])
    graph = with_end_critic(builder.compile(), critic, keys=StateKeys(answer="finding"))
    output = graph.invoke({"messages": [("user", "Which?")]})
    assert drafts(output)[0] == text
    assert output["finding"] == make(2.0)


@both_ways
def test_a_tool_whose_result_is_the_answer(way: Way) -> None:
    agent = ScriptedChat(lines=[calling("look_up", n, what=f"c{n}") for n in (1, 2)])
    critic = ScriptedChat(lines=[BETTER, WORSE])
    output = way(agent, critic, [look_up]).invoke(asking("create_agent"))
    assert drafts(output) == ["c1: 2.0", "c2: 2.0"]
    assert str(output["messages"][-1].content) == "c1: 2.0"
    assert "look_up" in str(critic.asked[0][-1].content), "the call is a step"


@both_ways
def test_a_tool_whose_result_is_the_answer_fails(way: Way) -> None:
    agent = ScriptedChat(
        lines=[calling("look_up", 1, what="c1"), calling("look_up", 2, what="break")]
    )
    output = way(agent, ScriptedChat(lines=[BETTER]), [look_up]).invoke(asking("create_agent"))
    assert (outcome(output).stop_reason, drafts(output)) == ("agent_failed", ["c1: 2.0"])
    assert str(output["messages"][-1].content) == "c1: 2.0"
    # Each call in the history has its result, so that a provider takes the history in a next turn.
    calls = [
        call["id"] for m in output["messages"] if isinstance(m, AIMessage) for call in m.tool_calls
    ]
    assert calls == [m.tool_call_id for m in output["messages"] if isinstance(m, ToolMessage)]


OPENAI = [
    {
        "role": "assistant",
        "content": "I will look",
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "measure", "arguments": '{"a": 1}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "1", "name": "measure", "content": "T cells: 2.0"},
]
ANTHROPIC = [
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I will look"},
            {"type": "tool_use", "id": "1", "name": "measure", "input": {"a": 1}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "1",
                "content": [{"type": "text", "text": "T cells: 2.0"}],
            }
        ],
    },
]


class Plain(TypedDict):
    messages: list[Any]


def plainly(work: Any) -> Any:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Plain)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    return builder.compile()


@pytest.mark.parametrize("made", [OPENAI, ANTHROPIC])
def test_dicts_in_the_form_of_providers(made: list[Any]) -> None:
    told: list[Any] = []

    def work(state: Plain) -> Plain:
        told.append(state["messages"][-1])
        answer = {"role": "assistant", "content": f"T cells rise {len(told)}"}
        return {"messages": [*state["messages"], *made, answer]}

    critic = ScriptedChat(lines=[BETTER, ACCEPT])
    graph = with_end_critic(plainly(work), critic)
    output = graph.invoke({"messages": [{"role": "user", "content": "Which rise?"}]})
    assert drafts(output) == ["T cells rise 1", "T cells rise 2"]
    seen = str(critic.asked[0][-1].content)
    assert all(words in seen for words in ("I will look", 'measure({"a": 1})', "T cells: 2.0"))
    assert told[1]["role"] == "user" and "reviewer" in told[1]["content"]
    # A thought beside a call is no answer, even where nothing else follows.
    assert last_answer(made[:1]) == ("", 1)


@pytest.mark.parametrize("pair", [list, tuple])
def test_pairs(pair: Any) -> None:
    told: list[Any] = []

    def work(state: Plain) -> Plain:
        told.append(state["messages"][-1])
        return {"messages": [*state["messages"], pair(("ai", f"draft {len(told)}"))]}

    critic = ScriptedChat(lines=[BETTER, WORSE])
    output = with_end_critic(plainly(work), critic).invoke({"messages": [pair(("user", "Q"))]})
    assert drafts(output) == ["draft 1", "draft 2"]
    assert isinstance(told[1], pair) and "reviewer" in told[1][1]
    assert output["messages"][-1] == pair(("ai", "draft 1"))


def test_forms_of_messages() -> None:
    assert kind_of(["user", "Q"]) == "user" and text_of(["user", "Q"]) == "Q"
    assert text_of(["one", "two"]) == "onetwo", "no pair of speaker and words"
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert calls_of(old) == ["f({})"]
    broken: Any = AIMessage(
        "", invalid_tool_calls=[{"name": "f", "args": "{", "id": "1", "error": "x"}]
    )
    assert calls_of(broken) == ["f({)"]
    assert calls_of("words") == calls_of({"role": "user", "content": "Q"}) == []
    assert like([], "agent", "x") == AIMessage("x")


def test_a_plain_history_without_ids_that_is_trimmed() -> None:
    def work(state: Plain) -> Plain:
        drafts_so_far = sum("reviewer" in str(one) for one in state["messages"])
        return {"messages": [state["messages"][-1], ("ai", f"yes {drafts_so_far}")]}

    critic = ScriptedChat(lines=[BETTER, ACCEPT])
    given: Any = [("user", "old"), ("ai", "yes 0"), ("user", "new")]
    output = with_end_critic(plainly(work), critic).invoke({"messages": given})
    assert drafts(output) == ["yes 0", "yes 1"]


words = st.lists(st.sampled_from(["yes", "no", "more"]), max_size=5)


@given(before=words, made=words, gone=st.integers(0, 5), ids=st.booleans(), summary=st.booleans())
def test_messages_of_a_turn_are_found_in_what_is_left(
    before: list[str], made: list[str], gone: int, ids: bool, summary: bool
) -> None:
    def message(number: int, text: str) -> BaseMessage:
        return HumanMessage(text, id=f"m{number}" if ids else None)

    old = [message(number, text) for number, text in enumerate([*before, "the task"])]
    new = [message(100 + number, text) for number, text in enumerate(made)]
    kept = old[min(gone, len(old) - 1) :]  # the task itself is still there
    told = [HumanMessage("a summary", id="s")] if summary and gone else []
    assert made_since([*told, *kept, *new], known(old)) == [*told, *new]
    if ids:  # with ids it may be gone as well, and the rest in any order
        assert made_since([*told, *new, *reversed(kept)], known(old)) == [*told, *new]
        assert made_since(new, known(old)) == new


WRAPPING: list[Any] = [
    lambda **more: EndCritic(ScriptedChat(lines=["x"]), **more),
    lambda **more: PlanCritic(ScriptedChat(lines=["x"]), **more),
    *(
        lambda wrap=wrap, **more: wrap(
            by_plain_graph(ScriptedChat(lines=["x"])), ScriptedChat(lines=["x"]), **more
        )
        for wrap in (with_end_critic, with_plan_critic)
    ),
    *(
        lambda add=add, **more: add(
            plain_builder(ScriptedChat(lines=["x"])), ScriptedChat(lines=["x"]), **more
        )
        for add in (add_end_critic, add_plan_critic)
    ),
]


@pytest.mark.parametrize("wrap", WRAPPING)
@pytest.mark.parametrize("rounds", ["2", None, 1.5, -1, True])
def test_rounds_are_a_whole_number(wrap: Any, rounds: Any) -> None:
    with pytest.raises(InputError, match="rounds can't be made"):
        wrap(rounds=rounds)
    wrap(rounds=0)


@pytest.mark.parametrize("wrap", WRAPPING)
def test_options_are_of_the_right_kind(wrap: Any) -> None:
    with pytest.raises(InputError, match="CriticOptions, not a dict"):
        wrap(options={"kind": "answer"})


@pytest.mark.parametrize("number", [0, 2, 4])
def test_options_for_plans_are_no_options_for_answers(number: int) -> None:
    with pytest.raises(InputError, match=r"for a plan.*plan_critic"):
        WRAPPING[number](options=CriticOptions(kind="plan"))
    WRAPPING[number + 1](options=CriticOptions(kind="answer"))


def test_the_wrong_kind_of_graph_names_the_right_function() -> None:
    model = ScriptedChat(lines=["x"])
    builder: Any = plain_builder(model)
    for kind, with_, add in (
        ("end", with_end_critic, add_end_critic),
        ("plan", with_plan_critic, add_plan_critic),
    ):
        with pytest.raises(InputError, match=f"Compile it first, or use add_{kind}_critic"):
            with_(builder, model)
        with pytest.raises(InputError, match=f"Use with_{kind}_critic"):
            add(builder.compile(), model)
        with pytest.raises(InputError, match="not a str"):
            add("graph", model)  # type: ignore[type-var]
        with pytest.raises(InputError, match="StateKeys, not a str"):
            with_(builder.compile(), model, keys="log")  # type: ignore[arg-type]
    one_value: Any = StateGraph(list)
    one_value.add_node("work", lambda state: state)
    one_value.add_edge(START, "work")
    with pytest.raises(InputError, match="without keys"):
        with_end_critic(one_value.compile(), model)
