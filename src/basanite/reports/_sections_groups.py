"""Sections on parts of a run: its agents and its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._comparison import MAX_AGENTS, compare_agents
from ._comparison_section import difference_axis
from ._figure import Figure
from ._forest import ForestRow, forest
from ._render import render
from ._run import ReadRun, score_scale
from ._section import Section
from ._strip import BEYOND, Axis, scale, strip
from ._summary import GroupSummary, task_groups

MAX_GROUPS = 200
"""Tasks or agents that a table shows; all of them are in `summary.json` or the items."""

MAX_ROWS = 40
"""Agents of one run that a plot shows; with more it would be taller than a page."""


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """One run's column of a table of groups."""

    run: ReadRun
    groups: dict[str, GroupSummary]
    axis: Axis


def agents(runs: Sequence[ReadRun]) -> Section | None:
    """The primary score of each agent, and the agents of each run against each other."""
    if not any(run.summary.agents for run in runs):
        return None
    pairs = [(run, found) for run in runs if (found := compare_agents(run)) is not None]
    body = render(
        "agents.html.j2",
        **_table([(run, run.summary.agents) for run in runs], "agent"),
        plots=agent_plots(runs),
        pairs=[(run, found, difference_axis(found)) for run, found in pairs],
        many=[run for run in runs if len(run.summary.agents) > MAX_AGENTS],
        most=MAX_AGENTS,
        scale=scale,
    )
    return Section("agents", "Agents", body)


def agent_plots(runs: Sequence[ReadRun]) -> list[Figure]:
    """Draw each run's agents, best mean first, as far as they fit on a page."""
    made: list[Figure] = []
    for run in runs:
        if not 2 <= len(run.summary.agents) <= MAX_ROWS:
            continue
        primary = run.summary.primary
        scale_ = score_scale(runs, primary)
        rows = [ForestRow(f"{run.letter} · {run.title}")]
        ranked = sorted(run.summary.agents, key=lambda group: _rank(group, primary))
        rows += [ForestRow(group.name or "(none)", group.scores[primary]) for group in ranked]
        title = f"{primary} ({scale_.unit})"
        made.append(forest(f"agents-{run.letter}-{primary}", title, rows, scale_.axis))
    return made


def _rank(group: GroupSummary, score: str) -> float:
    value = group.scores[score].value
    return float("inf") if value is None else -value


def tasks(runs: Sequence[ReadRun]) -> Section | None:
    """The primary score of each task; absent where no run has come to a row."""
    if not any(run.tally.n_items for run in runs):
        return None
    groups = [(run, task_groups(run.tally, [run.summary.primary])) for run in runs]
    return Section("tasks", "Tasks", render("groups.html.j2", **_table(groups, "task")))


def _table(
    groups: Sequence[tuple[ReadRun, Sequence[GroupSummary]]], what: str
) -> dict[str, object]:
    runs = [run for run, _ in groups]
    columns = [
        GroupColumn(
            run,
            {group.name: group for group in of_run},
            score_scale(runs, run.summary.primary).axis,
        )
        for run, of_run in groups
    ]
    names = list(dict.fromkeys(name for column in columns for name in column.groups))
    return {
        "what": what,
        "columns": columns,
        "names": names[:MAX_GROUPS],
        "n_names": len(names),
        "strip": strip,
        "beyond": BEYOND,
    }
