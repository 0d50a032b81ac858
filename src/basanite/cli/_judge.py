"""`judge`: answers and truths in, scores per claim and a run folder out."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from ..runs import Limits
from . import _options as opt
from ._choice import judge_choice
from ._console import reported
from ._geval import geval
from ._judging import RunOptions, judge_by_models, judge_lexical, scan
from ._models import concurrency_for, models_of

judge_app = typer.Typer(help="Judge answers against truths.")


class DirectionChoice(StrEnum):
    """Which way claims are held."""

    BOTH = "both"
    PRECISION = "precision"
    RECALL = "recall"


class ClaimSource(StrEnum):
    """How a text becomes claims."""

    MODEL = "model"
    SENTENCES = "sentences"


class FormChoice(StrEnum):
    """Forms of the lexical judge."""

    WEIGHTED = "weighted"
    TOKEN_F1 = "token-f1"


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command tree."""
    judge_app.command("choice")(reported(judge_choice))
    judge_app.command("claims")(reported(_claims))
    judge_app.command("geval")(reported(geval))
    judge_app.command("lexical")(reported(_lexical))
    app.add_typer(judge_app, name="judge")


def _claims(
    source: opt.Input,
    *,
    out: opt.Out,
    endpoint: opt.Endpoints,
    model: opt.ModelNames = None,
    gguf: opt.Gguf = None,
    concurrency: opt.Concurrency = None,
    resume: opt.Resume = False,
    cache: opt.Cache = opt.CacheChoice.USE,
    direction: Annotated[
        DirectionChoice, typer.Option(help="Check claims of the answer, of the truth, or both.")
    ] = DirectionChoice.BOTH,
    claims_by: Annotated[
        ClaimSource, typer.Option(help="Who splits texts into claims.")
    ] = ClaimSource.MODEL,
    triplets: Annotated[
        bool, typer.Option("--triplets", help="Ask for claims as subject, relation, object.")
    ] = False,
    per_request: Annotated[
        int, typer.Option(min=1, max=50, help="Claims checked in one request.", metavar="N")
    ] = 5,
    max_unscored: opt.MaxUnscored = 0.05,
    item_seconds: opt.ItemSeconds = 600.0,
    attempt_seconds: opt.AttemptSeconds = 180.0,
    max_seconds: opt.RunSeconds = None,
    max_tokens: opt.RunTokens = None,
    ledger: opt.Ledger = None,
    fsync: opt.Fsync = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Judge by claims: precision, recall, F1, and with contexts all of RAGChecker's metrics."""
    from ..suites import ClaimsOptions, ClaimsRecipe

    concurrency = concurrency_for(endpoint, concurrency)
    models = models_of(
        endpoint,
        model,
        roles=("check", "extract"),
        gguf=gguf,
        concurrency=concurrency,
        attempt_seconds=attempt_seconds,
        cache=cache.value,
    )
    limits = Limits(
        concurrency=concurrency,
        item_seconds=item_seconds,
        run_seconds=max_seconds,
        max_tokens=max_tokens,
    )
    options = ClaimsOptions(
        direction=direction.value,
        claims_by=claims_by.value,
        triplets=triplets,
        per_request=per_request,
    )
    run = RunOptions(out, limits, resume, max_unscored, as_json, quiet, cache.value, ledger, fsync)
    return asyncio.run(
        judge_by_models(
            scan(source),
            models,
            lambda by: ClaimsRecipe(by["check"], options, extract=by["extract"]),
            run,
        )
    )


def _lexical(
    source: opt.Input,
    *,
    out: opt.Out,
    form: Annotated[FormChoice, typer.Option(help="How words are weighed.")] = FormChoice.WEIGHTED,
    resume: opt.Resume = False,
    max_unscored: opt.MaxUnscored = 0.05,
    ledger: opt.Ledger = None,
    fsync: opt.Fsync = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Judge by word overlap, without a model: the baseline that each judge must beat."""
    run = RunOptions(
        out, Limits(), resume, max_unscored, as_json, quiet, ledger_url=ledger, fsync=fsync
    )
    return asyncio.run(judge_lexical(scan(source), form.value, run))
