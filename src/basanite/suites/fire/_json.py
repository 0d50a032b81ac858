"""Scores as plain JSON; a number that can't be given is null, with its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ...stats import Estimate

if TYPE_CHECKING:
    from ._contamination import Contamination
    from ._cost import FireCost
    from ._score import FireAgent, FireScores

SCHEMA = "basanite.suite.fire.{}/1"


def estimate(name: str, found: Estimate) -> dict[str, JsonValue]:
    """Give an estimate as `Estimate.to_json` does; its clusters are tasks here."""
    reason = found.reason and found.reason.replace("clusters", "tasks")
    return replace(found, reason=reason).to_json(name)


def score_envelope(scores: FireScores) -> dict[str, JsonValue]:
    """Give scores as plain JSON values."""
    board = scores.boards["f1"]
    return {
        "schema": SCHEMA.format("score"),
        "agents": {name: _agent(scores, one) for name, one in scores.agents.items()},
        "tasks": {task: scores.tasks.find(task).difficulty for task in board.tasks},
        "n_trials": len(board.rows),
        "level": scores.level,
        "contamination": {
            name: contamination_json(one) for name, one in scores.contamination.items()
        },
        "notes": list(scores.notes),
    }


def _agent(scores: FireScores, one: FireAgent) -> dict[str, JsonValue]:
    found = one.spread["f1"]
    cells = scores.boards["f1"].cells[one.agent]
    return {
        **estimate("precision", one.precision),
        **estimate("recall", one.recall),
        **estimate("f1", one.f1),
        "sd_tasks": found.sd_tasks,
        "sd_runs": found.sd_runs,
        "sd_runs_pooled": found.sd_runs_pooled,
        "sd_tasks_population": one.sd_tasks_population,
        "sd_runs_population": one.sd_runs_population,
        "best_tasks": found.best_tasks,
        "f1_of_means": one.f1_of_means,
        **estimate("f1_published", one.f1_published),
        "spread": {
            name: {
                "sd_tasks": numbers.sd_tasks,
                "sd_runs": numbers.sd_runs,
                "n_scored": numbers.n_scored,
            }
            for name, numbers in one.spread.items()
        },
        "n_tasks": found.n_tasks,
        "n_tasks_scored": found.mean.n,
        "n_trials": found.n_trials,
        "n_scored": found.n_scored,
        "unscored": dict(found.unscored),
        "unscored_tasks": list(found.unscored_tasks),
        "missing_tasks": list(found.missing_tasks),
        "difficulty": {
            name: {**estimate("f1", mean), "standard_error": mean.error, "n_tasks": mean.n}
            for name, mean in found.groups.items()
        },
        "cost": _cost(one.cost),
        "tasks": {
            task: {"f1": cell.mean, "sd_runs": cell.sd, "n_scored": len(cell.values)}
            for task, cell in cells.items()
        },
    }


def _cost(found: FireCost | None) -> JsonValue:
    if found is None:
        return None
    return {
        "unit": "USD",
        "total": found.total,
        "per_trial": found.per_trial,
        "per_task": found.per_task,
        "n_trials": found.n_trials,
        "n_tasks": found.n_tasks,
        **estimate("per_f1_point", found.per_point),
    }


def contamination_json(found: Contamination) -> dict[str, JsonValue]:
    """Give one agent's comparison around its cutoff as plain JSON values."""
    return {
        "cutoff": found.cutoff.isoformat(),
        "strata": {
            name: {
                **estimate("before", one.before),
                "n_before": one.before.n,
                **estimate("after", one.after),
                "n_after": one.after.n,
                **estimate("difference", one.difference),
            }
            for name, one in found.strata.items()
        },
        **estimate("adjusted_difference", found.adjusted),
        "left_out": list(found.left_out),
    }
