"""How a judge's scores go together with people's labels."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ..stats import Coefficient, paired_correlation
from ._tally import Column, Tally

MAX_LABEL_VALUES = 12
"""Mean scores are given per label value only where there are at most this many values."""

AUTHOR_NOTE = "not a human ceiling"


@dataclass(frozen=True, slots=True)
class LabelMean:
    """The mean score of the items that people gave one label value."""

    label: float
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """One score against one set of labels, over the items that have both."""

    score: str
    pearson: Coefficient
    spearman: Coefficient
    n: int
    n_tasks: int
    means: tuple[LabelMean, ...]
    """From the lowest label to the highest; empty where there are too many values."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """The judge and the baseline against one set of labels, on the same items."""

    label: str
    author: bool
    """Labels of those who wrote the items; they say nothing of how well people agree."""
    judge: Agreement
    baseline: Agreement | None

    @property
    def kind(self) -> str:
        """What these labels are called wherever they are shown."""
        return "author labels" if self.author else "human labels"


def is_author_label(name: str) -> bool:
    """Tell whether labels of this name were made by the items' authors."""
    return name.lower().startswith("author")


def agreements(
    tally: Tally, baseline: Column | None, *, baseline_name: str
) -> list[LabelAgreement]:
    """Compare the primary score with each set of numeric labels.

    Args:
        tally: the run's numbers.
        baseline: the baseline's primary score by position; None where there is none.
        baseline_name: the name of that score.
    """
    primary = tally.scores[tally.primary]
    return [
        LabelAgreement(
            label=name,
            author=is_author_label(name),
            judge=_agreement(tally, primary, labels, name=tally.primary),
            baseline=(
                None
                if baseline is None
                else _agreement(tally, baseline, labels, name=baseline_name)
            ),
        )
        for name, labels in sorted(tally.labels.items())
    ]


def _agreement(tally: Tally, scores: Column, labels: Column, *, name: str) -> Agreement:
    xs: list[float] = []
    ys: list[float] = []
    tasks: list[int] = []
    for position in range(tally.n_items):
        score, label = scores.get(position), labels.get(position)
        if score is not None and label is not None:
            xs.append(score)
            ys.append(label)
            tasks.append(tally.tasks.of_item[position])
    found = paired_correlation(xs, ys, tasks)
    return Agreement(name, found.pearson, found.spearman, found.n, found.n_clusters, _means(xs, ys))


def _means(scores: list[float], labels: list[float]) -> tuple[LabelMean, ...]:
    groups: dict[float, list[float]] = defaultdict(list)
    for score, label in zip(scores, labels, strict=True):
        groups[label].append(score)
    if len(groups) > MAX_LABEL_VALUES:
        return ()
    return tuple(
        LabelMean(label, sum(group) / len(group), len(group))
        for label, group in sorted(groups.items())
    )
