"""`judge geval`: atomic facts with labels, or a rating from 1 to 5."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Rating: smallest share of the probability that must fall on valid digits; 0.5 "
            "where not given.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Sampled: ratings per item; 5 where not given.",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=2.0,
            help="Sampled: of the ratings; 1 where not given.",
            show_default=False,
        ),
    ] = None,
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
    from ..suites import FactsRecipe, RatingRecipe

    facts = mode is ModeChoice.FACTS
    options = _rating_options(
        mode,
        {
            "reasoning": reasoning or None,
            "criteria": None if criteria is None else _read_criteria(criteria),
            "least_mass": least_mass,
            "samples": samples,
            "temperature": temperature,
        },
    )
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


_READ_IN = {
    "reasoning": (ModeChoice.RATING, ModeChoice.SAMPLED),
    "criteria": (ModeChoice.RATING, ModeChoice.SAMPLED),
    "least_mass": (ModeChoice.RATING,),
    "samples": (ModeChoice.SAMPLED,),
    "temperature": (ModeChoice.SAMPLED,),
}
"""The modes that read a setting of a rating; in another it would change nothing."""


def _rating_options(mode: ModeChoice, settings: Mapping[str, Any]) -> RatingOptions:
    """Make the options of the settings that were given, or refuse one that the mode never reads."""
    from ..judges import RatingOptions

    given = {name: value for name, value in settings.items() if value is not None}
    for name in given:
        if mode not in _READ_IN[name]:
            raise InputError(
                f"--{name.replace('_', '-')} changes nothing in the mode {mode.value}",
                todo=f"Leave it out, or take --mode {' or '.join(_READ_IN[name])}",
            )
    return RatingOptions(mode="sampled" if mode is ModeChoice.SAMPLED else "weighted", **given)


def _read_criteria(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the criteria can't be read: {error}", where=str(file)) from None
    if not text.strip():
        raise InputError("the file holds no criteria", where=str(file))
    return text.strip()
