"""The figures of trials: claim scores, their spread, difficulty, cost and contamination."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from pydantic import JsonValue

from ...reports import AgentNumbers, Board, board_numbers
from ...stats import Estimate, clustered_mean
from ._boards import fire_boards
from ._contamination import Contamination, contamination
from ._cost import FireCost, agent_cost
from ._tasks import FireTasks, fire_tasks
from ._trials import MEASURES, FireTrial, check_trials, harmonic

OFF = 0.01
"""How far an F1 may be from 2PR / (P + R) by rounding."""
_ONE_PERCENT = 0.01
"""Where no share is above it, shares were likely read as percent."""


@dataclass(frozen=True, slots=True)
class FireAgent:
    """One agent's figures; scores are shares from 0 to 1."""

    agent: str
    precision: Estimate
    """Mean over tasks of the mean over a task's trials, with the t interval over tasks."""
    recall: Estimate
    f1: Estimate
    """As above, of the trials' F1. It is not the F1 of the two means: see `f1_of_means`."""
    spread: dict[str, AgentNumbers]
    """By measure, the standard deviations across tasks and across runs."""
    sd_tasks_population: float | None
    """Of F1, over the tasks' means, divided by their number: what the last row of the published
    table of tasks prints."""
    sd_runs_population: float | None
    """Of F1, the mean over tasks of the standard deviation over a task's trials, divided by
    their number: what that table prints for each task."""
    f1_of_means: float | None
    """``2PR / (P + R)`` of the mean precision and recall."""
    f1_published: Estimate
    """As the published code has it: a trial without a score counts as 0."""
    cost: FireCost | None


@dataclass(frozen=True)
class FireScores:
    """All agents' figures, best F1 first."""

    agents: dict[str, FireAgent]
    boards: dict[str, Board]
    """By measure."""
    tasks: FireTasks
    level: float
    contamination: dict[str, Contamination] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Give all figures as plain JSON values."""
        from ._json import score_envelope

        return score_envelope(self)


def score_trials(
    trials: Sequence[FireTrial],
    tasks: FireTasks | None = None,
    *,
    cutoffs: Mapping[str, date] | None = None,
    level: float = 0.95,
) -> FireScores:
    """Score trials as FIRE-Bench does: per trial, then per task, then the mean over tasks.

    A trial without a score is in no mean and is counted by its reason; the published code makes
    it 0, which `f1_published` shows. The paper prints the standard deviation across the tasks'
    means beside its scores and calls it that of runs: here both have their own name, and the
    interval is over tasks.

    Args:
        trials: at least one; a subset of the tasks is scored as what it is.
        tasks: the tasks that are known, with difficulties and perhaps dates.
        cutoffs: agent to the last day of its model's training data; see `contamination`.
        level: of all intervals.

    Raises:
        InputError: no trials, one that stands twice, a task that is not known, or what
            `contamination` refuses.
    """
    tasks = tasks or fire_tasks()
    checked = check_trials(trials, tasks)
    notes = (*tasks.notes, *_notes(checked, tasks))
    boards = fire_boards(checked, tasks, notes=notes)
    numbers = {measure: board_numbers(board, level) for measure, board in boards.items()}
    agents = {
        one.agent: _agent(
            one.agent, boards, {k: n.of(one.agent) for k, n in numbers.items()}, level
        )
        for one in numbers["f1"].agents
    }
    tested = contamination(boards["f1"], tasks, cutoffs or {}, level)
    return FireScores(agents, boards, tasks, level, tested, notes)


def _agent(
    agent: str, boards: Mapping[str, Board], found: dict[str, AgentNumbers], level: float
) -> FireAgent:
    none = Estimate(None, None, None, 0, 0, "no trial has one")
    means = {name: found[name].mean if name in found else none for name in MEASURES}
    cells = boards["f1"].cells[agent]
    tasks = [cell.mean for cell in cells.values() if cell.mean is not None]
    runs = [
        math.sqrt(cell.squares / len(cell.values)) for cell in cells.values() if cell.sd is not None
    ]
    p, r = means["precision"].value, means["recall"].value
    zeroed = {name: math.fsum(cell.values) / cell.n_trials for name, cell in cells.items()}
    return FireAgent(
        agent=agent,
        **means,
        spread=found,
        sd_tasks_population=population_sd(tasks),
        sd_runs_population=math.fsum(runs) / len(runs) if runs else None,
        f1_of_means=None if p is None or r is None else harmonic(p, r),
        f1_published=clustered_mean(list(zeroed.values()), list(zeroed), level),
        cost=agent_cost(boards["f1"], agent, level),
    )


def population_sd(values: Sequence[float]) -> float | None:
    """Give the standard deviation with the number of values below the line; None for under two."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _notes(trials: Sequence[FireTrial], tasks: FireTasks) -> list[str]:
    notes = []
    off = [trial for trial in trials if trial.off > OFF]
    if off:
        worst = max(off, key=lambda trial: trial.off)
        where = "{} on {}, trial {}".format(*worst.key)
        notes.append(
            f"{len(off)} trials have an F1 that is not 2PR / (P + R); the largest difference is "
            f"{worst.off:.3f}, of {where}. F1 is taken as given."
        )
    highest = max(
        (value for one in trials for value in (one.f1, one.precision, one.recall) if value),
        default=0.0,
    )
    if 0 < highest <= _ONE_PERCENT:
        notes.append(
            f"no score is above {_ONE_PERCENT:g}: shares from 0 to 1 are read without --percent"
        )
    used = dict.fromkeys(trial.task for trial in trials)
    ungraded = [task for task in used if tasks.find(task).difficulty is None]
    if ungraded:
        notes.append(f"no difficulty is known of {', '.join(ungraded)}")
    named = sum(one.number is not None for one in fire_tasks().tasks.values())
    mine = sum(tasks.find(task).number is not None for task in used)
    if mine < named:
        notes.append(f"{mine} of the {named} published tasks are scored")
    tried = Counter(trial.key[:2] for trial in trials)
    for agent in dict.fromkeys(trial.agent for trial in trials):
        counts = [count for (name, _), count in tried.items() if name == agent]
        if min(counts) < max(counts):
            notes.append(f"{agent} has from {min(counts)} to {max(counts)} trials a task")
    return notes
