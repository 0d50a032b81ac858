"""A Gaussian process that learns which factors matter, averaged over many kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ._estimator import Estimate, Interval
from ._ties import first_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._observations import Observations
    from ._space import Space

RELEVANCES = (0.02, 0.1, 0.3, 0.8)
"""What a factor's relevance may be."""
MOST_KERNELS = 700
NUGGET = 1e-4
_SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Prior variances that are tried where the noise is known, in units of the values' variance."""
_SEED = 0
_KEPT_WEIGHT = 0.999
_MOST_NUMBERS = 8_000_000
"""Largest array of whitened columns: 64 MB."""
_COLUMNS = 512


@dataclass(frozen=True)
class ModelAveragedGP:
    """Ordinary kriging averaged over kernels with a relevance of their own for each factor.

    The kernel of two cells is the product over factors of 1 + t_i c_i, over the same at equal
    cells, where c_i is 1 for equal levels and -1 / (levels - 1) for others. With two levels the
    prior variance of the Walsh coefficient of a set of factors is the product of their t_i:
    interactions are expected where main effects are large. All t in {.02, .1, .3, .8}^k are
    tried, or 700 of them drawn by a fixed seed; each is weighted by its marginal likelihood with
    a flat mean and the scale integrated out, log w = -(log|K| + log 1'K^-1 1
    + (n - 1) log y'Py) / 2. Where the noise is known, it is in K instead and the scale is tried
    on a grid.

    Intervals are normal with the mixture's mean and standard deviation, cut to 0..1 (effects:
    -1..1); on the published tables those of 95 % hold 94 to 96 % at B=8. Measured cells have
    none, but where they are noisy.
    """

    level: float = 0.95
    most_kernels: int = MOST_KERNELS

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return "ard"

    def complete(self, seen: Observations) -> Estimate:
        """Give the whole table with intervals of cells and effects."""
        mixture = _fit(seen, self.most_kernels)
        table = seen.overwrite(np.clip(mixture.mean, 0.0, 1.0))
        factor = _quantile(self.level)
        cell_half = factor * np.sqrt(mixture.cell_variances())
        effect_half = factor * np.sqrt(mixture.effect_variances())
        if seen.noise_sd is None:
            known = np.isin(seen.all_cells, seen.cells)
            cell_half[known] = 0.0
            high, low = seen.space.edges
            effect_half[known[high] & known[low]] = 0.0
            equal = seen.all_cells[high] == seen.all_cells[low]
            effect_half[equal] = 0.0
        high, low = seen.space.edges
        effects = table[high] - table[low]
        return Estimate(
            table,
            _interval(table, cell_half, 0.0, self.level),
            _interval(effects, effect_half, -1.0, self.level),
        )


@dataclass(frozen=True)
class ModelAveragedDesign:
    """Measure what most reduces the averaged variance of all conditional effects.

    The sum over effects of (cov(high, c) - cov(low, c))^2 / (var(c) + noise), with the mixture's
    covariance: that of its kernels, and that of their means about the common mean.
    """

    most_kernels: int = MOST_KERNELS

    def next(self, seen: Observations, costs: NDArray[np.float64] | None = None) -> int | None:
        """Give the next cell."""
        free = seen.candidates()
        if not free.size:
            return None
        mixture = _fit(seen, self.most_kernels)
        gain = np.empty(free.size)
        for start in range(0, free.size, _COLUMNS):
            some = free[start : start + _COLUMNS]
            block = mixture.covariances(some)
            own = block[some, np.arange(some.size)]
            sums = seen.space.edge_square_sums(block)
            gain[start : start + _COLUMNS] = sums / np.maximum(own + mixture.noise, 1e-300)
        if costs is not None:
            gain = gain / costs[free]
        return int(free[first_best(gain, least=0.0)])


@lru_cache(maxsize=16)
def _kernels(space: Space, most: int) -> NDArray[np.float64]:
    """Each kernel's value for each pattern of differing factors: (kernels, 2^k)."""
    count = len(RELEVANCES) ** space.k
    if count <= most:
        chosen = np.array(list(product(range(len(RELEVANCES)), repeat=space.k)))
    else:
        drawn = np.random.default_rng(_SEED).choice(count, size=most, replace=False)
        places = len(RELEVANCES) ** np.arange(space.k)
        chosen = (np.sort(drawn)[:, None] // places) % len(RELEVANCES)
    t = np.array(RELEVANCES)[chosen]
    apart = (1.0 - t / (np.array(space.levels) - 1.0)) / (1.0 + t)
    logs = np.log(apart) @ space.pattern_bits.T
    return np.asarray(np.exp(logs))


@dataclass(eq=False)
class _Mixture:
    """The kernels that matter, fitted: weights w, scales s, factors of K."""

    seen: Observations
    mean: NDArray[np.float64]
    noise: float
    """Mean variance of a measurement's error."""
    prior: NDArray[np.float64]
    """Sum of w s times the kernel, for each pattern."""
    whitened: NDArray[np.float64]
    """Rows z with sum z z' = the variance that the measurements explain: (rows, n_cells)."""
    added: NDArray[np.float64]
    """Rows of the variance of the unknown mean and of the kernels' means: (rows, n_cells)."""

    def covariances(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Covariance of all cells with some: (n_cells, m)."""
        cells = self.seen.all_cells
        patterns = self.seen.space.differing(cells, cells[columns])
        block: NDArray[np.float64] = self.prior[patterns]
        block -= self.whitened.T @ self.whitened[:, columns]
        block += self.added.T @ self.added[:, columns]
        return block

    def cell_variances(self) -> NDArray[np.float64]:
        own = self.prior[0] - _square_sums(self.whitened) + _square_sums(self.added)
        return np.asarray(np.maximum(own, 0.0))

    def effect_variances(self) -> NDArray[np.float64]:
        space, cells = self.seen.space, self.seen.all_cells
        high, low = space.edges
        patterns = np.zeros(high.size, dtype=np.int64)
        for factor in range(space.k):
            unequal = space.codes[cells[high], factor] != space.codes[cells[low], factor]
            patterns = (patterns << 1) | unequal
        found: NDArray[np.float64] = 2 * (self.prior[0] - self.prior[patterns])
        for start in range(0, high.size, 2048):
            some = slice(start, start + 2048)
            for rows, sign in ((self.whitened, -1.0), (self.added, 1.0)):
                found[some] += sign * _square_sums(rows[:, high[some]] - rows[:, low[some]])
        return np.asarray(np.maximum(found, 0.0))


def _fit(seen: Observations, most: int) -> _Mixture:
    space, n = seen.space, seen.cells.size
    kernels = _kernels(space, most)
    centre = float(seen.values.mean())
    unit = float(np.abs(seen.values - centre).max()) or 1.0
    y = (seen.values - centre) / unit
    matrices = kernels[:, space.differing(seen.cells, seen.cells)]
    matrices[:, np.arange(n), np.arange(n)] += NUGGET
    known = seen.noise_sd is not None and seen.noise_sd > 0
    scales = np.ones(len(kernels))
    if known:
        assert seen.noise_sd is not None
        counts = np.ones(n) if seen.counts is None else seen.counts
        errors = (seen.noise_sd / unit) ** 2 / counts
        grid = max(float(y.var()), float(errors.mean())) * np.array(_SCALES)
        scales = np.tile(grid, len(kernels))
        matrices = np.repeat(matrices, grid.size, axis=0)
        matrices[:, np.arange(n), np.arange(n)] += errors / scales[:, None]
    factors: NDArray[np.float64] = np.linalg.cholesky(matrices).astype(float, copy=False)
    solved = np.tile(np.stack([y, np.ones(n)], axis=1), (len(factors), 1, 1))
    _forward(factors, solved)
    zy, z1 = solved[:, :, 0], solved[:, :, 1]
    ones = (z1**2).sum(axis=1)
    means = (zy * z1).sum(axis=1) / ones
    # y'Py; the floor is far below what values of double precision can hold.
    misfit = np.maximum(((zy - means[:, None] * z1) ** 2).sum(axis=1), 1e-24)
    log_det = 2 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    if known:
        logs = -0.5 * (log_det + np.log(ones) + (n - 1) * np.log(scales) + misfit / scales)
    else:
        logs = -0.5 * (log_det + np.log(ones) + (n - 1) * np.log(misfit))
        scales = misfit / max(n - 1, 1)
    weights = np.exp(logs - logs.max())
    kept = _kept(weights, (n + 1) * space.n_cells)
    weights = weights[kept] / weights[kept].sum()
    rows = kernels[kept // (len(_SCALES) if known else 1)]
    strengths = weights * scales[kept]
    white = rows[:, space.differing(seen.cells, seen.all_cells)]
    _forward(factors[kept], white)
    residuals = zy[kept] - means[kept][:, None] * z1[kept]
    tables = means[kept][:, None] + (residuals[:, None, :] @ white)[:, 0]
    mean = weights @ tables
    trend = 1.0 - (z1[kept][:, None, :] @ white)[:, 0]
    added = np.concatenate(
        [
            np.sqrt(strengths / ones[kept])[:, None] * trend,
            np.sqrt(weights)[:, None] * (tables - mean),
        ]
    )
    white *= np.sqrt(strengths)[:, None, None] * unit
    noise = NUGGET * float(strengths.sum()) * unit**2
    return _Mixture(
        seen,
        centre + unit * mean,
        noise + (seen.noise_sd or 0.0) ** 2,
        strengths @ rows * unit**2,
        white.reshape(-1, space.n_cells),
        added * unit,
    )


def _kept(weights: NDArray[np.float64], numbers: int) -> NDArray[np.int64]:
    """The heaviest models that hold nearly all weight, as many as memory allows."""
    order = np.argsort(-weights, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    count = int(np.searchsorted(shares, _KEPT_WEIGHT)) + 1
    return order[: max(1, min(count, _MOST_NUMBERS // numbers))]


def _forward(factors: NDArray[np.float64], found: NDArray[np.float64]) -> None:
    """Solve L x = b in place for lower triangles (batch, n, n) and right sides (batch, n, m)."""
    for i in range(factors.shape[1]):
        if i:
            found[:, i] -= (factors[:, i, None, :i] @ found[:, :i])[:, 0]
        found[:, i] /= factors[:, i, i, None]


def _square_sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->j", rows, rows))


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _interval(
    middle: NDArray[np.float64], half: NDArray[np.float64], least: float, level: float
) -> Interval:
    low, high = np.clip(middle - half, least, 1.0), np.clip(middle + half, least, 1.0)
    return Interval(low, high, level)
