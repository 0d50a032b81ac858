"""Scores as plain JSON; a number that can't be given is null, with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ._tasks import airs_source

if TYPE_CHECKING:
    from ._compare import EloDifference
    from ._scores import AgentScores, AirsScores

SCHEMA = "basanite.suite.airs.{}/1"


def score_envelope(scores: AirsScores) -> dict[str, JsonValue]:
    """Give scores as plain JSON values."""
    options = scores.options
    return {
        "schema": SCHEMA.format("score"),
        "agents": {name: _agent(one) for name, one in scores.agents.items()},
        **scores.sota_elo.to_json("sota_elo"),
        **scores.sota_elo_published.to_json("sota_elo_published"),
        "tasks": list(scores.tasks),
        "left_out": list(scores.left_out),
        "no_scale": list(scores.no_scale),
        "n_runs": len(scores.runs),
        "n_games": scores.n_games,
        "level": options.plan.level,
        "replicates": options.plan.replicates,
        "seed": options.plan.seed,
        "resample": options.resample.value,
        "prior": options.prior,
        "prior_used": scores.prior_used,
        "separated_draws": scores.separated_draws,
        "s_min_choice": options.s_min if isinstance(options.s_min, str) else "own",
        "s_min": dict(scores.s_min),
        "s_min_observed": dict(scores.s_min_observed),
        "sensitivity": [
            {
                "s_min": row.name,
                "ns": dict(row.ns),
                "order": list(row.order),
                "n_tasks": row.n_tasks,
            }
            for row in scores.sensitivity
        ],
        "elo_half_widths": dict(scores.elo_half_widths),
        "source": {**airs_source()},
        "notes": list(scores.notes),
    }


def _agent(one: AgentScores) -> dict[str, JsonValue]:
    return {
        **one.vsr.to_json("vsr"),
        **one.ns.to_json("ns"),
        **one.elo.to_json("elo"),
        **one.ns_published.to_json("ns_published"),
        **one.elo_published.to_json("elo_published"),
        "elo_published_median": one.elo_published_median,
        "elo_equal_weights": one.elo_equal_weights,
        "n_tasks": len(one.tasks),
        "n_runs": one.n_runs,
        "n_valid": one.n_valid,
        "n_dropped_seeds": one.n_dropped_seeds,
        "seeds": list(one.seeds),
        "tasks": {
            name: {
                "vsr": task.vsr,
                "ns": task.ns,
                "n_runs": task.n_runs,
                "n_at_resolution": task.n_at_resolution,
            }
            for name, task in one.tasks.items()
        },
    }


def differences(found: Iterable[EloDifference]) -> list[JsonValue]:
    """Give differences of ratings as plain JSON values."""
    return [
        {
            "first": one.first,
            "second": one.second,
            **one.difference.to_json("difference"),
            "share_above": one.share_above,
        }
        for one in found
    ]
