"""Graphs for LangGraph's own tools, as listed in `langgraph.json`; configured by environment.

`BASANITE_ENDPOINT` is the URL of an OpenAI-compatible endpoint, or `embedded`; `BASANITE_MODEL`
a model's name where the endpoint has several. No checkpointer: those tools bring their own.

The tools load this file by its path, outside of its package: it imports by full names only.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from basanite.errors import InputError
from basanite.extractors import ClaimExtractor
from basanite.graphs import ClaimParts, JudgeState, build_claim_entailment
from basanite.judges import EntailmentChecker
from basanite.llm import ModelSpec, open_model

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


@asynccontextmanager
async def claim_entailment() -> AsyncIterator[
    CompiledStateGraph[JudgeState, None, JudgeState, JudgeState]
]:
    """Open the model that the environment names and give the graph over it.

    Raises:
        InputError: `BASANITE_ENDPOINT` is not set.
        EndpointError: the endpoint does not answer.
    """
    endpoint = os.environ.get("BASANITE_ENDPOINT")
    if not endpoint:
        raise InputError(
            "no model endpoint is set",
            where="BASANITE_ENDPOINT",
            todo="Set it to the URL of an OpenAI-compatible endpoint, or to 'embedded'",
        )
    spec = ModelSpec(endpoint=endpoint, model=os.environ.get("BASANITE_MODEL") or None)
    async with open_model(spec, None) as model:
        yield build_claim_entailment(ClaimParts(ClaimExtractor(model), EntailmentChecker(model)))
