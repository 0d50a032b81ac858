"""Whether an agent does better on papers that its model may have read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from ...errors import InputError
from ...reports import Board
from ...stats import Estimate, clustered_mean, stratified_difference
from .._rows import spelt
from ._tasks import DIFFICULTIES, FireTasks, day_of

UNGRADED = "ungraded"
"""Stratum of the tasks whose difficulty is not known."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Tasks of one difficulty on both sides of a cutoff; an estimate's `n` is their number."""

    before: Estimate
    """Mean F1 on tasks whose paper came out on the day of the cutoff or before."""
    after: Estimate
    difference: Estimate
    """Before minus after, with Welch's interval."""


@dataclass(frozen=True, slots=True)
class Contamination:
    """One agent's F1 before and after its cutoff."""

    cutoff: date
    strata: dict[str, Stratum]
    """By difficulty; one without any task is not there."""
    adjusted: Estimate
    """Before minus after within difficulties, each weighted by its tasks. Above 0: better on
    what the model may have read."""
    left_out: tuple[str, ...]
    """Strata with tasks on one side only, which are not in `adjusted`."""


def parse_cutoffs(given: list[str]) -> dict[str, date]:
    """Read `AGENT=YYYY-MM-DD`, agent to day.

    Raises:
        InputError: no such text, no day, or an agent that stands twice.
    """
    cutoffs: dict[str, date] = {}
    for text in given:
        # The agent's name may hold an equals sign; a day holds none.
        agent, equals, day = text.rpartition("=")
        if not equals or not agent:
            raise InputError(
                f"{spelt(text)} is no cutoff", where="--cutoff", todo="Write AGENT=YYYY-MM-DD."
            )
        if agent in cutoffs:
            raise InputError(f"{spelt(agent)} has two cutoffs", where="--cutoff", todo="Give one.")
        cutoffs[agent] = day_of(day, f"the cutoff of {agent}")
    return cutoffs


def contamination(
    board: Board, tasks: FireTasks, cutoffs: Mapping[str, date], level: float = 0.95
) -> dict[str, Contamination]:
    """Compare the tasks published before and after each agent's cutoff, within difficulties.

    The published procedure compares the strata's means by eye (table 4). Here each difference
    has an interval, and one number sums them up.

    Args:
        board: F1 by agent and task.
        tasks: with the day on which each paper came out.
        cutoffs: agent to the last day of its model's training data.
        level: of all intervals.

    Raises:
        InputError: an agent is not on the board, or one of its scored tasks has no day.
    """
    found: dict[str, Contamination] = {}
    for agent, cutoff in cutoffs.items():
        if agent not in board.agents:
            raise InputError(
                f"there is no agent {spelt(agent)}",
                where="--cutoff",
                todo=f"Name one of {', '.join(board.agents[:12])}.",
            )
        found[agent] = _of_agent(board, tasks, agent, cutoff, level)
    return found


def _of_agent(
    board: Board, tasks: FireTasks, agent: str, cutoff: date, level: float
) -> Contamination:
    means = {task: cell.mean for task, cell in board.cells[agent].items() if cell.mean is not None}
    undated = [task for task in means if tasks.find(task).published is None]
    if undated:
        more = f" and {len(undated) - 5} more" if len(undated) > 5 else ""
        raise InputError(
            f"there is no date of {', '.join(undated[:5])}{more}",
            where="--cutoff",
            todo="Give the day on which each task's paper came out: --tasks META, with the "
            "columns task and published.",
        )
    sides: dict[str, tuple[list[float], list[float]]] = {}
    for task, mean in means.items():
        one = tasks.find(task)
        assert one.published is not None
        stratum = sides.setdefault(one.difficulty or UNGRADED, ([], []))
        stratum[one.published > cutoff].append(mean)
    sides = {name: sides[name] for name in (*DIFFICULTIES, UNGRADED) if name in sides}
    return Contamination(
        cutoff=cutoff,
        strata={name: _stratum(*side, level) for name, side in sides.items()},
        adjusted=stratified_difference(list(sides.values()), level),
        left_out=tuple(name for name, side in sides.items() if not all(side)),
    )


def _stratum(before: list[float], after: list[float], level: float) -> Stratum:
    return Stratum(
        _mean(before, level), _mean(after, level), stratified_difference([(before, after)], level)
    )


def _mean(values: list[float], level: float) -> Estimate:
    found = clustered_mean(values, range(len(values)), level)
    reason = found.reason and found.reason.replace("clusters", "tasks").replace("values", "tasks")
    return Estimate(found.value, found.low, found.high, found.n, found.n, reason, found.error)
