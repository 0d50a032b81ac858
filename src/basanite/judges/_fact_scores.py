"""The 1 to 5 rating of HeurekaBench's rubric, computed from the labels of a truth's facts.

With n facts, of which P are present, H partial, M missing and I incorrect, and C facts of the
answer that contradict the truth, each rule goes from top to bottom and takes the first line that
holds:

====== ===================================== ===================================
rating `literal_rating`                      `complete_rating`
====== ===================================== ===================================
1                                            2 I > n, or P = H = 0
5      P = n                                 P = n and C = 0
4      2 P > n and I = 0                     2 P > n and I = C = 0
3      P > 0                                 P > 0
2      H > 0                                 H > 0
1      otherwise                             otherwise
====== ===================================== ===================================

The published rubric leaves gaps: "most" facts have no number (here: more than half), and an
answer of which most facts are wrong fits rating 1 and, with one fact right, rating 3 as well. The
literal rule reads the rubric from 5 down, as it is written, so that there 3 wins. The complete
rule, ours, lets an answer that is mostly wrong get 1 whatever else it says, and counts a
contradiction that no fact of the truth covers. Under both, a label that is replaced by a better
one never lowers the rating.

Source: HeurekaBench (ICLR 2026), judge prompt of the open questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..errors import UnscoredReason
from ..schema import FactLabel, Label, Score

FACT_SCORES = (
    "rating",
    "rating_literal",
    "coverage",
    "present",
    "partial",
    "missing",
    "incorrect",
    "further",
    "conflicting",
)
"""Names of all scores of `geval` over facts, in the order in which they are shown."""

L = TypeVar("L", FactLabel, Label)

FactOutcome = FactLabel | UnscoredReason
"""What is known of one fact of the truth: its label, or why there is none."""


@dataclass(frozen=True, slots=True)
class FactOutcomes:
    """All that is known of one item's facts; a reason stands where a whole part is missing."""

    truth: Sequence[FactOutcome] | UnscoredReason
    """Facts of the truth, as the answer states them."""
    answer: Sequence[Label | UnscoredReason] | UnscoredReason
    """Facts of the answer against the truth: `neutral` ones are further findings."""


def literal_rating(labels: Iterable[FactLabel]) -> int:
    """Rate by the rubric as it is written; see the module's table.

    Raises:
        ValueError: there are no labels.
    """
    n, counts = _counted(labels)
    present, wrong = counts[FactLabel.PRESENT], counts[FactLabel.INCORRECT]
    if present == n:
        return 5
    if 2 * present > n and not wrong:
        return 4
    if present:
        return 3
    return 2 if counts[FactLabel.PARTIAL] else 1


def complete_rating(labels: Iterable[FactLabel], conflicts: int = 0) -> int:
    """Rate by the rubric with its gaps closed; see the module's table.

    Args:
        labels: of the truth's facts.
        conflicts: facts of the answer that contradict the truth.

    Raises:
        ValueError: there are no labels.
    """
    n, counts = _counted(labels)
    present, wrong = counts[FactLabel.PRESENT], counts[FactLabel.INCORRECT]
    if 2 * wrong > n or not (present or counts[FactLabel.PARTIAL]):
        return 1
    if present == n and not conflicts:
        return 5
    if 2 * present > n and not wrong and not conflicts:
        return 4
    return 3 if present else 2


def fact_scores(outcomes: FactOutcomes) -> dict[str, Score]:
    """Compute every score of `geval` over facts.

    A score that needs a verdict which is missing is unscored with that verdict's reason; of
    several the first, in the order of the facts.

    Returns:
        All names of `FACT_SCORES`. `rating` and `rating_literal` run from 1 to 5; `coverage` is
        (P + H / 2) / n; the others are shares from 0 to 1: of the truth's facts, and for
        `further` (conflict with nothing) and `conflicting` of the answer's facts.
    """
    labels = _known(outcomes.truth)
    verdicts = _known(outcomes.answer)
    of_truth = ("rating", "rating_literal", "coverage", *(label.value for label in FactLabel))
    scores: dict[str, float | UnscoredReason] = {}
    if isinstance(labels, UnscoredReason):
        scores |= dict.fromkeys(of_truth, labels)
    else:
        n, counts = _counted(labels)
        scores["rating_literal"] = literal_rating(labels)
        scores["rating"] = _rating(labels, verdicts)
        scores |= {label.value: counts[label] / n for label in FactLabel}
        scores["coverage"] = (counts[FactLabel.PRESENT] + counts[FactLabel.PARTIAL] / 2) / n
    if isinstance(verdicts, UnscoredReason):
        scores |= dict.fromkeys(("further", "conflicting"), verdicts)
    else:
        for name, label in (("further", Label.NEUTRAL), ("conflicting", Label.CONTRADICTED)):
            scores[name] = sum(one is label for one in verdicts) / len(verdicts)
    return {name: _score(scores[name]) for name in FACT_SCORES}


def _rating(
    labels: Sequence[FactLabel], verdicts: Sequence[Label] | UnscoredReason
) -> float | UnscoredReason:
    if verdicts is UnscoredReason.NO_CLAIMS:
        verdicts = ()  # an answer without a finding contradicts nothing
    if isinstance(verdicts, UnscoredReason):
        return verdicts
    return complete_rating(labels, sum(one is Label.CONTRADICTED for one in verdicts))


def _known(outcomes: Sequence[L | UnscoredReason] | UnscoredReason) -> list[L] | UnscoredReason:
    if isinstance(outcomes, UnscoredReason):
        return outcomes
    if not outcomes:
        return UnscoredReason.NO_CLAIMS
    known: list[L] = []
    for one in outcomes:
        if isinstance(one, UnscoredReason):
            return one
        known.append(one)
    return known


def _counted(labels: Iterable[FactLabel]) -> tuple[int, Counter[FactLabel]]:
    counts = Counter(labels)
    if not counts:
        raise ValueError("a truth without facts has no rating")
    return counts.total(), counts


def _score(value: float | UnscoredReason) -> Score:
    if isinstance(value, UnscoredReason):
        return Score(unscored_reason=value)
    return Score(value=value)
