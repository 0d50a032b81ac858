"""Graphs for LangGraph's own tools, as listed in `langgraph.json`; configured by environment.

`BASANITE_ENDPOINT` is the URL of an OpenAI-compatible endpoint, or `embedded`; `BASANITE_MODEL`
a model's name where the endpoint has several; `BASANITE_GEVAL_MODE` one of `facts` (the default),
`rating` and `sampled`. No checkpointer: those tools bring their own.

The tools load this file by its path, outside of its package: it imports by full names only.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from basanite.errors import InputError
from basanite.extractors import ClaimExtractor, ExtractOptions
from basanite.graphs import (
    ClaimParts,
    FactParts,
    JudgeState,
    RatingParts,
    build_claim_entailment,
    build_geval,
)
from basanite.judges import EntailmentChecker, FactLabeller, Rater, RatingOptions
from basanite.llm import ChatModel, ModelSpec, open_model

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    Graph = CompiledStateGraph[JudgeState, None, JudgeState, JudgeState]


@asynccontextmanager
async def claim_entailment() -> AsyncIterator[Graph]:
    """Open the model that the environment names and give the graph over it.

    Raises:
        InputError: `BASANITE_ENDPOINT` is not set.
        EndpointError: the endpoint does not answer.
    """
    async with _model() as model:
        yield build_claim_entailment(ClaimParts(ClaimExtractor(model), EntailmentChecker(model)))


@asynccontextmanager
async def geval() -> AsyncIterator[Graph]:
    """Open the model that the environment names and give the graph over it.

    Raises:
        InputError: `BASANITE_ENDPOINT` is not set, or `BASANITE_GEVAL_MODE` is no mode.
        CapabilityError: the mode needs log probabilities and the model gives none.
        EndpointError: the endpoint does not answer.
    """
    mode = os.environ.get("BASANITE_GEVAL_MODE") or "facts"
    if mode not in {"facts", "rating", "sampled"}:
        raise InputError(
            f"{mode[:40]!r} is no mode of geval",
            where="BASANITE_GEVAL_MODE",
            todo="Set it to facts, rating or sampled",
        )
    async with _model() as model:
        if mode == "facts":
            extractor = ClaimExtractor(model, ExtractOptions(form="facts"))
            yield build_geval(FactParts(extractor, FactLabeller(model), EntailmentChecker(model)))
        else:
            options = RatingOptions(mode="sampled" if mode == "sampled" else "weighted")
            yield build_geval(RatingParts(Rater(model, options)))


@asynccontextmanager
async def _model() -> AsyncIterator[ChatModel]:
    endpoint = os.environ.get("BASANITE_ENDPOINT")
    if not endpoint:
        raise InputError(
            "no model endpoint is set",
            where="BASANITE_ENDPOINT",
            todo="Set it to the URL of an OpenAI-compatible endpoint, or to 'embedded'",
        )
    spec = ModelSpec(endpoint=endpoint, model=os.environ.get("BASANITE_MODEL") or None)
    async with open_model(spec, None) as model:
        yield model
