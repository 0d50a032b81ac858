"""`judge geval`: atomic facts with labels, or a rating from 1 to 5."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from ..runs import Limits
from . import _options as opt
from ._judging import RunOptions, judge_by_models, scan
from ._models import concurrency_for, models_of

if TYPE_CHECKING:
    from ..judges import RatingOptions
    from ..llm import ChatModel
    from ..suites import Recipe


class ModeChoice(StrEnum):
    """How the score is made."""

    FACTS = "facts"
    RATING = "rating"
    SAMPLED = "sampled"


def geval(
    source: opt.Input,
    *,
    out: opt.Out,
    endpoint: opt.Endpoints,
    model: opt.ModelNames = None,
    gguf: opt.Gguf = None,
    concurrency: opt.Concurrency = None,
    resume: opt.Resume = False,
    cache: opt.Cache = opt.CacheChoice.USE,
    mode: Annotated[
        ModeChoice,
        typer.Option(
            help="Score computed from labels of atomic facts; a digit weighted by its token "
            "probabilities; or the mean of several ratings."
        ),
    ] = ModeChoice.FACTS,
    reasoning: Annotated[
        bool, typer.Option("--reasoning", help="Rating: let the model reason first.")
    ] = False,
    criteria: Annotated[
        Path | None,
        typer.Option(
            help="Rating: a text that says what is rated, instead of correctness.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    least_mass: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Rating: smallest share of the probability that must fall on valid digits.",
        ),
    ] = 0.5,
    samples: Annotated[
        int, typer.Option(min=1, max=100, help="Sampled: ratings per item.", metavar="N")
    ] = 5,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="Sampled: of the ratings.")
    ] = 1.0,
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
    """Judge by G-Eval, from 1 to 5: over atomic facts (HeurekaBench), or by a rating."""
    from ..judges import RatingOptions
    from ..suites import FactsRecipe, RatingRecipe

    facts = mode is ModeChoice.FACTS
    options = RatingOptions(
        mode="sampled" if mode is ModeChoice.SAMPLED else "weighted",
        reasoning=reasoning,
        criteria=None if criteria is None else _read_criteria(criteria),
        least_mass=least_mass,
        samples=samples,
        temperature=temperature,
    )
    _refuse_strays(mode, options)
    concurrency = concurrency_for(endpoint, concurrency)
    models = models_of(
        endpoint,
        model,
        roles=("check", "extract") if facts else ("rate",),
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
    run = RunOptions(out, limits, resume, max_unscored, as_json, quiet, cache.value, ledger, fsync)

    def recipe_of(by: dict[str, ChatModel]) -> Recipe:
        if facts:
            return FactsRecipe(by["check"], extract=by["extract"])
        return RatingRecipe(by["rate"], options)

    return asyncio.run(judge_by_models(scan(source), models, recipe_of, run))


def _refuse_strays(mode: ModeChoice, options: RatingOptions) -> None:
    """Refuse settings of a rating in the mode that reads none: they would change nothing."""
    if mode is ModeChoice.FACTS and (options.reasoning or options.criteria is not None):
        raise InputError(
            "--reasoning and --criteria are for a rating; facts are labelled by a fixed rubric",
            todo="Leave them out, or take --mode rating or sampled",
        )


def _read_criteria(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the criteria can't be read: {error}", where=str(file)) from None
    if not text.strip():
        raise InputError("the file holds no criteria", where=str(file))
    return text.strip()
