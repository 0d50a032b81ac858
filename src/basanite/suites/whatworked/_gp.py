"""The published Gaussian process: one kernel over the number of factors that differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from ._estimator import Estimate
from ._ties import first_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._observations import Observations
    from ._space import Space

LENGTHS = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25)
NUGGETS = (0.3, 0.03, 1e-3, 1e-6)
"""Both from the one that wins a tie on."""
_COLUMNS = 512
"""Candidates at a time: what bounds memory where there are thousands of cells."""


@dataclass(frozen=True, eq=False)
class _Kriging:
    """One kernel fitted to what was measured, its mean unknown and estimated."""

    seen: Observations
    kernel: NDArray[np.float64]
    """Of each pattern of differing factors."""
    nugget: float
    inverse: NDArray[np.float64]

    def to_seen(self) -> NDArray[np.float64]:
        """Covariance a priori of all cells with those measured: (n_cells, n)."""
        space = self.seen.space
        return np.asarray(self.kernel[space.differing(self.seen.all_cells, self.seen.cells)])

    def means(self) -> NDArray[np.float64]:
        ones = self.inverse.sum(axis=1)
        mean = ones @ self.seen.values / ones.sum()
        return np.asarray(mean + self.to_seen() @ (self.inverse @ (self.seen.values - mean)))

    def covariances(
        self, cross: NDArray[np.float64], columns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Covariance of all cells with some, a posteriori: (n_cells, m).

        It includes that the mean is not known.
        """
        ones = self.inverse.sum(axis=1)
        own = cross[columns]
        prior = self.kernel[
            self.seen.space.differing(self.seen.all_cells, self.seen.all_cells[columns])
        ]
        trend = 1.0 - cross @ ones
        return np.asarray(
            prior - cross @ (self.inverse @ own.T) + np.outer(trend, trend[columns]) / ones.sum()
        )


@lru_cache(maxsize=64)
def _kernels(space: Space) -> NDArray[np.float64]:
    distance = space.pattern_bits.sum(axis=1)
    return np.asarray(np.exp(-distance[None, :] / np.array(LENGTHS)[:, None]))


def _fit(seen: Observations) -> _Kriging:
    """Choose length and nugget by the closed form of the leave-one-out error."""
    kernels = _kernels(seen.space)
    n = seen.cells.size
    matrices = kernels[:, seen.space.differing(seen.cells, seen.cells)]
    noise = np.array(NUGGETS)[:, None, None] * np.eye(n)
    inverses = np.linalg.inv((matrices[:, None] + noise[None]).reshape(-1, n, n))
    if n == 1:
        best = 0
    else:
        ones = inverses.sum(axis=2)
        # P y and diag P of P = inverse - ones ones' / sum, without forming P.
        values = seen.values
        share = (ones @ values) / ones.sum(axis=1)
        top = inverses @ values - ones * share[:, None]
        bottom = np.diagonal(inverses, axis1=1, axis2=2) - ones**2 / ones.sum(axis=1)[:, None]
        losses = ((top / bottom) ** 2).mean(axis=1)
        best = first_best(-losses, least=1e-14)
    length, nugget = divmod(best, len(NUGGETS))
    return _Kriging(seen, kernels[length], NUGGETS[nugget], inverses[best])


@dataclass(frozen=True)
class HammingGP:
    """Ordinary kriging with the kernel exp(-differing factors / length).

    Length and nugget minimise the leave-one-out error; ties go to the larger. Clipped to 0..1.
    Source: WhatWorkedBench's reference Gaussian process.
    """

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return "gp"

    def complete(self, seen: Observations) -> Estimate:
        """Give the whole table."""
        return Estimate(seen.overwrite(np.clip(_fit(seen).means(), 0.0, 1.0)))


@dataclass(frozen=True)
class GPDesign:
    """Measure what most reduces the Gaussian process' variance.

    `grid`: the sum over all cells x of cov(x, c)^2 / (var(c) + nugget). `effect`: the same sum
    over all conditional effects. Length and nugget are chosen anew at each step; ties go to the
    first cell. Source: WhatWorkedBench.
    """

    target: Literal["grid", "effect"]

    def next(self, seen: Observations, costs: NDArray[np.float64] | None = None) -> int | None:
        """Give the next cell."""
        free = seen.candidates()
        if not free.size:
            return None
        fitted = _fit(seen)
        cross = fitted.to_seen()
        gain = np.empty(free.size)
        for start in range(0, free.size, _COLUMNS):
            some = slice(start, start + _COLUMNS)
            block = fitted.covariances(cross, free[some])
            own = block[free[some], np.arange(block.shape[1])]
            if self.target == "grid":
                sums = np.einsum("ij,ij->j", block, block)
            else:
                sums = seen.space.edge_square_sums(block)
            gain[some] = sums / (own + fitted.nugget)
        if costs is not None:
            gain = gain / costs[free]
        return int(free[first_best(gain)])
