"""Structure in, verdicts out: judges of answers, and the scores that follow from labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy

if TYPE_CHECKING:
    from ._checker import EntailmentChecker
    from ._checking import Checked, CheckOptions
    from ._choice import CHOICE_JUDGE, ChoiceJudge, ChoiceKey
    from ._choice_file import ChoiceQuestion, choice_file, choice_predictions
    from ._choice_metrics import (
        CHOICE_SCORES,
        ChoiceBaselines,
        ChoiceMeans,
        PublishedMetrics,
        choice_scores,
    )
    from ._choice_set import choice_set
    from ._fact_scores import (
        FACT_SCORES,
        FactOutcome,
        FactOutcomes,
        complete_rating,
        fact_scores,
        literal_rating,
    )
    from ._labeller import FactLabeller
    from ._letters import read_letter_list, read_letters
    from ._lexical import LexicalForm, LexicalJudge
    from ._protocol import Judge
    from ._quotes import QuoteSource
    from ._ragchecker import aggregate_ragchecker, ragchecker_metrics
    from ._ragchecker_file import ragchecker_file
    from ._rating import RATING_SCORES, Rated, Rater, RatingMode, RatingOptions
    from ._rating_reading import ReadRating, Scale, read_rating
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
    "CHOICE_JUDGE": "_choice",
    "CHOICE_SCORES": "_choice_metrics",
    "CLAIM_SCORES": "_scores",
    "FACT_SCORES": "_fact_scores",
    "RATING_SCORES": "_rating",
    "CheckOptions": "_checking",
    "Checked": "_checking",
    "ChoiceBaselines": "_choice_metrics",
    "ChoiceJudge": "_choice",
    "ChoiceKey": "_choice",
    "ChoiceMeans": "_choice_metrics",
    "ChoiceQuestion": "_choice_file",
    "ClaimOutcomes": "_scores",
    "Direction": "_scores",
    "EntailmentChecker": "_checker",
    "FactLabeller": "_labeller",
    "FactOutcome": "_fact_scores",
    "FactOutcomes": "_fact_scores",
    "Judge": "_protocol",
    "LexicalForm": "_lexical",
    "LexicalJudge": "_lexical",
    "Outcome": "_scores",
    "PublishedMetrics": "_choice_metrics",
    "QuoteSource": "_quotes",
    "Rated": "_rating",
    "Rater": "_rating",
    "RatingMode": "_rating",
    "RatingOptions": "_rating",
    "ReadRating": "_rating_reading",
    "Scale": "_rating_reading",
    "aggregate_ragchecker": "_ragchecker",
    "choice_file": "_choice_file",
    "choice_predictions": "_choice_file",
    "choice_scores": "_choice_metrics",
    "choice_set": "_choice_set",
    "claim_scores": "_scores",
    "complete_rating": "_fact_scores",
    "fact_scores": "_fact_scores",
    "literal_rating": "_fact_scores",
    "primary_score": "_scores",
    "ragchecker_file": "_ragchecker_file",
    "ragchecker_metrics": "_ragchecker",
    "read_letter_list": "_letters",
    "read_letters": "_letters",
    "read_rating": "_rating_reading",
    "unscored": "_scores",
}

__all__ = [
    "CHOICE_JUDGE",
    "CHOICE_SCORES",
    "CLAIM_SCORES",
    "FACT_SCORES",
    "RATING_SCORES",
    "CheckOptions",
    "Checked",
    "ChoiceBaselines",
    "ChoiceJudge",
    "ChoiceKey",
    "ChoiceMeans",
    "ChoiceQuestion",
    "ClaimOutcomes",
    "Direction",
    "EntailmentChecker",
    "FactLabeller",
    "FactOutcome",
    "FactOutcomes",
    "Judge",
    "LexicalForm",
    "LexicalJudge",
    "Outcome",
    "PublishedMetrics",
    "QuoteSource",
    "Rated",
    "Rater",
    "RatingMode",
    "RatingOptions",
    "ReadRating",
    "Scale",
    "aggregate_ragchecker",
    "choice_file",
    "choice_predictions",
    "choice_scores",
    "choice_set",
    "claim_scores",
    "complete_rating",
    "fact_scores",
    "literal_rating",
    "primary_score",
    "ragchecker_file",
    "ragchecker_metrics",
    "read_letter_list",
    "read_letters",
    "read_rating",
    "unscored",
]


__getattr__ = lazy(__name__, _HOMES)
