"""Scores of one item from the labels of its claims; undefined is never a number.

The names and formulas are RAGChecker's. What differs from `ragchecker_metrics` is the empty
case: a share over no claims, or over no contexts, has an `UnscoredReason` and no value. One
exception is arithmetic: F1 is 0 where the recall is 0 and the answer states nothing, since
2PR / (P + R) is then 0 whatever P were. So an answer that says only that it could not find
out does not escape the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import UnscoredReason
from ..schema import Label, Score

Direction = Literal["both", "precision", "recall"]
Outcome = Label | UnscoredReason
"""What is known of one claim against one text: its label, or why there is none."""

CLAIM_SCORES = (
    "f1",
    "precision",
    "recall",
    "claim_recall",
    "context_precision",
    "context_utilization",
    "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant",
    "hallucination",
    "self_knowledge",
    "faithfulness",
)
"""Names of all scores of the claims judge, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class ClaimOutcomes:
    """All that is known of one item's claims; a reason stands where a whole part is missing."""

    answer: Sequence[Outcome] | UnscoredReason
    """Claims of the answer against the truth."""
    truth: Sequence[Outcome] | UnscoredReason
    """Claims of the truth against the answer."""
    answer_contexts: Sequence[Sequence[Outcome]] | UnscoredReason = UnscoredReason.NO_CONTEXTS
    """Claims of the answer (rows) against the contexts (columns)."""
    truth_contexts: Sequence[Sequence[Outcome]] | UnscoredReason = UnscoredReason.NO_CONTEXTS
    """Claims of the truth (rows) against the contexts (columns)."""


def primary_score(direction: Direction) -> str:
    """Name the score that stands for the whole when claims are checked in a direction."""
    return "f1" if direction == "both" else direction


def unscored(reason: UnscoredReason) -> dict[str, Score]:
    """Give every score of the claims judge the same reason."""
    score = Score(unscored_reason=reason)
    return dict.fromkeys(CLAIM_SCORES, score)


def claim_scores(outcomes: ClaimOutcomes) -> dict[str, Score]:
    """Compute every score of the claims judge.

    A score that needs a verdict which is missing is unscored with that verdict's reason; of
    several the first, in the order of the claims.

    Returns:
        All names of `CLAIM_SCORES`; values are shares from 0 to 1.
    """
    correct, recalled = _row(outcomes.answer), _row(outcomes.truth)
    claims_found = _grid(outcomes.answer_contexts)
    truth_found = _grid(outcomes.truth_contexts)
    precision, recall = _share(correct), _share(recalled)
    scores = {
        "f1": _f1(precision, recall),
        "precision": precision,
        "recall": recall,
        **_retriever(truth_found, recalled),
        **_generator(claims_found, correct, truth_found),
    }
    return {name: _score(scores[name]) for name in CLAIM_SCORES}


_Row = list[bool] | UnscoredReason
_Grid = list[list[bool]] | UnscoredReason
_Value = float | UnscoredReason


def _row(outcomes: Sequence[Outcome] | UnscoredReason) -> _Row:
    """Turn labels into "entailed or not"; an empty or an incomplete row into its reason."""
    if isinstance(outcomes, UnscoredReason):
        return outcomes
    if not outcomes:
        return UnscoredReason.NO_CLAIMS
    for outcome in outcomes:
        if isinstance(outcome, UnscoredReason):
            return outcome
    return [outcome is Label.ENTAILED for outcome in outcomes]


def _grid(outcomes: Sequence[Sequence[Outcome]] | UnscoredReason) -> _Grid:
    if isinstance(outcomes, UnscoredReason):
        return outcomes
    if not outcomes:
        return UnscoredReason.NO_CLAIMS
    rows: list[list[bool]] = []
    for labels in outcomes:
        if not labels:
            return UnscoredReason.NO_CONTEXTS
        row = _row(labels)
        if isinstance(row, UnscoredReason):
            return row
        rows.append(row)
    return rows


def _share(flags: _Row) -> _Value:
    if isinstance(flags, UnscoredReason):
        return flags
    return sum(flags) / len(flags) if flags else UnscoredReason.UNDEFINED


def _f1(precision: _Value, recall: _Value) -> _Value:
    if precision is UnscoredReason.NO_CLAIMS and recall == 0:
        return 0.0
    if isinstance(precision, UnscoredReason):
        return precision
    if isinstance(recall, UnscoredReason):
        return recall
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _retriever(truth_found: _Grid, recalled: _Row) -> dict[str, _Value]:
    if isinstance(truth_found, UnscoredReason):
        names = ("claim_recall", "context_precision", "context_utilization")
        return dict.fromkeys(names, truth_found)
    found = [any(row) for row in truth_found]
    used: _Row = recalled
    if not isinstance(recalled, UnscoredReason):
        used = [use for use, there in zip(recalled, found, strict=True) if there]
    return {
        "claim_recall": _share(found),
        "context_precision": _share(_useful(truth_found)),
        "context_utilization": _share(used),
    }


def _generator(claims_found: _Grid, correct: _Row, truth_found: _Grid) -> dict[str, _Value]:
    scores: dict[str, _Value] = {}
    noise = ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant")
    if isinstance(claims_found, UnscoredReason):
        names = (*noise, "hallucination", "self_knowledge", "faithfulness")
        return dict.fromkeys(names, claims_found)
    backed = [any(row) for row in claims_found]
    scores["faithfulness"] = _share(backed)
    if isinstance(correct, UnscoredReason):
        return scores | dict.fromkeys((*noise, "hallucination", "self_knowledge"), correct)
    pairs = list(zip(correct, backed, strict=True))
    scores["hallucination"] = _share([not right and not there for right, there in pairs])
    scores["self_knowledge"] = _share([right and not there for right, there in pairs])
    if isinstance(truth_found, UnscoredReason):
        return scores | dict.fromkeys(noise, truth_found)
    useful = _useful(truth_found)
    relevant, irrelevant = [], []
    for right, row in zip(correct, claims_found, strict=True):
        from_useful = any(use and there for use, there in zip(useful, row, strict=True))
        relevant.append(not right and from_useful)
        irrelevant.append(not right and any(row) and not from_useful)
    scores["noise_sensitivity_in_relevant"] = _share(relevant)
    scores["noise_sensitivity_in_irrelevant"] = _share(irrelevant)
    return scores


def _useful(truth_found: list[list[bool]]) -> list[bool]:
    """Which contexts entail at least one claim of the truth."""
    return [any(column) for column in zip(*truth_found, strict=True)]


_FIXED = {reason: Score(unscored_reason=reason) for reason in UnscoredReason}


def _score(value: _Value) -> Score:
    # Scores without a value are shared: most of an item's scores are one and the same.
    return _FIXED[value] if isinstance(value, UnscoredReason) else Score(value=value)
