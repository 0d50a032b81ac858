"""The difference of two groups that are compared within strata."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._clusters import check_level, finite_array
from ._mean import Estimate, t_quantile


def stratified_difference(
    strata: Sequence[tuple[Sequence[float], Sequence[float]]], level: float = 0.95
) -> Estimate:
    """Give the mean of the first values minus that of the second, stratum by stratum.

    With means ``x_k`` and ``y_k`` of stratum ``k``, whose values are ``n_k`` together::

        D = sum_k w_k (x_k - y_k),   w_k = n_k / sum_j n_j
        V = sum_k w_k ** 2 (s_xk ** 2 / n_xk + s_yk ** 2 / n_yk)

    over the strata that have values on both sides. The interval is ``D ± t(f) sqrt(V)``, with
    the degrees of freedom of Satterthwaite (Biometrics Bulletin 2 (1946), 110-114),
    ``f = V ** 2 / sum (w ** 2 s ** 2 / n) ** 2 / (n - 1)`` over all sides. For one stratum this
    is Welch's interval (Biometrika 34 (1947), 28-35).

    Args:
        strata: for each, the first and the second side's values, all independent.
        level: confidence level, between 0 and 1.

    Returns:
        The difference; `n` and `n_clusters` are the values in strata with both sides. No
        interval, and the reason, where a side of such a stratum has one value only, or where no
        side varies.

    Raises:
        InputError: a value is None, NaN or infinite; a bad level.
    """
    check_level(level)
    pairs = [
        (finite_array(x, what="value"), finite_array(y, what="value")) for x, y in strata if x and y
    ]
    n = sum(len(x) + len(y) for x, y in pairs)
    if not pairs:
        return Estimate(None, None, None, 0, 0, "no stratum has values on both sides")
    weights = [(len(x) + len(y)) / n for x, y in pairs]
    value = math.fsum(
        weight * (math.fsum(x) / len(x) - math.fsum(y) / len(y))
        for weight, (x, y) in zip(weights, pairs, strict=True)
    )
    if any(len(side) < 2 for pair in pairs for side in pair):
        return Estimate(value, None, None, n, n, "a stratum has one value on a side")
    parts = [
        (weight**2 * float(side.var(ddof=1)) / len(side), len(side) - 1)
        for weight, pair in zip(weights, pairs, strict=True)
        for side in pair
    ]
    variance = math.fsum(part for part, _ in parts)
    error = math.sqrt(variance)
    if error <= 1e-12 * max(1.0, abs(value)):
        return Estimate(value, None, None, n, n, "no variation within strata")
    degrees = variance**2 / math.fsum(part**2 / free for part, free in parts)
    half = t_quantile(degrees, (1 + level) / 2) * error
    return Estimate(value, value - half, value + half, n, n, error=error)
