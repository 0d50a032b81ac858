"""The published linear methods: ridge regression on main effects, or on pairs as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ._estimator import Estimate
from ._ties import first_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._observations import Observations
    from ._space import Space

ALPHAS = (1e-5, 1e-3, 0.1, 1.0, 10.0)
_DESIGN_PENALTY = (1e-8, 0.01)
"""Of the intercept and of all else in the design's information matrix."""


@lru_cache(maxsize=64)
def _features(space: Space, degree: int) -> NDArray[np.float64]:
    """Main effects in -1/+1 coding, and their products: (n_cells, n_features).

    A factor with more levels has one column per level above the first, each contrasted with
    the mean of the levels below it.
    """
    columns, groups = [], []
    for factor, size in enumerate(space.levels):
        own = []
        for level in range(1, size):
            code = space.codes[:, factor]
            own.append(np.where(code == level, 1.0, np.where(code < level, -1.0 / level, 0.0)))
        groups.append(own)
        columns += own
    if degree == 2:
        for a, b in combinations(range(space.k), 2):
            columns += [left * right for left in groups[a] for right in groups[b]]
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Ridge:
    """Ridge regression with its penalty chosen by leaving one out.

    Features are centred on the training rows and the intercept is not penalised; the penalty is
    the largest of those with the least leave-one-out error, each left-out fit made anew. Values
    are clipped to 0..1. Source: WhatWorkedBench's reference methods of degree 1 and 2.
    """

    degree: int

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return "ridge-main" if self.degree == 1 else "ridge-pair"

    def complete(self, seen: Observations) -> Estimate:
        """Give the whole table; without an interval, since ridge gives none."""
        features = _features(seen.space, self.degree)[seen.all_cells]
        x, y = features[seen.cells], seen.values
        if y.size == 1:
            return Estimate(seen.overwrite(np.full(seen.space.n_cells, y[0])))
        alpha = _best_alpha(x, y)
        weights, mean_x, mean_y = _fit(x[None], y[None], np.array([alpha]))
        table = mean_y[0] + (features - mean_x[0]) @ weights[0]
        return Estimate(seen.overwrite(np.clip(table, 0.0, 1.0)))


def _fit(
    x: NDArray[np.float64], y: NDArray[np.float64], alphas: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Fit batches (b, n, p) and (b, n) for each penalty; batches and penalties are one axis."""
    mean_x, mean_y = x.mean(axis=1), y.mean(axis=1)
    centred = x - mean_x[:, None]
    moved = (y - mean_y[:, None])[..., None]
    rows, features = x.shape[1:]
    if rows < features:  # the dual form, with the smaller matrix
        gram = centred @ centred.transpose(0, 2, 1)
        gram = gram[None] + alphas[:, None, None, None] * np.eye(rows)
        weights = centred.transpose(0, 2, 1) @ np.linalg.solve(gram, moved[None])
    else:
        gram = centred.transpose(0, 2, 1) @ centred
        gram = gram[None] + alphas[:, None, None, None] * np.eye(features)
        right = centred.transpose(0, 2, 1) @ moved
        weights = np.linalg.solve(gram, np.broadcast_to(right, (alphas.size, *right.shape)))
    flat = weights.reshape(-1, features)
    return flat, np.tile(mean_x, (alphas.size, 1)), np.tile(mean_y, alphas.size)


def _best_alpha(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    n = y.size
    others = ~np.eye(n, dtype=bool)
    rest = np.nonzero(others)[1].reshape(n, n - 1)
    alphas = np.array(ALPHAS)
    weights, mean_x, mean_y = _fit(x[rest], y[rest], alphas)
    left_out = np.tile(x, (alphas.size, 1))
    errors = np.tile(y, alphas.size) - mean_y - ((left_out - mean_x) * weights).sum(axis=1)
    losses = (errors**2).reshape(alphas.size, n).mean(axis=1)
    # Penalties whose losses are equal but for rounding: the largest.
    return ALPHAS[len(ALPHAS) - 1 - first_best(-losses[::-1], least=1e-14)]


@dataclass(frozen=True)
class LeverageDesign:
    """Measure where a linear model knows least: a design that no measurement changes.

    Greedily the cell with the largest x' (X'X + P)^-1 x, P being 1e-8 for the intercept and
    .01 for the rest; ties go to the first cell. Source: WhatWorkedBench.
    """

    degree: int

    def next(self, seen: Observations, costs: NDArray[np.float64] | None = None) -> int | None:
        """Give the next cell."""
        free = seen.candidates()
        if not free.size:
            return None
        features = _features(seen.space, self.degree)
        x = np.column_stack([np.ones(len(features)), features])[seen.all_cells]
        penalty = np.full(x.shape[1], _DESIGN_PENALTY[1])
        penalty[0] = _DESIGN_PENALTY[0]
        rows = x[seen.cells]
        inverse = np.linalg.inv(rows.T @ rows + np.diag(penalty))
        gain = np.einsum("ij,jk,ik->i", x[free], inverse, x[free], optimize=True)
        if costs is not None:
            gain = gain / costs[free]
        return int(free[first_best(gain, least=1e-10)])


@dataclass(frozen=True)
class RandomDesign:
    """Measure cells in a random order that the seed fixes."""

    seed: int = 0

    def next(self, seen: Observations, costs: NDArray[np.float64] | None = None) -> int | None:
        """Give the first cell of the order that is not measured; costs change nothing."""
        free = np.zeros(seen.space.n_cells, dtype=bool)
        free[seen.candidates()] = True
        order = _order(seen.space.n_cells, self.seed)
        left = order[free[order]]
        return int(left[0]) if left.size else None


@lru_cache(maxsize=256)
def _order(n: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).permutation(n)
