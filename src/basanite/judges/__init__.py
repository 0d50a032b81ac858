"""Structure in, verdicts out: judges of answers, and the scores that follow from labels."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._checker import EntailmentChecker
    from ._checking import Checked, CheckOptions
    from ._labeller import FactLabeller
    from ._lexical import LexicalForm, LexicalJudge
    from ._protocol import Judge
    from ._quotes import QuoteSource
    from ._ragchecker import aggregate_ragchecker, ragchecker_metrics
    from ._ragchecker_file import ragchecker_file
    from ._scores import (
        CLAIM_SCORES,
        ClaimOutcomes,
        Direction,
        Outcome,
        claim_scores,
        primary_score,
        unscored,
    )

_HOMES = {
    "CLAIM_SCORES": "_scores",
    "CheckOptions": "_checking",
    "Checked": "_checking",
    "ClaimOutcomes": "_scores",
    "Direction": "_scores",
    "EntailmentChecker": "_checker",
    "FactLabeller": "_labeller",
    "Judge": "_protocol",
    "LexicalForm": "_lexical",
    "LexicalJudge": "_lexical",
    "Outcome": "_scores",
    "QuoteSource": "_quotes",
    "aggregate_ragchecker": "_ragchecker",
    "claim_scores": "_scores",
    "primary_score": "_scores",
    "ragchecker_file": "_ragchecker_file",
    "ragchecker_metrics": "_ragchecker",
    "unscored": "_scores",
}

__all__ = [
    "CLAIM_SCORES",
    "CheckOptions",
    "Checked",
    "ClaimOutcomes",
    "Direction",
    "EntailmentChecker",
    "FactLabeller",
    "Judge",
    "LexicalForm",
    "LexicalJudge",
    "Outcome",
    "QuoteSource",
    "aggregate_ragchecker",
    "claim_scores",
    "primary_score",
    "ragchecker_file",
    "ragchecker_metrics",
    "unscored",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
