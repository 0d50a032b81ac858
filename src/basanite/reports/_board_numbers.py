"""The numbers of a board: each agent's mean with its interval, and how its values spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ..stats import Estimate, clustered_mean
from ._board import Board, BoardCell


@dataclass(frozen=True, slots=True)
class BoardCost:
    """What an agent's trials cost, in the board's unit, scored or not."""

    total: float
    per_trial: float
    """Mean over the trials whose cost is known."""
    n_trials: int
    """Trials whose cost is known."""


@dataclass(frozen=True, slots=True)
class AgentNumbers:
    """One agent on a board."""

    agent: str
    mean: Estimate
    """Mean over tasks of the mean over a task's scored trials: each task counts the same,
    however many trials it has. `n` are the scored tasks, `n_clusters` their clusters; where the
    board has none, each task is one."""
    sd_tasks: float | None
    """Sample standard deviation of the tasks' means: how much tasks differ. Holds what is left
    of the spread across runs after averaging. None for fewer than two tasks."""
    sd_runs: float | None
    """Mean over tasks of the sample standard deviation over a task's trials: how much a run
    differs from the next. None where no task has two scored trials."""
    sd_runs_pooled: float | None
    """Square root of the pooled variance within tasks; unlike `sd_runs`, whose expectation lies
    below the true value where trials are few, its square is unbiased."""
    n_repeated: int
    """Tasks with two or more scored trials: those of `sd_runs`."""
    n_tasks: int
    """Tasks that the agent was tried on; those without any scored trial are in it."""
    n_trials: int
    n_scored: int
    """Trials with a value."""
    unscored: dict[str, int]
    """Reasons of the trials without one, with their counts."""
    unscored_tasks: tuple[str, ...]
    """Tasks that were tried, and of which no trial is scored; they are not in the mean."""
    missing_tasks: tuple[str, ...]
    """Tasks of the board that the agent was not tried on."""
    best_tasks: int
    """Tasks on which no other agent's mean is better, of those that two or more agents have; a
    tie counts for each agent in it."""
    groups: dict[str, Estimate]
    """The mean as above over the tasks of one group; a group of which no task is scored has no
    value."""
    cost: BoardCost | None


@dataclass(frozen=True, slots=True)
class BoardNumbers:
    """All agents of a board, best mean first."""

    board: Board
    level: float
    agents: tuple[AgentNumbers, ...]

    def of(self, agent: str) -> AgentNumbers:
        """Give one agent's numbers.

        Raises:
            KeyError: the board has no such agent.
        """
        for found in self.agents:
            if found.agent == agent:
                return found
        raise KeyError(agent)

    def to_json(self) -> dict[str, JsonValue]:
        """Give all numbers as plain JSON values; what can't be given is null."""
        board = self.board
        return {
            "title": board.title,
            "measure": board.measure,
            "scale": [None if end is None else float(end) for end in board.scale],
            "higher_is_better": board.higher_is_better,
            "level": self.level,
            "n_tasks": len(board.tasks),
            "cost_unit": board.cost_unit,
            "agents": {found.agent: _agent_json(found) for found in self.agents},
            "notes": list(board.notes),
        }


def board_numbers(board: Board, level: float = 0.95) -> BoardNumbers:
    """Count what a board says of each agent.

    The unit of sampling is the task, or the task's cluster where the rows name one: a trial more
    of the same task says nothing of another one. The interval is the t interval over the tasks'
    means (`stats.clustered_mean` with one value a task). Trials without a value are in no mean,
    and are counted by their reasons.

    Raises:
        InputError: the level is not between 0 and 1.
    """
    best = _best_tasks(board)
    made = {agent: _agent(board, agent, best[agent], level) for agent in board.agents}
    order = board.best_first({agent: found.mean.value for agent, found in made.items()})
    return BoardNumbers(board, level, tuple(made[agent] for agent in order))


def _agent(board: Board, agent: str, best: int, level: float) -> AgentNumbers:
    cells = board.cells[agent]
    means = [cell.mean for cell in cells.values() if cell.mean is not None]
    sds = [cell.sd for cell in cells.values() if cell.sd is not None]
    unscored: Counter[str] = Counter()
    for cell in cells.values():
        unscored.update(cell.unscored)
    return AgentNumbers(
        agent=agent,
        mean=_macro(cells, level),
        sd_tasks=_sample_sd(means),
        sd_runs=math.fsum(sds) / len(sds) if sds else None,
        sd_runs_pooled=_pooled(list(cells.values())),
        n_repeated=len(sds),
        n_tasks=len(cells),
        n_trials=sum(cell.n_trials for cell in cells.values()),
        n_scored=sum(len(cell.values) for cell in cells.values()),
        unscored=dict(unscored.most_common()),
        unscored_tasks=tuple(task for task, cell in cells.items() if not cell.values),
        missing_tasks=tuple(task for task in board.tasks if task not in cells),
        best_tasks=best,
        groups={
            group: _macro({task: c for task, c in cells.items() if c.group == group}, level)
            for group in board.groups
        },
        cost=_cost(board, agent),
    )


def _macro(cells: Mapping[str, BoardCell], level: float) -> Estimate:
    means = {task: cell.mean for task, cell in cells.items() if cell.mean is not None}
    # A cluster may have the name of another task: the two are told apart by the pair.
    names = [(cells[task].cluster is None, cells[task].cluster or task) for task in means]
    found = clustered_mean(list(means.values()), names, level)
    if found.reason is None:
        return found
    reason = found.reason.replace("no values", "nothing scored")
    if all(cell.cluster is None for cell in cells.values()):
        # Clusters are tasks here, and the reader of a board knows them by that name.
        reason = reason.replace("clusters", "tasks")
    return Estimate(found.value, None, None, found.n, found.n_clusters, reason)


def _sample_sd(values: Sequence[float]) -> float | None:
    return BoardCell(tuple(values), {}, None).sd


def _pooled(cells: Sequence[BoardCell]) -> float | None:
    degrees = sum(len(cell.values) - 1 for cell in cells if cell.values)
    if not degrees:
        return None
    return math.sqrt(math.fsum(cell.squares for cell in cells) / degrees)


def _best_tasks(board: Board) -> dict[str, int]:
    counts = dict.fromkeys(board.agents, 0)
    for task in board.tasks:
        found = {agent: cells[task] for agent, cells in board.cells.items() if task in cells}
        means = {agent: cell.mean for agent, cell in found.items() if cell.mean is not None}
        if len(means) < 2:
            continue
        best = (max if board.higher_is_better else min)(means.values())
        for agent, mean in means.items():
            # Means of equal trials in another order may differ in the last digit.
            counts[agent] += math.isclose(mean, best, rel_tol=1e-12, abs_tol=1e-12)
    return counts


def _cost(board: Board, agent: str) -> BoardCost | None:
    costs = [row.cost for row in board.rows if row.agent == agent and row.cost is not None]
    if not costs:
        return None
    total = math.fsum(costs)
    return BoardCost(total, total / len(costs), len(costs))


def _agent_json(found: AgentNumbers) -> dict[str, JsonValue]:
    cost: JsonValue = None
    if found.cost is not None:
        cost = {
            "total": found.cost.total,
            "per_trial": found.cost.per_trial,
            "n_trials": found.cost.n_trials,
        }
    return {
        **found.mean.to_json("mean"),
        "sd_tasks": found.sd_tasks,
        "sd_runs": found.sd_runs,
        "sd_runs_pooled": found.sd_runs_pooled,
        "n_repeated": found.n_repeated,
        "n_tasks": found.n_tasks,
        "n_tasks_scored": found.mean.n,
        "n_clusters": found.mean.n_clusters,
        "n_trials": found.n_trials,
        "n_scored": found.n_scored,
        "unscored": dict(found.unscored),
        "unscored_tasks": list(found.unscored_tasks),
        "missing_tasks": list(found.missing_tasks),
        "best_tasks": found.best_tasks,
        "groups": {
            group: {**mean.to_json("mean"), "n_tasks_scored": mean.n}
            for group, mean in found.groups.items()
        },
        "cost": cost,
    }
