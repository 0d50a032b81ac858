"""Did a critic help? Arms compared on the same tasks, with the control that tells why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ..errors import InputError
from ..stats import Estimate, clustered_mean
from ._study_cells import ArmCells, MissingItem, StudyItem, average_trials, studied_items
from ._study_contrasts import Contrast, StudyOptions, contrast_arms, correct
from ._study_groups import GroupCuts, StudyGroups, baseline_groups
from ._study_rows import ARMS, BASELINE, StudyRow, check_rows

_SAME_RUN = 5
"""So many equal scores of two runs, not all of one value, are no chance."""


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm by itself."""

    arm: str
    mean: Estimate
    """Over the items with a score, trials averaged first; its interval is clustered by task, or
    by the clusters of `StudyOptions`."""
    n_rows: int
    unscored: Mapping[str, int]
    """Reason to the number of rows without a score."""
    missing: tuple[MissingItem, ...]
    """Items of the study that have no score here at all."""


@dataclass(frozen=True, slots=True)
class CriticStudy:
    """What a study found."""

    arms: Mapping[str, ArmSummary]
    """In the order of `ARMS`, the baseline last; only those that have rows."""
    contrasts: tuple[Contrast, ...]
    """Over all agents, corrected together."""
    by_agent: Mapping[str, tuple[Contrast, ...]]
    """Agent to its own contrasts, those of all agents corrected together; empty for one agent."""
    groups: StudyGroups | None
    """None where none were asked for."""
    items: tuple[StudyItem, ...]
    """All that could be paired."""
    level: float
    """Of all intervals."""
    threshold: float
    notes: tuple[str, ...]
    """What a reader should know before believing it."""

    def to_json(self) -> dict[str, JsonValue]:
        """Give the study as plain JSON values, in the envelope `basanite.critic_study/1`."""
        from ._study_json import envelope

        return envelope(self)


def critic_study(
    rows: Iterable[StudyRow],
    options: StudyOptions | None = None,
    groups: GroupCuts | None = None,
) -> CriticStudy:
    """Compare the arms of a study task by task.

    Trials of an agent on a task in an arm are averaged first. Arms are compared over the items
    (an agent's work on a task) that have a score in both; intervals and tests take all items of
    a task together, since agents find the same tasks hard. See `stats.paired_difference` for
    the interval, the test and the smallest detectable difference.

    The difference of an arm to `none` holds whatever a second attempt does by itself. What the
    critique adds is the difference to `again`.

    Args:
        rows: scores; see `StudyRow`.
        options: threshold, confidence level and settings of the test; None for the defaults.
        groups: also compare within groups of the arm `baseline`; None for no groups.

    Raises:
        InputError: rows that stand twice, no two arms to compare, or groups without a baseline.
    """
    rows, options = list(rows), options or StudyOptions()
    check_rows(rows)
    arms = average_trials(rows)
    items = studied_items(arms)
    contrasts = contrast_arms(arms, items, options)
    if not contrasts:
        raise InputError(
            f"no two arms can be compared (there are: {', '.join(sorted(arms)) or 'none at all'})",
            todo="Give rows of `none` or `again`, and of a critic's arm, `end` or `plan`.",
        )
    found = None if groups is None else baseline_groups(arms, items, groups, options)
    return CriticStudy(
        arms=dict(_summaries(arms, items, options)),
        contrasts=correct(contrasts),
        by_agent=_by_agent(arms, items, options),
        groups=found,
        items=tuple(items),
        level=options.test.level,
        threshold=options.threshold,
        notes=tuple(_notes(arms, found)),
    )


def _summaries(
    arms: Mapping[str, ArmCells], items: Sequence[StudyItem], options: StudyOptions
) -> Iterator[tuple[str, ArmSummary]]:
    for arm in (*ARMS, BASELINE):
        if arm in arms:
            cells = arms[arm]
            clusters = [options.cluster(item.task) for item in cells.means]
            mean = clustered_mean(list(cells.means.values()), clusters, options.test.level)
            unscored = dict(sorted(cells.unscored.items()))
            yield arm, ArmSummary(arm, mean, cells.n_rows, unscored, cells.missing(items))


def _by_agent(
    arms: Mapping[str, ArmCells], items: Sequence[StudyItem], options: StudyOptions
) -> dict[str, tuple[Contrast, ...]]:
    agents = sorted({item.agent for item in items})
    if len(agents) < 2:
        return {}
    corrected = correct(
        [
            contrast
            for agent in agents
            for contrast in contrast_arms(
                arms, [item for item in items if item.agent == agent], options, agent=agent
            )
        ]
    )
    return {agent: tuple(one for one in corrected if one.agent == agent) for agent in agents}


def _notes(arms: Mapping[str, ArmCells], groups: StudyGroups | None) -> Iterator[str]:
    if "again" not in arms:
        yield (
            "There is no arm `again`, a second attempt without critique: whether a gain comes from "
            "the critique or from trying twice can't be told."
        )
    if BASELINE in arms and "none" in arms and _same_run(arms["none"], arms[BASELINE]):
        yield (
            "`baseline` has the scores of `none` on every task: if it is a copy of that run and "
            "not a run of its own, the groups show regression to the mean."
        )
    if groups is not None and 0 in groups.sizes.values():
        empty = [name for name, size in groups.sizes.items() if not size]
        cuts, one = groups.cuts, len(empty) == len(groups.sizes) - 1
        what = "All tasks are in one group" if one else f"No task is in the group {empty[0]}"
        yield f"{what}: the cuts {cuts.low:g} and {cuts.high:g} may not fit."


def _same_run(none: ArmCells, baseline: ArmCells) -> bool:
    shared = [item for item in none.means if item in baseline.means]
    return (
        len(shared) >= _SAME_RUN
        and len({none.means[item] for item in shared}) > 1
        and all(none.means[item] == baseline.means[item] for item in shared)
    )
