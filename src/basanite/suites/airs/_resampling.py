"""Replicates of all figures at once, from the same draws of tasks and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...stats import (
    ELO_MEAN,
    ELO_PER_UNIT,
    Bootstrap,
    Resample,
    bradley_terry_many,
    cluster_counts,
    member_weights,
)
from ._games import SOTA_COPIES, outcomes
from ._study import Study, TaskRuns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_CELLS = 1_000_000
"""Weights held at once; more draws go in several blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Arrays (replicate, agent), NaN where a replicate has no runs of an agent."""

    vsr: Floats
    ns: Floats
    elo: Floats
    """(replicate, player), the state of the art the last one."""
    separated: int
    """Replicates in which players separate."""


def ratings(points: Floats, prior: float) -> Floats:
    """Give (table, player): Elo ratings; see `rated`."""
    return rated(points, prior)[0]


def rated(points: Floats, prior: float) -> tuple[Floats, int]:
    """Give (table, player): Elo ratings, with the prior in those tables where players separate.

    Args:
        points: (table, player, player).
        prior: drawn games between each two; 0: NaN where players separate.

    Returns:
        The ratings, and in how many tables players separate.
    """
    import numpy as np

    strengths = bradley_terry_many(points)
    apart = np.isnan(strengths).any(axis=1)
    if prior and apart.any():
        strengths[apart] = bradley_terry_many(points[apart], prior)
    return ELO_MEAN + ELO_PER_UNIT * strengths, int(apart.sum())


def resampled(
    study: Study,
    scores: Sequence[Sequence[float] | None],
    plan: Bootstrap,
    resample: Resample,
    prior: float,
) -> Replicates:
    """Draw tasks, seeds within each agent's runs on a task, or both.

    Args:
        study: the runs.
        scores: normalized scores of each task's runs; None for a task without a scale.
        plan: replicates and seed.
        resample: what is drawn; with both, each draw of a task draws seeds of its own.
        prior: see `ratings`.
    """
    import numpy as np

    random = np.random.default_rng(plan.seed)
    counts = cluster_counts(len(study.tasks), plan.replicates, random, resample)
    totals = _Totals.empty(plan.replicates, len(study.agents))
    for number, (runs, normal) in enumerate(zip(study.tasks, scores, strict=True)):
        ones = np.full(len(runs.scores), np.nan) if normal is None else np.asarray(normal)
        per_run = np.stack([runs.valid.astype(float), ones])
        times = counts[:, number]
        if resample is Resample.CLUSTERS:
            one = member_weights(runs.sizes, 1, random, resample)
            totals.add(runs, per_run, _Drawn(_points(runs, outcomes(runs), one), one, times=times))
        else:
            _add_drawn(totals, runs, per_run, times, random)
    return totals.finish(prior)


def _add_drawn(
    totals: _Totals, runs: TaskRuns, per_run: Floats, times: Ints, random: np.random.Generator
) -> None:
    """Add a task whose runs are drawn anew for each time that it is in a replicate."""
    import numpy as np

    table = outcomes(runs)
    owners = np.repeat(np.arange(len(times)), times)
    block = max(1, _CELLS // len(table))
    for start in range(0, len(owners), block):
        mine = owners[start : start + block]
        weights = member_weights(runs.sizes, len(mine), random)
        totals.add(runs, per_run, _Drawn(_points(runs, table, weights), weights, owners=mine))


def _points(runs: TaskRuns, table: Floats, weights: Floats) -> Floats:
    """Give (draw, player, player) among those present: points of weighted runs."""
    import numpy as np

    # Whole and half numbers below 2**24: single precision holds them exactly.
    copies = np.full((len(weights), 1), SOTA_COPIES)
    weighted = np.concatenate([weights, copies], axis=1).astype(np.float32)
    small = table.astype(np.float32)
    starts = np.append(runs.starts, len(runs.scores))
    ends = np.append(starts[1:], len(table))
    points = np.zeros((len(weights), len(starts), len(starts)))
    for player, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if end < len(table):
            against = weighted[:, start:end] @ small[start:end, end:]
            against *= weighted[:, end:]
            won = np.add.reduceat(against, starts[player + 1 :] - end, axis=1)
            games = weighted[:, start:end].sum(axis=1, keepdims=True) * np.add.reduceat(
                weighted[:, end:], starts[player + 1 :] - end, axis=1
            )
            points[:, player, player + 1 :] = won
            points[:, player + 1 :, player] = games - won
    return points


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Draws of one task's runs."""

    points: Floats
    """(draw, player, player)."""
    weights: Floats
    """(draw, run)."""
    times: Ints | None = None
    """Where there is one draw for all: how often each replicate has it."""
    owners: Ints | None = None
    """Elsewhere: the replicate of each draw, in order."""


@dataclass(slots=True, eq=False)
class _Totals:
    """Sums over the tasks of each replicate."""

    sums: Floats
    """(figure, replicate, agent): of valid runs and of normalized scores."""
    tasks: Floats
    """(figure, replicate, agent): how many tasks are in a sum."""
    points: Floats
    """(replicate, player, player)."""

    @classmethod
    def empty(cls, replicates: int, agents: int) -> _Totals:
        import numpy as np

        shape = (2, replicates, agents)
        points = np.zeros((replicates, agents + 1, agents + 1))
        return cls(np.zeros(shape), np.zeros(shape), points)

    def add(self, runs: TaskRuns, per_run: Floats, drawn: _Drawn) -> None:
        """Add a task's draws to the replicates that they are in."""
        import numpy as np

        means = np.add.reduceat(per_run[:, np.newaxis] * drawn.weights, runs.starts, axis=2)
        means, points = means / np.asarray(runs.sizes), drawn.points
        agents = np.array(runs.agents)
        players = np.append(agents, self.points.shape[1] - 1)
        if drawn.owners is None:
            assert drawn.times is not None
            times = drawn.times.astype(float)
            means, points = means * times[:, np.newaxis], points * times[:, np.newaxis, np.newaxis]
            rows, count = np.arange(len(times)), times
        else:
            rows, begins, found = np.unique(drawn.owners, return_index=True, return_counts=True)
            means = np.add.reduceat(means, begins, axis=1)
            points = np.add.reduceat(points, begins, axis=0)
            count = found.astype(float)
        known = np.flatnonzero(~np.isnan(per_run[:, 0]))
        place = np.ix_(known, rows, agents)
        self.sums[place] += means[known]
        self.tasks[place] += count[:, np.newaxis]
        self.points[np.ix_(rows, players, players)] += points

    def finish(self, prior: float) -> Replicates:
        import numpy as np

        with np.errstate(invalid="ignore", divide="ignore"):
            vsr, ns = self.sums / self.tasks
        return Replicates(vsr, ns, *rated(self.points, prior))
