"""What a critic does to weak, middling and strong answers: the published table, and the study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from .._critic_study import CriticStudy, critic_study
from .._study_cells import ArmCells, average_trials, studied_items
from .._study_contrasts import StudyOptions
from .._study_groups import GROUPS, GroupCuts
from .._study_rows import BASELINE, StudyRow, check_rows

SCHEMA = "basanite.suite.heureka.critics/1"
PUBLISHED_THRESHOLD = 0.5
"""A question counts as better or worse in the published table if its rating changes by more."""

_BIASED = (
    "The published groups are made from the arm `none`, whose scores are then subtracted: a "
    "question is low partly by bad luck, which does not strike twice, so that the low group rises "
    "and the high group falls also where a critic does nothing (regression to the mean)."
)


@dataclass(frozen=True, slots=True)
class CriticGroup:
    """One line of the published table: an arm beside `none`, on one group's questions."""

    arm: str
    group: str | None
    """`low`, `mid` or `high` by the score of `none`; None for all questions."""
    n: int
    """Questions with a score in both arms."""
    none: float | None
    """Mean without the critic; None for no questions."""
    with_critic: float | None
    better: int
    worse: int

    @property
    def gain(self) -> float | None:
        """Relative change of the mean, as a share; None without questions or from 0."""
        if self.none is None or self.with_critic is None or self.none == 0:
            return None
        return self.with_critic / self.none - 1

    def to_json(self) -> dict[str, JsonValue]:
        """Give it as plain JSON values."""
        return {
            "arm": self.arm,
            "group": self.group,
            "n_questions": self.n,
            "none": self.none,
            "with_critic": self.with_critic,
            "gain": self.gain,
            "better": self.better,
            "worse": self.worse,
        }


@dataclass(frozen=True, slots=True)
class CriticFigures:
    """A study of critics, ours and as published."""

    study: CriticStudy
    """Ours: intervals, the control arm, and groups by an independent baseline where there is
    one."""
    published: tuple[CriticGroup, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """Give both in the envelope `basanite.suite.heureka.critics/1`."""
        return {
            "schema": SCHEMA,
            "study": self.study.to_json(),
            "published": [one.to_json() for one in self.published],
            "notes": list(self.notes),
        }


def critic_figures(
    rows: Iterable[StudyRow],
    options: StudyOptions | None = None,
    cuts: GroupCuts | None = None,
) -> CriticFigures:
    """Analyse a study of critics on open questions.

    Args:
        rows: scores of the arms `none`, `end`, `plan`, `again` and `baseline`; a task is a
            question's id.
        options: of the study; its threshold counts in both, and its clusters should be the
            questions' papers. None: a threshold of 0.5 and no clusters.
        cuts: of the groups; None for the published 2 and 4.

    Raises:
        InputError: see `critic_study`.
    """
    rows = list(rows)
    check_rows(rows)
    options = options or StudyOptions(threshold=PUBLISHED_THRESHOLD)
    cuts = cuts or GroupCuts()
    arms = average_trials(rows)
    study = critic_study(rows, options, cuts if BASELINE in arms else None)
    published = tuple(_published(arms, cuts, options.threshold))
    notes = [_BIASED] if published else []
    if not options.clusters:
        notes.append(
            "Intervals take questions as independent; those of one paper share its data. Name the "
            "question file, and they are taken together."
        )
    if BASELINE not in arms:
        notes.append(
            "There is no arm `baseline`, a further run without a critic: no unbiased groups can "
            "be made."
        )
    return CriticFigures(study, published, tuple(notes))


def _published(
    arms: Mapping[str, ArmCells], cuts: GroupCuts, threshold: float
) -> Iterable[CriticGroup]:
    if "none" not in arms:
        return
    none = arms["none"].means
    items = studied_items(arms)
    for arm in ("end", "plan", "again"):
        if arm not in arms:
            continue
        other = arms[arm].means
        pairs = [(none[item], other[item]) for item in items if item in none and item in other]
        yield _group(arm, None, pairs, threshold)
        for group in GROUPS:
            inside = [pair for pair in pairs if cuts.group(pair[0]) == group]
            yield _group(arm, group, inside, threshold)


def _group(
    arm: str, group: str | None, pairs: Sequence[tuple[float, float]], threshold: float
) -> CriticGroup:
    n = len(pairs)
    means = [math.fsum(pair[side] for pair in pairs) / n if n else None for side in (0, 1)]
    least = threshold + 1e-12
    return CriticGroup(
        arm,
        group,
        n,
        means[0],
        means[1],
        better=sum(after - before > least for before, after in pairs),
        worse=sum(before - after > least for before, after in pairs),
    )
