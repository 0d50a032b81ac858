"""Mistakes in a critic's arguments are said before the agent runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from basanite.errors import InputError
from basanite.graphs.end_critic import (
    CriticLedger,
    EndCritic,
    Reply,
    Step,
    arun_with_critic,
    run_with_critic,
    with_end_critic,
)
from basanite.graphs.plan_critic import (
    PlanCritic,
    arun_with_plan_critic,
    run_with_plan_critic,
    with_plan_critic,
)
from basanite.judges.critic import CriticOptions
from basanite.llm import ModelSpec
from basanite.store import Ledger
from support.critic_agents import ACCEPT, REVISE, by_plain_graph
from support.scripted_chat import ScriptedChat


class Ran(Exception):
    """The agent was run, and should not have been."""


def never(task: str) -> str:
    raise Ran(task)


async def never_async(task: str) -> str:
    raise Ran(task)


def critic() -> ScriptedChat:
    return ScriptedChat(lines=[ACCEPT])


def graph() -> Any:
    return by_plain_graph(ScriptedChat(lines=["x"]))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "run": lambda model, **more: run_with_critic(never, "Which?", model, **more),
    "arun": lambda model, **more: asyncio.run(
        arun_with_critic(never_async, "Which?", model, **more)
    ),
}
PLAN_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "run plan": lambda model, **more: run_with_plan_critic(never, "Which?", model, **more),
    "arun plan": lambda model, **more: asyncio.run(
        arun_with_plan_critic(never_async, "Which?", model, **more)
    ),
}
MADE: dict[str, Callable[..., Any]] = {
    "middleware": EndCritic,
    "around": lambda model, **more: with_end_critic(graph(), model, **more),
}
PLAN_MADE: dict[str, Callable[..., Any]] = {
    "plan middleware": PlanCritic,
    "before": lambda model, **more: with_plan_critic(graph(), model, **more),
}


def ways(*kinds: dict[str, Callable[..., Any]]) -> pytest.MarkDecorator:
    found = {name: way for kind in kinds for name, way in kind.items()}
    return pytest.mark.parametrize("way", found.values(), ids=found)


@ways(FUNCTIONS, PLAN_FUNCTIONS, MADE, PLAN_MADE)
@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("", "no HTTP address"),
        ("gpt-4o", "ModelSpec"),
        ("localhost:8000", "http://HOST:PORT"),
        ("http://", "no HTTP address"),
        ("ftp://somewhere/v1", "no HTTP address"),
        ("openai:gpt-4o", r"init_chat_model\('openai:gpt-4o'\)"),
        ("ollama:llama3:8b", r"init_chat_model\('ollama:llama3:8b'\)"),
        (ModelSpec("localhost"), "no HTTP address"),
        (ModelSpec(5), "int"),  # type: ignore[arg-type]
        (ModelSpec("http://localhost:1", concurrency=0), "concurrency"),
        (ModelSpec("http://localhost:1", gguf=Path("x.gguf")), "GGUF"),
        (None, "NoneType"),
    ],
)
def test_models_that_can_not_be(model: Any, said: str, way: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=said):
        way(model)


def test_an_address_with_a_password_is_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        EndCritic("user:secret@host/v1")
    assert "secret" not in str(caught.value)


@ways(FUNCTIONS, PLAN_FUNCTIONS, MADE)
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"options": {"criteria": "p values"}}, "CriticOptions"),
        ({"record": "critiques.sqlite"}, "CriticLedger"),
    ],
)
def test_settings_of_another_kind(more: dict[str, Any], said: str, way: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=said):
        way(critic(), **more)


@ways(FUNCTIONS, PLAN_FUNCTIONS)
@pytest.mark.parametrize("rounds", ["2", None, 1.5, True, -1])
def test_rounds_that_can_not_be(rounds: Any, way: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="rounds"):
        way(critic(), rounds=rounds)


@pytest.mark.parametrize(
    "options",
    [
        {"criteria": ["a", "b"]},
        {"criteria": None},
        {"trajectory_tokens": "many"},
        {"trajectory_tokens": None},
        {"trajectory_tokens": 1.5},
        {"trajectory_tokens": True},
        {"seed": "0"},
        {"kind": ["answer"]},
    ],
)
def test_options_of_another_type(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        CriticOptions(**options)


def test_a_ledger_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Ledger\.open"):
        CriticLedger("critiques.sqlite", "run-1")  # type: ignore[arg-type]
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        for run in ("", " ", None):
            with pytest.raises(InputError, match="run"):
                CriticLedger(ledger, run)  # type: ignore[arg-type]


@pytest.mark.parametrize("task", [None, "", "  ", 5, ["Which?"]])
async def test_tasks_that_can_not_be(task: Any) -> None:
    for run in (run_with_critic, run_with_plan_critic):
        with pytest.raises(InputError, match="task"):
            run(never, task, critic())
    for arun in (arun_with_critic, arun_with_plan_critic):
        with pytest.raises(InputError, match="task"):
            await arun(never_async, task, critic())


async def test_agents_that_can_not_be() -> None:
    for run in (run_with_critic, run_with_plan_critic):
        with pytest.raises(InputError, match=f"a{run.__name__}"):
            run(never_async, "Which?", critic())  # type: ignore[arg-type]
        with pytest.raises(InputError, match="with_end_critic or with_plan_critic"):
            run(graph(), "Which?", critic())
    for arun in (arun_with_critic, arun_with_plan_critic):
        with pytest.raises(InputError, match="with_end_critic or with_plan_critic"):
            await arun(graph(), "Which?", critic())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x", [("tool", "y")]), r"step 1 .* tuple.*Step\("),
        (("x", (Step("tool", "y"), "z")), "step 2 .* str"),
        (("x", "measured"), "steps"),
        (("x", Step("tool", "y")), "steps"),
        (("x", None), "steps"),
        ((None,), "NoneType"),
        ((5, ()), "int"),
    ],
)
def test_replies_that_can_not_be(arguments: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Reply(*arguments)


def test_a_list_of_steps_will_do() -> None:
    assert Reply("x", [Step("tool", "y")]).steps == (Step("tool", "y"),)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [("tool", None), (None, "y"), ("tool", 5)])
def test_steps_that_can_not_be(arguments: Any) -> None:
    with pytest.raises(InputError, match="step"):
        Step(*arguments)


async def test_a_plain_function_in_an_event_loop() -> None:
    def agent(task: str) -> str:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()  # it may block: it is not on the loop
        return "second" if "reviewer" in task else "first"

    found = await arun_with_critic(agent, "Which?", ScriptedChat(lines=[REVISE, ACCEPT]))
    assert [draft.text for draft in found.drafts] == ["first", "second"]
    reply, plans = await arun_with_plan_critic(agent, "Which?", critic())
    assert (reply.text, plans.answer) == ("first", "first")


async def test_an_agent_that_has_run_out_of_answers() -> None:
    answers = iter(["first"])
    found = await arun_with_critic(
        lambda task: next(answers), "Which?", ScriptedChat(lines=[REVISE])
    )
    assert (found.answer, found.stop_reason) == ("first", "agent_failed")
    assert found.message is not None and "StopIteration" in found.message


async def test_callables_that_give_something_to_wait_for() -> None:
    async def agent(task: str) -> str:
        await asyncio.sleep(0)
        return "first"

    class Agent:
        async def __call__(self, task: str) -> str:
            return await agent(task)

    def wrapped(task: str) -> Any:
        return agent(task)

    for one in (wrapped, Agent()):
        found = await arun_with_critic(one, "Which?", critic())
        assert found.answer == "first"
    with pytest.raises(InputError, match="arun_with_critic"):
        await asyncio.to_thread(run_with_critic, Agent(), "Which?", critic())  # type: ignore[arg-type]


@pytest.mark.parametrize("second", [None, 5, {"answer": "x"}])
async def test_no_answer_in_a_revision_leaves_the_first(second: Any) -> None:
    def agent(task: str) -> Any:
        return second if "reviewer" in task else "first"

    async def other(task: str) -> Any:
        return agent(task)

    revise = ScriptedChat(lines=[REVISE])
    for found in (
        await asyncio.to_thread(run_with_critic, agent, "Which?", revise),
        await arun_with_critic(other, "Which?", revise),
    ):
        assert (found.answer, found.stop_reason, found.chosen) == ("first", "no_draft", 0)
        assert found.message is not None and type(second).__name__ in found.message


def test_a_reply_that_can_not_be_in_a_revision_leaves_the_first() -> None:
    def agent(task: str) -> Any:
        return Reply("x", "steps") if "reviewer" in task else "first"  # type: ignore[arg-type]

    found = run_with_critic(agent, "Which?", ScriptedChat(lines=[REVISE]))
    assert (found.answer, found.stop_reason) == ("first", "agent_failed")
    assert found.message is not None and "steps" in found.message


async def test_no_answer_at_first_is_a_mistake() -> None:
    async def other(task: str) -> None:
        return None

    for run in (run_with_critic, run_with_plan_critic):
        with pytest.raises(InputError, match="NoneType"):
            await asyncio.to_thread(run, lambda task: None, "Which?", critic())  # type: ignore[arg-type]
    for arun in (arun_with_critic, arun_with_plan_critic):
        with pytest.raises(InputError, match="NoneType"):
            await arun(other, "Which?", critic())  # type: ignore[arg-type]


def test_no_answer_after_the_plan_is_a_mistake() -> None:
    def agent(task: str) -> Any:
        return "plan" if "write down your plan" in task else None

    with pytest.raises(InputError, match="NoneType"):
        run_with_plan_critic(agent, "Which?", critic())


def test_an_interrupt_in_a_revision_is_no_failure() -> None:
    class State(TypedDict, total=False):
        answer: str

    def agent(task: str) -> str:
        return str(interrupt("go on?")) if "reviewer" in task else "first"

    def node(state: State) -> State:
        return {"answer": run_with_critic(agent, "Which?", ScriptedChat(lines=[REVISE])).answer}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    from langgraph.checkpoint.memory import InMemorySaver

    outer = builder.compile(checkpointer=InMemorySaver())
    output = outer.invoke({}, {"configurable": {"thread_id": "1"}})
    assert output["__interrupt__"][0].value == "go on?"
