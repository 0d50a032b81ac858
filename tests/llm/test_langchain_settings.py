"""What a LangChain model is known by: all that changes its replies, and no secrets."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import Field, PrivateAttr, SecretStr

from basanite.graphs.end_critic import CriticLedger, run_with_critic
from basanite.llm import LangChainModel
from basanite.store import Ledger
from support.critic_agents import ACCEPT, REVISE
from support.scripted_chat import ScriptedChat


class Local(ScriptedChat):
    """A model that has no name, only weights."""

    model_path: str = "a.gguf"
    options: dict[str, Any] = Field(default_factory=dict)
    api_key: str = "none"
    temperature: float = 0.0
    verbose: bool = False
    handle: Any = None


class Private(ScriptedChat):
    """A model that tells of itself only where it is asked."""

    _weights: str = PrivateAttr(default="a.gguf")

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"weights": self._weights}


class Broken(ScriptedChat):
    """A model that can't be asked for its parameters by all."""

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        raise RuntimeError("not now")


def root(chat: Any) -> str:
    return LangChainModel(chat).identity.root


def openai(**more: Any) -> ChatOpenAI:
    given: dict[str, Any] = {"model": "m", "base_url": "http://localhost:1/v1"}
    return ChatOpenAI(**given | {"api_key": SecretStr("a"), "stream_usage": False} | more)


@pytest.mark.parametrize(
    "other",
    [
        {"model_path": "b.gguf"},
        {"options": {"rope": 2}},
        {"options": {"stops": ["x"]}},
    ],
)
def test_what_makes_another_model(other: dict[str, Any]) -> None:
    assert root(Local(**other)) != root(Local())
    assert LangChainModel(Local(**other)).address != LangChainModel(Local()).address


@pytest.mark.parametrize(
    "same", [{"api_key": "b"}, {"temperature": 0.7}, {"verbose": True}, {"handle": object()}]
)
def test_what_makes_no_other_model(same: dict[str, Any]) -> None:
    assert root(Local(**same)) == root(Local())


def test_what_it_says_where_it_is_asked() -> None:
    first, second = Private(), Private()
    second._weights = "b.gguf"
    assert root(first) != root(second)
    assert root(Broken()).split("#")[0].endswith(".Broken")


def test_servers_are_told_apart_and_keys_are_not() -> None:
    assert root(openai()) != root(openai(base_url="http://localhost:2/v1"))
    assert root(openai()) == root(openai(api_key=SecretStr("b"), temperature=0.5, max_retries=5))
    assert root(openai()) != root(openai(extra_body={"top_k": 5}))
    assert LangChainModel(openai()).identity.name == "m"


def test_a_ledger_does_not_mix_two_models_of_a_class(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        record = CriticLedger(ledger, run="first")
        for path, says, ended in (("a", ACCEPT, "accepted"), ("b", REVISE, "rounds_used")):
            critic = Local(model_path=path, lines=[says])
            found = run_with_critic(lambda task: "d", "Q", critic, rounds=0, record=record)
            assert (found.stop_reason, len(critic.asked)) == (ended, 1)


def test_what_can_not_be_set_is_said_once_for_a_class(caplog: pytest.LogCaptureFixture) -> None:
    class Own(ScriptedChat):
        """Another class for each run of this test."""

    caplog.set_level(logging.INFO, logger="basanite")
    for _ in range(3):
        LangChainModel(Own())
    (record,) = caplog.records
    assert "takes no temperature" in record.getMessage()
    assert record.levelno == logging.INFO
