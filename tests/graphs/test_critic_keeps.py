"""What the chosen draft is put back as, and what an agent can't take away from it."""

from __future__ import annotations

import copy
import logging
import operator
import re
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict

from basanite.errors import InputError
from basanite.graphs.end_critic import EndCritic, StateKeys, run_with_critic, with_end_critic
from basanite.graphs.end_critic._checks import ATTEMPT_SECONDS, checked_model
from basanite.graphs.end_critic._messages import copied, said_again, source_of, text_of
from basanite.graphs.end_critic._turn import known, made_since
from basanite.graphs.plan_critic import Planned, run_with_plan_critic
from basanite.llm import ModelSpec
from support.critic_agents import ACCEPT, REVISE, asking, by_plain_graph, by_react_agent, review
from support.scripted_chat import ScriptedChat, calling


def tag(text: str) -> str:
    return f"hm <solution>{text}</solution>"


def last_tag(state: dict[str, Any]) -> str:
    for message in reversed(state["messages"]):
        found = re.search(r"<solution>(.*?)</solution>", str(text_of(message)))
        if found:
            return found[1]
    return ""


def tag_of_the_last(state: dict[str, Any]) -> str:
    found = re.search(r"<solution>(.*?)</solution>", str(text_of(state["messages"][-1])))
    return found[1] if found else ""


@pytest.mark.parametrize("reader", [last_tag, tag_of_the_last])
@pytest.mark.parametrize("kind", ["plain_list", "react_agent", "dicts"])
def test_the_reader_finds_the_chosen_draft_again(kind: str, reader: Any) -> None:
    model = ScriptedChat(lines=[tag("good"), tag("bad")])
    critic = ScriptedChat(lines=[review("revise", 4, "x"), review("revise", 1, "x")])
    if kind == "dicts":

        class State(TypedDict):
            messages: list[Any]

        def node(state: State) -> dict[str, Any]:
            said = str(model.invoke(state["messages"]).content)
            made = {"role": "assistant", "content": [{"type": "text", "text": said}]}
            return {"messages": [*state["messages"], made]}

        builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        builder.add_edge("node", END)
        inner: Any = builder.compile()
    else:
        inner = (by_plain_graph if kind == "plain_list" else by_react_agent)(model)
    graph = with_end_critic(inner, critic, keys=StateKeys(answer=reader))
    output = graph.invoke(asking(kind))
    assert output["critic"]["drafts"][output["critic"]["chosen"]]["text"] == "good"
    assert reader(output) == "good"
    assert text_of(output["messages"][-1]) == tag("good")


def test_where_an_answer_stands() -> None:
    first, last = AIMessage(tag("a")), AIMessage("done")
    tool = ToolMessage("from a tool", tool_call_id="1")
    assert source_of([HumanMessage("a?"), first, last], "a") is first
    assert source_of([first, last], "in no message") is last
    assert source_of([HumanMessage("q"), tool], "from a tool") is tool
    assert source_of([first], " ") is None
    assert source_of([], "a") is None
    again = said_again(calling("measure", what="a"))
    assert isinstance(again, AIMessage) and not again.tool_calls and again.id is None
    assert isinstance(said_again(tool), AIMessage)
    assert said_again(["ai", "x"]) == ["ai", "x"]
    assert said_again({"role": "assistant", "content": "x", "id": "1"}) == {
        "role": "assistant",
        "content": "x",
    }


def answer_once(state: dict[str, Any]) -> str:
    if len(state["messages"]) > 2:
        raise IndexError("no tag")
    return "first"


def answer_never(state: dict[str, Any]) -> str:
    raise KeyError("nothing")


def test_a_reader_that_raises() -> None:
    def graph(**keys: Any) -> Any:
        model = ScriptedChat(lines=["first", "second"])
        return with_end_critic(by_plain_graph(model), revising(), keys=StateKeys(**keys))

    output = graph(answer=answer_once).invoke(asking("plain_list"))
    found = output["critic"]
    assert (found["stop_reason"], found["chosen"], len(found["drafts"])) == ("agent_failed", 0, 1)
    assert "answer_once raised IndexError: no tag" in found["message"]
    assert output["messages"][-1].content == "first"
    with pytest.raises(InputError, match="the function answer_never raised KeyError"):
        graph(answer=answer_never).invoke(asking("plain_list"))
    with pytest.raises(InputError, match="answer_never"):
        graph(task=answer_never).invoke(asking("plain_list"))


def revising() -> ScriptedChat:
    return ScriptedChat(lines=[REVISE])


@pytest.mark.parametrize("form", ["dict", "object", "parts", "object of parts"])
def test_an_agent_that_changes_a_message_in_place_and_fails(form: str) -> None:
    class State(TypedDict):
        messages: list[Any]

    made: Any = {
        "dict": {"role": "assistant", "content": "good"},
        "object": AIMessage("good"),
        "object of parts": AIMessage([{"type": "text", "text": "good"}]),
        "parts": {"role": "assistant", "content": [{"type": "text", "text": "good"}]},
    }[form]

    def node(state: State) -> State:
        if len(state["messages"]) == 1:
            state["messages"].append(made)
            return state
        message = state["messages"][1]
        if form == "object":
            message.content = "bad"
        elif form == "dict":
            message["content"] = "bad"
        else:
            parts = message["content"] if form == "parts" else message.content
            parts[0]["text"] = "bad"
        raise ValueError("x")

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = with_end_critic(builder.compile(), revising())
    output = graph.invoke({"messages": [{"role": "user", "content": "q"}]})
    assert [text_of(one) for one in output["messages"]] == ["q", "good"]
    assert output["critic"]["stop_reason"] == "agent_failed"


def test_messages_that_can_not_be_copied_are_passed_on() -> None:
    class Stubborn(dict[str, Any]):
        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("no copies")

    message = Stubborn(role="user", content="x")
    assert copied([message]) == [message]
    assert copied("one text") == "one text"
    assert copied(("a", AIMessage("b", id="1"))) == ("a", AIMessage("b", id="1"))


def test_an_outcome_that_begins_as_an_empty_dict() -> None:
    class Parent(MessagesState):
        critic: Annotated[dict[str, Any], lambda old, new: new or old]
        notes: Annotated[list[str], operator.add]

    agent: Any = create_agent(
        ScriptedChat(lines=["x"]), [], middleware=[EndCritic(ScriptedChat(lines=[ACCEPT]))]
    )
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Parent)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    output = builder.compile().invoke({"messages": [HumanMessage("q")]})
    assert output["critic"]["stop_reason"] == "accepted"


def test_the_same_question_again_with_a_trimmed_history() -> None:
    class State(TypedDict):
        messages: list[Any]

    def node(state: State) -> State:
        made = {"role": "assistant", "content": "same"}
        return {"messages": [*state["messages"][-2:], made]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = with_end_critic(builder.compile(), ScriptedChat(lines=[ACCEPT]))
    history: list[Any] = []
    for _ in range(4):
        given = {"messages": [*history, {"role": "user", "content": "A"}]}
        output = graph.invoke(copy.deepcopy(given))
        assert output["critic"]["stop_reason"] == "accepted"
        history = output["messages"]


@settings(max_examples=200)
@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=6), st.integers(0, 5))
def test_new_messages_after_a_trimmed_history_of_few_words(before: list[str], gone: int) -> None:
    old = [{"role": "user", "content": text} for text in before]
    kept = old[min(gone, len(old) - 1) :]
    new = {"role": "assistant", "content": before[-1]}
    assert made_since([*kept, new], known(old)) == [new]


@pytest.mark.parametrize("outcome", ["", " ", None, 5])
def test_an_outcome_that_is_no_key(outcome: Any) -> None:
    with pytest.raises(InputError, match="no key for the critic's outcome"):
        EndCritic(ScriptedChat(lines=[ACCEPT]), outcome=outcome)
    if outcome is not None:
        graph, keys = by_plain_graph(ScriptedChat(lines=["x"])), StateKeys(outcome=outcome)
        with pytest.raises(InputError, match="no key for the critic's outcome"):
            with_end_critic(graph, ScriptedChat(lines=[ACCEPT]), keys=keys)


def test_a_chat_model_that_raises_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="basanite")
    broken = ScriptedChat(lines=[RuntimeError("two\nlines")])
    assert run_with_critic(lambda task: "x", "Which?", broken).stop_reason == "critic_failed"
    told = [one for one in caplog.records if one.levelno >= logging.WARNING]
    (line,) = (one.getMessage() for one in told)
    assert line.endswith("failed: RuntimeError: two lines") and told[0].exc_info is None
    (detail,) = (one for one in caplog.records if one.exc_info)
    assert detail.levelno == logging.DEBUG


def test_how_long_a_critic_is_waited_for() -> None:
    short = checked_model("http://localhost:8000/v1")
    assert isinstance(short, ModelSpec) and short.attempt_seconds == ATTEMPT_SECONDS == 90
    own = ModelSpec("http://localhost:8000/v1", attempt_seconds=20)
    assert checked_model(own) is own


def test_what_a_planned_run_gives() -> None:
    critic = ScriptedChat(lines=[ACCEPT])
    found = run_with_plan_critic(lambda task: f"did {len(task) > 10}", "Which?", critic)
    assert isinstance(found, Planned)
    reply, plans = found
    assert (found.answer, reply.text, plans.stop_reason) == ("did True", "did True", "accepted")


def test_a_middleware_that_replaces_the_state_of_a_request() -> None:
    class Replacing(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            kept = {key: one for key, one in request.state.items() if "steps_left" not in key}
            return handler(request.override(state=kept))

    agent: Any = create_agent(
        ScriptedChat(lines=["first", "second"]),
        [],
        middleware=[Replacing(), EndCritic(ScriptedChat(lines=[REVISE, ACCEPT]))],
    )
    found = agent.invoke({"messages": [HumanMessage("q")]})["critic"]
    assert (found["stop_reason"], len(found["drafts"])) == ("accepted", 2)
