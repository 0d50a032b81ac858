"""The page on critics: each example runs as it stands there, and what can happen is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from basanite import EndCritic, with_end_critic
from basanite.graphs.end_critic import StateKeys
from basanite.schema import StopReason
from support.critic_agents import ACCEPT, REVISE, measure
from support.mock_endpoint import MockEndpoint
from support.scripted_chat import ScriptedChat

PAGE = (Path(__file__).parents[2] / "docs" / "critic.md").read_text(encoding="utf-8")
URL = "http://localhost:8000/v1"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


class State(MessagesState, total=False):
    """Messages, and the other keys that the page speaks of."""

    log: list[Any]
    question: str
    finding: str


def builder() -> StateGraph[Any, Any, Any, Any]:
    """A graph whose model is asked once, for any of the page's keys."""
    model = ScriptedChat(lines=["first", "second", "third"])

    def node(state: State) -> dict[str, Any]:
        log = state.get("log", [])
        said = model.invoke([*state["messages"], *log, ("user", "?")])
        return {"messages": [said], "log": [*log, said], "finding": str(said.content)}

    made: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    made.add_node("node", node)
    made.add_edge(START, "node")
    made.add_edge("node", END)
    return made


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """What the page says that its reader has."""
    with MockEndpoint(responder=lambda body: ACCEPT) as mock:
        yield {
            "URL": mock.url,
            "task": "Which cells rise?",
            "model": ScriptedChat(lines=["first", "second"]),
            "tools": [measure],
            "graph": builder().compile(),
            "builder": builder(),
            "saver": InMemorySaver(),
            "critic_model": ScriptedChat(lines=[REVISE, ACCEPT]),
        }


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a block as if it were pasted, and give all names afterwards."""
    exec(compile(block.replace(URL, names["URL"]), "docs/critic.md", "exec"), names)
    return names


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_each_example_runs_by_itself(
    block: str,
    names: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in set(names) - {"URL"}:
        # A name of the reader's that is not told of is one that a stranger doesn't have.
        assert not re.search(rf"\b{name}\b", block) or f"`{name}`" in PAGE.split("\n## ")[0]
    run(block, names)
    if "print(" in block:
        assert capsys.readouterr().out.strip()
    if "state" in names and "critic" in names["state"]:
        assert names["state"]["critic"]["stop_reason"] == "accepted"


def examples(word: str) -> list[str]:
    return [block for block in BLOCKS if word in block]


def test_the_first_example_shows_the_best_draft(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = examples("create_agent")
    run(block, names)
    assert capsys.readouterr().out.split() == ["first", "accepted"]


def test_a_function_is_reviewed_with_its_steps(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = examples("run_with_critic")
    run(block, names)
    told = capsys.readouterr().out
    assert told.startswith("They double") and "the size of the effect" in told
    assert "20 % after" in str(names["critic_model"].asked[0][-1].content)


def test_other_keys_are_read_and_written(names: dict[str, Any]) -> None:
    (block,) = examples("StateKeys")
    agent = run(block, names)["agent"]
    state = agent.invoke({"question": "Which cells fall?", "log": []})
    assert (state["finding"], state["critic"]["stop_reason"]) == ("second", "accepted")
    assert "Which cells fall?" in str(names["critic_model"].asked[0][-1].content)


def test_a_stream_of_messages_needs_the_subgraphs(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = examples("subgraphs=True")
    names["graph"] = create_agent(names["model"], names["tools"])
    run(block, names)
    assert capsys.readouterr().out.split() == ["first", "second"]
    again = run(block.split("for _")[0], names)
    assert list(again["agent"].stream(again["given"], stream_mode="messages")) == []


def test_the_task_is_the_last_message_of_the_user_alone(names: dict[str, Any]) -> None:
    critic = names["critic_model"]
    given: Any = {"messages": [("user", "Liver?"), ("ai", "Yes."), ("user", "And in blood?")]}
    with_end_critic(names["graph"], critic).invoke(given)
    seen = str(critic.asked[0][-1].content)
    assert "And in blood?" in seen and "Liver?" not in seen


def test_two_critics_of_one_agent() -> None:
    def critic(**options: Any) -> EndCritic:
        return EndCritic(ScriptedChat(lines=[REVISE, ACCEPT]), **options)

    with pytest.raises(AssertionError, match="duplicate middleware"):
        create_agent(ScriptedChat(lines=["x"]), [], middleware=[critic(), critic()])
    model = ScriptedChat(lines=["first", "second", "third"])
    given: Any = {"messages": [("user", "Which?")]}
    both: Any = create_agent(model, [], middleware=[critic(), critic(outcome="review")])
    output = both.invoke(given)
    # What the first critic of the list has revised comes before the last one again.
    assert [one["text"] for one in output["review"]["drafts"]] == ["first", "second", "third"]
    assert [one["text"] for one in output["critic"]["drafts"]] == ["second", "third"]


def test_a_graph_around_an_agent_that_has_a_critic() -> None:
    model = ScriptedChat(lines=["first", "second", "third"])
    inner: Any = create_agent(
        model, [], middleware=[EndCritic(ScriptedChat(lines=[REVISE, ACCEPT]))]
    )
    chat = ScriptedChat(lines=[REVISE, ACCEPT])
    outer = with_end_critic(inner, chat, keys=StateKeys(outcome="review"))
    given: Any = {"messages": [("user", "Which?")]}
    output = outer.invoke(given)
    assert [one["text"] for one in output["review"]["drafts"]] == ["second", "third"]


def test_every_stop_reason_is_told_of() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert sorted(rows) == sorted(get_args(StopReason))
