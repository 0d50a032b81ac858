"""What the published table of tasks gives, where the text says something else."""

from __future__ import annotations

import math

from pydantic import JsonValue

from ...reports import Board, board_numbers
from ._boards import PUBLISHED, published_rows
from ._json import estimate
from ._published import PublishedAgent, published_figures
from ._score import population_sd


def published_board() -> Board:
    """Give the printed means of all published agents as a board of F1."""
    rows = [row for agent in published_figures().agents for row in published_rows(agent)]
    return Board("FIRE-Bench, as published", "claim F1", tuple(rows), (0.0, 1.0))


def recomputed(agent: PublishedAgent) -> dict[str, JsonValue]:
    """Give a published agent's figures computed from the printed table of its tasks, as shares.

    The text's counts of tasks on which each agent is best (13, 9, 6) are not those of the table
    (12, 9, 7 and 2), and the ± of its first table is `sd_tasks` for three of the four agents.
    `sd_runs_population` is the mean of the printed standard deviations; with three runs,
    the sample's are the square root of 1.5 times as large.
    """
    found = board_numbers(published_board()).of(PUBLISHED + agent.agent)
    means = [mean / 100 for mean, _ in agent.f1.values()]
    spreads = [spread / 100 for _, spread in agent.f1.values()]
    runs = math.fsum(spreads) / len(spreads)
    return {
        **estimate("f1", found.mean),
        "sd_tasks": found.sd_tasks,
        "sd_tasks_population": population_sd(means),
        "sd_runs": runs * math.sqrt(agent.runs / (agent.runs - 1)),
        "sd_runs_population": runs,
        "best_tasks": found.best_tasks,
        "difficulty": {
            name: {**estimate("f1", mean), "standard_error": mean.error, "n_tasks": mean.n}
            for name, mean in found.groups.items()
        },
        "cost_per_f1_point": agent.cost_usd.per_task / (100 * math.fsum(means) / len(means)),
    }
