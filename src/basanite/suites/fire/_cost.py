"""What an agent costs for what it reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...reports import Board
from ...stats import Estimate, clustered_mean


@dataclass(frozen=True, slots=True)
class FireCost:
    """An agent's cost in US dollars, over the trials whose cost is known."""

    total: float
    per_trial: float
    n_trials: int
    n_tasks: int
    """Tasks that have both a cost and an F1: those of the next two."""
    per_task: float | None
    """Mean over these tasks of a trial's mean cost."""
    per_point: Estimate
    """`per_task` by a hundred times the mean F1 of the same tasks: dollars for each point (of
    100) of F1 of one trial. Its interval is over tasks."""


def agent_cost(board: Board, agent: str, level: float = 0.95) -> FireCost | None:
    """Give an agent's cost; None where no trial's cost is known.

    ``R = mean(c) / (100 mean(f))`` over tasks, with ``c`` the mean cost and ``f`` the mean F1 of a
    task's trials; the interval is that of the linearised ratio, the t interval of
    ``R + (c - 100 R f) / (100 mean(f))`` (Cochran, "Sampling Techniques", 3rd edition, 1977,
    section 6.3).
    """
    costs: dict[str, list[float]] = {}
    for row in board.rows:
        if row.agent == agent and row.cost is not None:
            costs.setdefault(row.task, []).append(row.cost)
    if not costs:
        return None
    every = [cost for of_task in costs.values() for cost in of_task]
    both: dict[str, tuple[float, float]] = {}
    for task, found in costs.items():
        mean = board.cells[agent][task].mean
        if mean is not None:
            both[task] = (math.fsum(found) / len(found), mean)
    c = [cost for cost, _ in both.values()]
    f = [mean for _, mean in both.values()]
    return FireCost(
        total=math.fsum(every),
        per_trial=math.fsum(every) / len(every),
        n_trials=len(every),
        n_tasks=len(both),
        per_task=math.fsum(c) / len(c) if c else None,
        per_point=_ratio(c, f, list(both), level),
    )


def _ratio(c: list[float], f: list[float], tasks: list[str], level: float) -> Estimate:
    if not c:
        return Estimate(None, None, None, 0, 0, "no task has both a cost and an F1")
    points = 100 * math.fsum(f) / len(f)
    if not points:
        return Estimate(None, None, None, len(c), len(c), "F1 is 0 on all tasks with a cost")
    ratio = math.fsum(c) / len(c) / points
    linear = [ratio + (x - 100 * ratio * y) / points for x, y in zip(c, f, strict=True)]
    found = clustered_mean(linear, tasks, level)
    return Estimate(ratio, found.low, found.high, found.n, found.n, found.reason, found.error)
