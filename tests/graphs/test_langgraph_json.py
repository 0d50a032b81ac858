"""Each factory that `langgraph.json` lists loads by its path, and its graph runs."""

from __future__ import annotations

import importlib.util
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from basanite.errors import CapabilityError, InputError
from basanite.schema import Answer
from support.mock_endpoint import MockConfig, MockEndpoint

ROOT = Path(__file__).resolve().parents[2]
SUBJECT = {
    "subject": Answer(
        id="i", question="q", answer="A rises.", truth="A falls.", truth_claims=("A falls.",)
    ).model_dump(mode="json")
}
LISTED = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))


def load(target: str) -> AbstractAsyncContextManager[Any]:
    """Load a factory as LangGraph's tools do: the file by its path, then the name in it."""
    path, _, name = target.partition(":")
    spec = importlib.util.spec_from_file_location("listed_graph", ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    factory: AbstractAsyncContextManager[Any] = getattr(module, name)()
    return factory


def test_the_list() -> None:
    assert set(LISTED["graphs"]) == {"claim_entailment", "geval"}
    assert LISTED["dependencies"] == ["."]


@pytest.mark.parametrize("name", sorted(LISTED["graphs"]))
async def test_each_factory_gives_a_graph_that_runs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MockEndpoint() as mock:
        monkeypatch.setenv("BASANITE_ENDPOINT", mock.url)
        monkeypatch.setenv("BASANITE_MODEL", "mock-model")
        async with load(LISTED["graphs"][name]) as graph:
            assert graph.checkpointer is None
            state = await graph.ainvoke(SUBJECT)
    primary = {"claim_entailment": "recall", "geval": "rating"}[name]
    assert 0 <= state["scores"][primary]["value"] <= 5
    assert state["usage"]["calls"] >= 3


@pytest.mark.parametrize(
    ("mode", "calls"), [("facts", 4), ("sampled", 5), ("", 4)], ids=["facts", "sampled", "unset"]
)
async def test_modes_of_geval(mode: str, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_GEVAL_MODE", mode)
    with MockEndpoint() as mock:
        monkeypatch.setenv("BASANITE_ENDPOINT", mock.url)
        async with load(LISTED["graphs"]["geval"]) as graph:
            state = await graph.ainvoke(SUBJECT)
    assert 1 <= state["scores"]["rating"]["value"] <= 5
    assert state["usage"]["calls"] == calls


async def test_a_mode_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_GEVAL_MODE", "vibes")
    with pytest.raises(InputError, match="facts, rating or sampled"):
        async with load(LISTED["graphs"]["geval"]):
            pass


async def test_a_rating_by_an_endpoint_without_log_probabilities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BASANITE_GEVAL_MODE", "rating")
    with MockEndpoint(MockConfig(logprobs=False)) as mock:
        monkeypatch.setenv("BASANITE_ENDPOINT", mock.url)
        with pytest.raises(CapabilityError, match="sampled"):
            async with load(LISTED["graphs"]["geval"]):
                pass


async def test_without_an_endpoint_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BASANITE_ENDPOINT", raising=False)
    with pytest.raises(InputError, match="BASANITE_ENDPOINT"):
        async with load(LISTED["graphs"]["claim_entailment"]):
            pass
