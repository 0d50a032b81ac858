"""What stands beside a run of multiple choice: answers without thought, and published figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InputError
from ..judges import CHOICE_JUDGE, ChoiceBaselines, ChoiceKey, PublishedMetrics
from ..schema import Answer
from ._tally import Tally
from ._view import RunView


@dataclass(frozen=True, slots=True)
class ChoiceFigures:
    """Figures of one run of multiple choice; shares from 0 to 1, None over nothing."""

    n_compared: int
    """Items that the judge scored: what the baselines are over."""
    baselines: Mapping[str, Mapping[str, float | None]]
    """Name of each baseline (see `ChoiceBaselines`) to its mean scores."""
    n_questions: int
    """Rows with options and a truth that can be used: what the published accuracy is over."""
    n_predicted: int
    """Those of them that have an answer: what the other published figures are over."""
    published: Mapping[str, float | None]
    """Figures of the same answers as HeurekaBench counts them (see `PublishedMetrics`)."""


def choice_figures(view: RunView, tally: Tally) -> ChoiceFigures | None:
    """Compute the figures of a run; None where its judge is another one. Reads the answers once.

    Items that the judge left unscored are left out of the baselines too: means over different
    items can't stand side by side.
    """
    if tally.judge != CHOICE_JUDGE:
        return None
    baselines, published = ChoiceBaselines(), PublishedMetrics()
    for row in view.answers():
        if not isinstance(row, Answer):
            continue
        try:
            key = ChoiceKey.of(row)
        except InputError:
            continue  # counted as an invalid row
        published.add(row.answer, key.right)
        position = tally.positions.get(row.id)
        if position is not None and tally.score(position, tally.primary) is not None:
            baselines.add(key.options, key.right)
    return ChoiceFigures(
        n_compared=baselines.n,
        baselines=baselines.means(),
        n_questions=published.n_total,
        n_predicted=published.n_predicted,
        published=published.figures(),
    )
