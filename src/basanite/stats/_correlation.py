"""Correlation of two columns of numbers, with intervals that respect clusters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError
from ._clusters import check_level, cluster_codes, finite_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MIN_CLUSTERS = 5
"""A bootstrap over fewer clusters than this has too few different samples to say anything."""

_CELLS = 2_000_000
"""Weights held at once by the bootstrap (16 MB); more replicates go in several blocks."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One correlation coefficient with its interval, or the reasons for what is missing."""

    value: float | None
    """From -1 to 1; None where it is undefined."""
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    """Why the value or its interval is missing."""


@dataclass(frozen=True, slots=True)
class PairedCorrelation:
    """Pearson's and Spearman's coefficient of the same pairs."""

    pearson: Coefficient
    spearman: Coefficient
    n: int
    """Number of pairs."""
    n_clusters: int


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are drawn: percentile bootstrap, whole clusters with replacement."""

    replicates: int = 1000
    seed: int = 0
    level: float = 0.95


def paired_correlation(
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable],
    bootstrap: Bootstrap = Bootstrap(),
) -> PairedCorrelation:
    """Give Pearson's r and Spearman's rho with percentile cluster-bootstrap intervals.

    Each replicate draws as many clusters as there are, with replacement, and takes all pairs
    of each (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 8 and
    13; Field and Welsh, J. R. Stat. Soc. B 69 (2007), "randomized cluster bootstrap"). Ranks
    are made anew in each replicate, ties get their middle rank. Both coefficients use the
    same draws. A replicate in which a column is constant has no coefficient and is left out;
    if more than a tenth have none, there is no interval.

    Args:
        x: finite numbers, such as scores of a judge.
        y: finite numbers, such as people's labels; `y[i]` belongs to `x[i]`.
        clusters: what each pair belongs to, such as its task.
        bootstrap: number of replicates, seed and level.

    Raises:
        InputError: a value is None, NaN or infinite; lengths differ; a bad level.
    """
    check_level(bootstrap.level)
    first, second = finite_array(x, what="x"), finite_array(y, what="y")
    n = len(first)
    if n != len(second):
        raise InputError(f"{n} values of x but {len(second)} of y", todo="Give pairs.")
    codes, n_clusters = cluster_codes(clusters, n=n)
    reason = _undefined(first, second)
    if reason is not None:
        nothing = Coefficient(None, reason=reason)
        return PairedCorrelation(nothing, nothing, n, n_clusters)
    columns = (first, second)
    ranks = (midranks(first), midranks(second))
    values = tuple(_pearson(a, b) for a, b in (columns, ranks))
    if n_clusters < MIN_CLUSTERS:
        few = f"fewer than {MIN_CLUSTERS} clusters"
        coefficients = [Coefficient(value, reason=few) for value in values]
    else:
        draws = _replicates(columns, codes, n_clusters, bootstrap)
        coefficients = [
            _with_interval(value, drawn, bootstrap.level)
            for value, drawn in zip(values, draws, strict=True)
        ]
    return PairedCorrelation(coefficients[0], coefficients[1], n, n_clusters)


def midranks(values: Floats) -> Floats:
    """Give ranks from 1, equal values sharing the mean of theirs."""
    import numpy as np

    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = (2 * ends - counts + 1) / 2
    return middle[inverse]


def _undefined(x: Floats, y: Floats) -> str | None:
    if len(x) < 3:
        return "fewer than three pairs"
    for name, column in (("x", x), ("y", y)):
        if column.min() == column.max():
            return f"{name} is constant"
    return None


def _pearson(x: Floats, y: Floats) -> float:
    import numpy as np

    dx, dy = x - x.mean(), y - y.mean()
    value = float(dx @ dy / np.sqrt((dx @ dx) * (dy @ dy)))
    return min(1.0, max(-1.0, value))


def _replicates(
    columns: tuple[Floats, Floats], codes: NDArray[np.int64], n_clusters: int, plan: Bootstrap
) -> tuple[Floats, Floats]:
    """Give Pearson's and Spearman's coefficient of each replicate, NaN where undefined."""
    import numpy as np

    # Standardising changes no coefficient, and keeps rounding small beside the numbers.
    x, y = ((column - column.mean()) / column.std() for column in columns)
    # Pearson's r needs six sums only, which add up over clusters; ranks need each pair.
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(codes, part, n_clusters) for part in parts], axis=1)
    rank_x, rank_y = _ranker(x), _ranker(y)
    pearson: list[Floats] = []
    spearman: list[Floats] = []
    for drawn in _draws(n_clusters, max(1, _CELLS // len(codes)), plan):
        pearson.append(_from_sums((drawn @ sums).T))
        weights = drawn[:, codes]
        spearman.append(_of_ranks(weights, rank_x(weights), rank_y(weights)))
    return np.concatenate(pearson), np.concatenate(spearman)


def _draws(n_clusters: int, block: int, plan: Bootstrap) -> Iterator[Floats]:
    """Give blocks (replicate, cluster) of how often each cluster was drawn."""
    import numpy as np

    random = np.random.default_rng(plan.seed)
    for start in range(0, plan.replicates, block):
        rows = min(block, plan.replicates - start)
        drawn = random.integers(n_clusters, size=(rows, n_clusters))
        offsets = np.arange(rows)[:, np.newaxis] * n_clusters
        counts = np.bincount((drawn + offsets).ravel(), minlength=rows * n_clusters)
        yield counts.reshape(rows, n_clusters).astype(np.float64)


def _ranker(values: Floats) -> Callable[[Floats], Floats]:
    """Give a function from weights (replicate, pair) to the middle ranks in each replicate."""
    import numpy as np

    order = np.argsort(values, kind="stable")
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    starts = np.cumsum(counts) - counts

    def ranks(weights: Floats) -> Floats:
        of_value = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = np.cumsum(of_value, axis=1) - (of_value - 1) / 2
        picked: Floats = middle[:, inverse]
        return picked

    return ranks


def _from_sums(sums: Floats) -> Floats:
    """Give coefficients from the weighted sums of 1, x, y, x², y² and xy of each replicate."""
    total, x, y, xx, yy, xy = sums
    return _coefficients(xy - x * y / total, xx - x * x / total, yy - y * y / total, total)


def _of_ranks(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Give the coefficient of each replicate's ranks; all arrays are (replicate, pair)."""
    import numpy as np

    total = weights.sum(axis=1)
    # The mean of ranks from 1 to N is known, ties or not.
    middle = ((total + 1) / 2)[:, np.newaxis]
    dx, dy = x - middle, y - middle
    weighted = weights * dx
    xy, xx = (np.einsum("ij,ij->i", weighted, other) for other in (dy, dx))
    yy = np.einsum("ij,ij,ij->i", weights, dy, dy)
    return _coefficients(xy, xx, yy, total)


def _coefficients(xy: Floats, xx: Floats, yy: Floats, total: Floats) -> Floats:
    """Give covariance over spread, NaN where a column is constant."""
    import numpy as np

    result = np.full(len(total), np.nan)
    # A column that is constant in a replicate leaves nothing but rounding in its sum.
    usable = (xx > 1e-10 * total) & (yy > 1e-10 * total)
    np.divide(xy, np.sqrt(np.where(usable, xx * yy, 1.0)), out=result, where=usable)
    clipped: Floats = np.clip(result, -1.0, 1.0)
    return clipped


def _with_interval(value: float, drawn: Floats, level: float) -> Coefficient:
    import numpy as np

    usable = drawn[~np.isnan(drawn)]
    if len(usable) < 0.9 * len(drawn):
        return Coefficient(value, reason="most resamples hold a constant column")
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    return Coefficient(value, float(low), float(high))
