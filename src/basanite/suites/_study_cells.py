"""Trials averaged: one mean score per agent, task and arm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ._study_rows import BASELINE, NO_REASON, StudyRow


@dataclass(frozen=True, order=True, slots=True)
class StudyItem:
    """What is paired: one agent's work on one task."""

    task: str
    agent: str = ""
    """Empty where the rows name no agents."""

    def __str__(self) -> str:
        return f"{self.agent}: {self.task}" if self.agent else self.task


@dataclass(frozen=True, slots=True)
class MissingItem:
    """An item without a score in an arm."""

    item: StudyItem
    reason: str
    """`no_row`, or the reasons of its unscored trials."""


@dataclass(slots=True)
class ArmCells:
    """The scores of one arm."""

    means: dict[StudyItem, float] = field(default_factory=dict)
    """Mean over the scored trials of each item that has one."""
    n_rows: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    """Reason to the number of rows without a score."""
    reasons: dict[StudyItem, set[str]] = field(default_factory=dict)
    """Why rows of an item are unscored."""

    def missing(self, items: Iterable[StudyItem]) -> tuple[MissingItem, ...]:
        """Give those of the items that have no score here, and why."""
        return tuple(
            MissingItem(item, ", ".join(sorted(self.reasons.get(item, ()))) or "no_row")
            for item in items
            if item not in self.means
        )


def average_trials(rows: Iterable[StudyRow]) -> Mapping[str, ArmCells]:
    """Give each arm's scores by item; an unscored trial is counted, and left out of the mean."""
    arms: dict[str, ArmCells] = {}
    scores: dict[tuple[str, StudyItem], list[float]] = {}
    for row in rows:
        cells = arms.setdefault(row.arm, ArmCells())
        item = StudyItem(row.task, row.agent or "")
        cells.n_rows += 1
        if row.score is not None:
            scores.setdefault((row.arm, item), []).append(row.score)
            continue
        reason = row.unscored_reason or NO_REASON
        cells.unscored[reason] += 1
        cells.reasons.setdefault(item, set()).add(reason)
    for (arm, item), values in scores.items():
        arms[arm].means[item] = math.fsum(values) / len(values)
    return arms


def studied_items(arms: Mapping[str, ArmCells]) -> Sequence[StudyItem]:
    """Give all items of the arms that are compared, sorted; the baseline adds none."""
    found: set[StudyItem] = set()
    for arm, cells in arms.items():
        if arm != BASELINE:
            found.update(cells.means, cells.reasons)
    return sorted(found)
