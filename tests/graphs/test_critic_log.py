"""A critic that gives no verdict says so in the log, once a turn."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from basanite.graphs.end_critic import run_with_critic, with_end_critic
from basanite.llm import ModelSpec
from support.critic_agents import ACCEPT, by_plain_graph
from support.mock_endpoint import MockConfig, MockEndpoint
from support.scripted_chat import ScriptedChat


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    logger = "basanite.graphs.end_critic"
    return [
        one.getMessage()
        for one in caplog.records
        if one.levelno == logging.WARNING and one.name.startswith(logger)
    ]


def test_an_endpoint_that_is_gone_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with MockEndpoint() as mock:
        gone = mock.url
    for turn in (1, 2):
        found = run_with_critic(lambda task: "x", "Which?", gone, rounds=3)
        assert (found.answer, found.stop_reason) == ("x", "critic_failed")
        told = warnings_of(caplog)
        assert len(told) == turn
        assert gone in told[-1] and "no connection" in told[-1]
        assert all(one.exc_info is None for one in caplog.records), "it is no fault of the code"


def test_an_endpoint_that_fails_later_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with MockEndpoint(MockConfig(), responder=lambda body: ACCEPT) as mock:
        run = EndpointRun(mock.url)
        assert run() == "accepted"
        assert warnings_of(caplog) == []
    assert run() == "critic_failed"
    (told,) = warnings_of(caplog)
    assert run.url in told and "connection_failed" in told


class EndpointRun:
    """One open critic for several turns."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.graph = with_end_critic(by_plain_graph(ScriptedChat(lines=["x"])), ModelSpec(url))

    def __call__(self) -> str:
        given: Any = {"messages": [("user", "Which?")], "next_step": None}
        return str(self.graph.invoke(given)["critic"]["stop_reason"])


def test_a_critic_that_says_nonsense_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    run_with_critic(lambda task: "x", "Which?", ScriptedChat(lines=["hm"]))
    (told,) = warnings_of(caplog)
    assert "reply_invalid" in told and "scripted" in told.lower()
