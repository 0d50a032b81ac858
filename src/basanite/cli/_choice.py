"""`judge choice`: letters of multiple-choice answers against the right ones, without a model."""

from __future__ import annotations

import asyncio

from ..runs import Limits
from . import _options as opt
from ._judging import RunOptions, judge_without_model, scan


def judge_choice(
    source: opt.Input,
    *,
    out: opt.Out,
    resume: opt.Resume = False,
    max_unscored: opt.MaxUnscored = 0.05,
    ledger: opt.Ledger = None,
    fsync: opt.Fsync = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Judge multiple-choice answers by their letters, beside always-B and other baselines.

    Rows need `options`: a list of texts, or an object of letters and texts. The truth is letters.
    """
    from ..suites import ChoiceRecipe

    run = RunOptions(
        out, Limits(), resume, max_unscored, as_json, quiet, ledger_url=ledger, fsync=fsync
    )
    found = scan(source)
    return asyncio.run(judge_without_model(found, lambda: ChoiceRecipe(found), run))
