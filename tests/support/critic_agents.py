"""Agents that know nothing of a critic, each with a model that a test scripts."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from support.scripted_chat import calling


class BrokenTool(Exception):
    """What a tool raises where a test wants it to."""


def measure(what: str) -> str:
    """Measure something."""
    if what == "break":
        raise BrokenTool("the disk is full")
    return f"{what}: 2.0"


def by_create_agent(model: BaseChatModel, **more: Any) -> Any:
    """LangChain's agent."""
    return create_agent(model, [measure], **more)


def by_react_agent(model: BaseChatModel, **more: Any) -> Any:
    """LangGraph's prebuilt ReAct agent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langgraph.prebuilt import create_react_agent

        return create_react_agent(model, [measure], **more)


class PlainState(TypedDict):
    """A state whose list of messages has no reducer."""

    messages: list[Any]
    next_step: str | None


def plain_builder(model: BaseChatModel) -> StateGraph[Any, Any, Any, Any]:
    """A graph in the manner of Biomni: a plain list that the nodes change in place, tags in the
    text that say what comes next, `<observation>` as a message of the agent.
    """

    def generate(state: PlainState) -> PlainState:
        text = str(model.invoke(state["messages"]).content)
        state["messages"].append(AIMessage(text))
        state["next_step"] = "execute" if "<execute>" in text else "end"
        return state

    def execute(state: PlainState) -> PlainState:
        code = re.search(r"<execute>(.*?)</execute>", str(state["messages"][-1].content), re.DOTALL)
        assert code is not None
        result = measure(code[1].strip())
        state["messages"].append(AIMessage(f"<observation>{result}</observation>"))
        return state

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(PlainState)
    builder.add_node("generate", generate)
    builder.add_node("execute", execute)
    builder.add_edge(START, "generate")
    builder.add_conditional_edges(
        "generate", lambda state: state["next_step"], {"execute": "execute", "end": END}
    )
    builder.add_edge("execute", "generate")
    return builder


def by_plain_graph(model: BaseChatModel, **more: Any) -> Any:
    """The graph in the manner of Biomni."""
    return plain_builder(model).compile(**more)


AGENTS: dict[str, Callable[..., Any]] = {
    "create_agent": by_create_agent,
    "react_agent": by_react_agent,
    "plain_list": by_plain_graph,
}


def tool_call(kind: str, what: str) -> Any:
    """A line of the script that calls the tool, in the agent's own way."""
    if kind == "plain_list":
        return f"<execute>{what}</execute>"
    return calling("measure", what=what)


def asking(kind: str, task: str = "Which cells rise?") -> dict[str, Any]:
    """The input of an agent."""
    given: dict[str, Any] = {"messages": [HumanMessage(task)]}
    return given | ({"next_step": None} if kind == "plain_list" else {})


def review(verdict: str, rating: int, *missing: str) -> str:
    """What a critic says."""
    checks = ["compute it"] if verdict == "revise" else []
    return json.dumps(
        {"missing": list(missing), "checks": checks, "rating": rating, "verdict": verdict}
    )


ACCEPT = review("accept", 5)
REVISE = review("revise", 2, "the size of the effect")
