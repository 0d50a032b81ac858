"""Each factory that `langgraph.json` lists loads by its path, and its graph runs."""

from __future__ import annotations

import importlib.util
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from basanite.errors import InputError
from basanite.schema import Answer
from support.mock_endpoint import MockEndpoint

ROOT = Path(__file__).resolve().parents[2]
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
    assert "claim_entailment" in LISTED["graphs"]
    assert LISTED["dependencies"] == ["."]


@pytest.mark.parametrize("name", sorted(LISTED["graphs"]))
async def test_each_factory_gives_a_graph_that_runs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Answer(
        id="i", question="q", answer="A rises.", truth="A falls.", truth_claims=("A falls.",)
    )
    with MockEndpoint() as mock:
        monkeypatch.setenv("BASANITE_ENDPOINT", mock.url)
        monkeypatch.setenv("BASANITE_MODEL", "mock-model")
        async with load(LISTED["graphs"][name]) as graph:
            assert graph.checkpointer is None
            state = await graph.ainvoke({"subject": answer.model_dump(mode="json")})
    assert state["scores"]["recall"]["value"] in {0.0, 1.0}
    assert state["usage"]["calls"] >= 3


async def test_without_an_endpoint_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BASANITE_ENDPOINT", raising=False)
    with pytest.raises(InputError, match="BASANITE_ENDPOINT"):
        async with load(LISTED["graphs"]["claim_entailment"]):
            pass
