"""Two arms on the same items: paired differences, corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import InputError
from ..stats import PairedDifference, PairedTest, holm, paired_difference
from ._study_cells import ArmCells, StudyItem

CONTRASTS = (
    ("end", "none"),
    ("plan", "none"),
    ("again", "none"),
    ("end", "again"),
    ("plan", "again"),
)
"""Which arms are compared: the first minus the second. The last two say what the critique itself
does; those against `none` also hold what any second attempt does."""

_DUST = 1e-12
"""Differences that exceed the threshold by less are rounding."""


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """How arms are compared.

    Raises:
        InputError: a threshold below 0.
    """

    test: PairedTest = field(default_factory=PairedTest)
    threshold: float = 0.0
    """An item counts as better or worse if its difference exceeds this, in the scores' unit. It
    changes these counts only, not the mean difference."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """Task to what it shares with others, such as the paper that their data are from: intervals
    and tests take all tasks of a cluster together. A task that is not in it is its own cluster."""

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < math.inf:
            raise InputError(f"the threshold is {self.threshold}", todo="Give 0 or more.")

    def cluster(self, task: str) -> tuple[bool, str]:
        """Name a task's cluster; one that has the name of another task is not that task."""
        return task in self.clusters, self.clusters.get(task, task)


@dataclass(frozen=True, slots=True)
class Contrast:
    """What one arm does beside another, over the items that have a score in both."""

    first: str
    second: str
    difference: PairedDifference
    """Of `first - second`, with intervals clustered by task; positive if `first` is better."""
    better: int
    """Items on which `first` is better than `second` by more than the threshold."""
    equal: int
    worse: int
    left_out: tuple[StudyItem, ...]
    """Items of the study that lack a score in at least one of the two arms."""
    p_holm: float | None = None
    """The p-value after Holm's correction over all contrasts that are given together; None for
    fewer than two tasks."""
    agent: str | None = None
    """Whose items these are; None for all."""
    group: str | None = None
    """Which group's items these are; None for all."""

    @property
    def name(self) -> str:
        """Such as `end - none`."""
        return f"{self.first} - {self.second}"


def contrast_arms(
    arms: Mapping[str, ArmCells],
    items: Sequence[StudyItem],
    options: StudyOptions,
    *,
    agent: str | None = None,
    group: str | None = None,
) -> list[Contrast]:
    """Compare all pairs of `CONTRASTS` whose two arms are there, on the items given."""
    return [
        replace(_contrast(arms, pair, items, options), agent=agent, group=group)
        for pair in CONTRASTS
        if all(arm in arms for arm in pair)
    ]


def correct(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """Add Holm's correction over all contrasts given; one without a p-value is no test."""
    raw = [contrast.difference.p_value for contrast in contrasts]
    adjusted = iter(holm([p for p in raw if p is not None]))
    return tuple(
        replace(contrast, p_holm=None if p is None else next(adjusted))
        for contrast, p in zip(contrasts, raw, strict=True)
    )


def _contrast(
    arms: Mapping[str, ArmCells],
    pair: tuple[str, str],
    items: Sequence[StudyItem],
    options: StudyOptions,
) -> Contrast:
    first, second = (arms[arm].means for arm in pair)
    paired = [item for item in items if item in first and item in second]
    x, y = [first[item] for item in paired], [second[item] for item in paired]
    least = options.threshold + _DUST
    better = sum(a - b > least for a, b in zip(x, y, strict=True))
    worse = sum(b - a > least for a, b in zip(x, y, strict=True))
    kept = set(paired)
    return Contrast(
        *pair,
        difference=paired_difference(
            x, y, [options.cluster(item.task) for item in paired], options.test
        ),
        better=better,
        equal=len(paired) - better - worse,
        worse=worse,
        left_out=tuple(item for item in items if item not in kept),
    )
