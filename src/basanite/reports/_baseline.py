"""The lexical baseline on a run's own items: the number that every judge must beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..judges import CHOICE_JUDGE, LexicalJudge
from ..schema import Answer
from ._tally import Column, Tally
from ._view import RunView

BASELINE_JUDGE = "lexical"
BASELINE_FORM: Final = "weighted"
BASELINE_PRIMARY = "f1"


@dataclass
class BaselineScores:
    """Scores of the baseline for the items that the judge scored too, by position."""

    scores: dict[str, Column] = field(default_factory=dict)
    n_compared: int = 0
    """Items that have the judge's primary score and both texts."""


def baseline_scores(view: RunView, tally: Tally) -> BaselineScores:
    """Score each item that has the judge's primary score; reads the answers twice.

    The words are weighted over all texts of the run, as `basanite judge lexical` does. Items
    that the judge left unscored are left out here too: means over different items can't
    stand side by side.
    """
    result = BaselineScores()
    if tally.judge == CHOICE_JUDGE:
        return result  # letters are no words; such runs have baselines of their own
    if all(tally.score(position, tally.primary) is None for position in range(tally.n_items)):
        return result
    judge = LexicalJudge(BASELINE_FORM)
    judge.fit(_subjects(view))
    for subject in _subjects(view):
        position = tally.positions.get(subject.id)
        if position is None or tally.score(position, tally.primary) is None:
            continue
        result.n_compared += 1
        if not subject.answer.strip():
            continue
        for name, score in judge.scores(subject.answer, subject.truth).items():
            result.scores.setdefault(name, Column()).put(position, score.value)
    return result


def _subjects(view: RunView) -> Iterator[Answer]:
    return (row for row in view.answers() if isinstance(row, Answer))
