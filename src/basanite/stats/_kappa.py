"""Quadratically weighted kappa: agreement of two raters on an ordered scale."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from ._clusters import check_level, cluster_codes, finite_array
from ._correlation import _CELLS, MIN_CLUSTERS, Bootstrap, Coefficient, _draws, _with_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def quadratic_kappa(
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable],
    bootstrap: Bootstrap | None = None,
) -> Coefficient:
    """Give Cohen's kappa with quadratic weights, and its percentile cluster-bootstrap interval.

    With means over the pairs::

        kappa = 1 - mean((x - y)^2) / (var(x) + var(y) + (mean(x) - mean(y))^2)

    with variances over n, which is 1 minus the observed over the chance-expected squared
    difference (Cohen, Psychological Bulletin 70 (1968), 213-220; Fleiss and Cohen, Educational
    and Psychological Measurement 33 (1973), 613-619). It needs no list of categories, and for
    numbers between them it is Lin's concordance coefficient, the same formula (Biometrics 45
    (1989), 255-268). Unlike a correlation it falls if one rater is always a point higher.

    Args:
        x: finite numbers on one scale, such as a judge's ratings.
        y: `y[i]` is the other rater's number for the same item.
        clusters: what each pair belongs to, such as its task.
        bootstrap: number of replicates, seed and level, as for `paired_correlation`; None for
            its defaults.

    Returns:
        The coefficient, at most 1; None with its reason if there are no pairs, or if both columns
        are the same constant. No interval for fewer than five clusters.

    Raises:
        InputError: a value is None, NaN or infinite; lengths differ; a bad level.
    """
    import numpy as np

    bootstrap = bootstrap or Bootstrap()
    check_level(bootstrap.level)
    first, second = finite_array(x, what="x"), finite_array(y, what="y")
    n = len(first)
    if n != len(second):
        raise InputError(f"{n} values of x but {len(second)} of y", todo="Give pairs.")
    codes, n_clusters = cluster_codes(clusters, n=n)
    if n == 0:
        return Coefficient(None, reason="no pairs")
    # A common shift changes nothing, and keeps rounding small beside the numbers.
    middle = (first.mean() + second.mean()) / 2
    a, b = first - middle, second - middle
    parts = (np.ones(n), a, b, a * a, b * b, a * b)
    sums = np.stack([np.bincount(codes, part, n_clusters) for part in parts], axis=1)
    value = float(_kappas(sums.sum(axis=0)[:, np.newaxis])[0])
    if np.isnan(value):
        return Coefficient(None, reason="both columns are the same constant")
    if n_clusters < MIN_CLUSTERS:
        return Coefficient(value, reason=f"fewer than {MIN_CLUSTERS} clusters")
    blocks = _draws(n_clusters, max(1, _CELLS // n_clusters), bootstrap)
    drawn = np.concatenate([_kappas((block @ sums).T) for block in blocks])
    return _with_interval(value, drawn, bootstrap.level)


def _kappas(sums: Floats) -> Floats:
    """Give kappa from the sums of 1, x, y, x², y² and xy of each replicate; NaN if undefined."""
    import numpy as np

    total, x, y, xx, yy, xy = sums
    observed = xx + yy - 2 * xy
    expected = xx + yy - 2 * x * y / total
    result: Floats = np.full(len(total), np.nan)
    usable = expected > 1e-10 * total
    np.divide(observed, np.where(usable, expected, 1.0), out=result, where=usable)
    kappas: Floats = 1 - result
    return kappas
