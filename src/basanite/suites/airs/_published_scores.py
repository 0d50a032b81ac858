"""The figures by the published procedure, flaws included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...stats import Estimate, percentile_estimate
from ._games import Games, battle_rounds, count_games
from ._normalized import published_normalized
from ._options import AirsOptions
from ._resampling import ratings
from ._study import Study

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class Published:
    """Per agent in the study's order; ratings have the state of the art as the last one."""

    s_min: Mapping[str, float]
    ns: tuple[Estimate, ...]
    dropped: tuple[int, ...]
    """Seeds left out because a task is missing."""
    elo: tuple[Estimate, ...]
    elo_median: tuple[float | None, ...]
    n_games: int
    separated: bool


def score_as_published(study: Study, options: AirsOptions) -> Published:
    """Give normalized scores and ratings as published.

    Normalized score: `s_min` is the worst valid score of the study; a seed that lacks a task of
    the study is left out whole; the mean is over seeds and tasks, and its interval draws runs
    within each task, every task for itself (percentiles of 50,000 draws). Rating: see
    `_games`; the interval draws games (100 rounds).
    """
    s_min: dict[str, float] = {}
    for runs in study.tasks:
        worst = runs.worst()
        if worst is not None:
            s_min[runs.task.task] = worst
    tables = _tables(study, s_min)
    games = count_games(study)
    elo, median, separated = _ratings(games, options)
    return Published(
        s_min=s_min,
        ns=tuple(_mean(table, options) for table, _ in tables),
        dropped=tuple(dropped for _, dropped in tables),
        elo=elo,
        elo_median=median,
        n_games=games.n_games,
        separated=separated,
    )


def _tables(study: Study, s_min: Mapping[str, float]) -> list[tuple[Floats, int]]:
    """Give each agent's (seed, task) matrix of complete seeds, and how many are not."""
    import numpy as np

    rows: dict[tuple[str, str], dict[str, float]] = {}
    for runs in study.tasks:
        task = runs.task
        # Without any valid run all are 0, whatever the scale.
        worst = s_min.get(task.task, task.s_min)
        found = published_normalized(runs.scores.tolist(), runs.valid.tolist(), task, worst)
        for run, value in zip(runs.runs, found, strict=True):
            rows.setdefault((run.agent, run.seed), {})[task.task] = value
    tables = []
    for agent in study.agents:
        mine = [row for (name, _), row in rows.items() if name == agent]
        whole = [list(row.values()) for row in mine if len(row) == len(study.tasks)]
        tables.append((np.array(whole).reshape(-1, len(study.tasks)), len(mine) - len(whole)))
    return tables


def _mean(table: Floats, options: AirsOptions) -> Estimate:
    import numpy as np

    seeds, tasks = table.shape
    if not seeds:
        return Estimate(None, None, None, 0, tasks, "no seed has all tasks")
    value = float(table.mean())
    random = np.random.default_rng(options.plan.seed)
    draws = options.published_draws
    sums = np.zeros(draws)
    # Ten million numbers an agent: a byte each takes a fourth of the time.
    small = np.uint8 if seeds <= 255 else np.uint32
    block = max(1, _BLOCK // seeds)
    for column in table.T:
        if np.ptp(column) == 0:
            sums += column[0] * seeds
            continue
        for start in range(0, draws, block):
            end = min(draws, start + block)
            drawn = random.integers(seeds, size=(seeds, end - start), dtype=small)
            sums[start:end] += column[drawn].sum(axis=0)
    return percentile_estimate(value, sums / table.size, options.plan.level, (table.size, tasks))


def _ratings(
    games: Games, options: AirsOptions
) -> tuple[tuple[Estimate, ...], tuple[float | None, ...], bool]:
    """Give ratings, their medians over rounds, and whether the players separate."""
    import numpy as np

    tasks, players = games.won.shape[:2]
    found = ratings(games.points.sum(axis=0)[np.newaxis], prior=0)[0]
    if np.isnan(found).any():
        none = Estimate(None, None, None, games.n_games, tasks, "players separate")
        return (none,) * players, (None,) * players, True
    drawn = ratings(battle_rounds(games, options.battle_rounds, options.plan.seed), prior=0)
    counts = (games.n_games, tasks)
    estimates = [
        percentile_estimate(float(value), drawn[:, player], options.plan.level, counts)
        for player, value in enumerate(found)
    ]
    usable = drawn[~np.isnan(drawn).any(axis=1)]
    medians = np.median(usable, axis=0).tolist() if len(usable) else [None] * players
    return tuple(estimates), tuple(medians), False
