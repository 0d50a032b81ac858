"""Groups of tasks by how well an agent did on them without a critic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import InputError
from ._study_cells import ArmCells, MissingItem, StudyItem, average_trials, studied_items
from ._study_contrasts import Contrast, StudyOptions, contrast_arms, correct
from ._study_rows import BASELINE, StudyRow, check_rows

GROUPS = ("low", "mid", "high")


@dataclass(frozen=True, slots=True)
class GroupCuts:
    """Where groups end, in the unit of the scores: `low` up to `low`, `high` above `high`.

    The defaults are those published for ratings from 1 to 5 (HeurekaBench). Choose them before
    looking at the scores.

    Raises:
        InputError: `low` is not below `high`.
    """

    low: float = 2.0
    high: float = 4.0

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise InputError(
                f"low is {self.low} and high is {self.high}", todo="Give low below high."
            )

    @classmethod
    def of_scale(
        cls, scores: Iterable[float], low: float | None = None, high: float | None = None
    ) -> GroupCuts:
        """Take the published cuts, or the same places of a scale from 0 to 1: 0.25 and 0.75.

        Args:
            scores: of all arms; only their scale is looked at.
            low, high: cuts that are given.

        Raises:
            InputError: `low` is not below `high`.
        """
        scores = list(scores)
        # A rating is 1 at least: what lies between 0 and 1 is no rating.
        unit = bool(scores) and min(scores) >= 0 and max(scores) <= 1 and min(scores) < 1
        default = cls(0.25, 0.75) if unit else cls()
        return cls(default.low if low is None else low, default.high if high is None else high)

    def group(self, score: float) -> str:
        """Give the group of a score."""
        if score <= self.low:
            return "low"
        return "mid" if score <= self.high else "high"


@dataclass(frozen=True, slots=True)
class StudyGroups:
    """Contrasts within groups of items."""

    by: str
    """The arm whose scores made the groups."""
    cuts: GroupCuts
    sizes: Mapping[str, int]
    """Group to the number of its items, empty groups included."""
    contrasts: tuple[Contrast, ...]
    """Of all groups that hold items, corrected together."""
    ungrouped: tuple[MissingItem, ...]
    """Items in no group, for want of a score in the arm `by`."""


def baseline_groups(
    arms: Mapping[str, ArmCells],
    items: Sequence[StudyItem],
    cuts: GroupCuts,
    options: StudyOptions,
) -> StudyGroups:
    """Compare arms within groups that an independent run of the arm `none` makes.

    Raises:
        InputError: there is no arm `baseline`.
    """
    if BASELINE not in arms:
        raise InputError(
            "groups need rows of the arm `baseline`: a run of the agent without a critic that is "
            "compared with nothing. Grouped by the arm `none` itself, a task is low partly because "
            "of bad luck, which does not strike the same task again: its score rises in any other "
            "arm, also where the critic does nothing (regression to the mean)",
            todo="Run the agent once more without a critic, or leave the groups out.",
        )
    return _groups(arms, items, BASELINE, cuts, options)


def naive_groups(
    rows: Iterable[StudyRow], cuts: GroupCuts | None = None, options: StudyOptions | None = None
) -> StudyGroups:
    """Compare arms within groups by the arm `none` itself, as some published tables do.

    Only for comparison with those figures; its differences against `none` are biased. The noise
    that put a task into the low group is in the score that is subtracted, so the low group gains
    and the high group loses in expectation where a critic does nothing at all. If a score is a
    task's normal ability plus independent normal noise of variance ``v``, and scores of one run
    have the mean ``m`` and the variance ``w``, a critic of the effect ``d`` shows the difference
    ``d + (m - s) * v / w`` on tasks that scored ``s``. The intervals don't know of it.

    Raises:
        InputError: the rows can't be used, or there is no arm `none`.
    """
    rows = list(rows)
    check_rows(rows)
    arms = average_trials(rows)
    if "none" not in arms:
        raise InputError("there are no rows of the arm `none`", todo="Add them.")
    return _groups(
        arms, studied_items(arms), "none", cuts or GroupCuts(), options or StudyOptions()
    )


def _groups(
    arms: Mapping[str, ArmCells],
    items: Sequence[StudyItem],
    by: str,
    cuts: GroupCuts,
    options: StudyOptions,
) -> StudyGroups:
    members: dict[str, list[StudyItem]] = {group: [] for group in GROUPS}
    for item in items:
        if item in arms[by].means:
            members[cuts.group(arms[by].means[item])].append(item)
    contrasts = [
        contrast
        for group, inside in members.items()
        if inside
        for contrast in contrast_arms(arms, inside, options, group=group)
    ]
    return StudyGroups(
        by=by,
        cuts=cuts,
        sizes={group: len(inside) for group, inside in members.items()},
        contrasts=correct(contrasts),
        ungrouped=arms[by].missing(items),
    )
