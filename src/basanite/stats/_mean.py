"""The mean of values that come in clusters, with an interval that respects them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._clusters import check_level, cluster_codes, finite_array

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval, or with the reason why it has none."""

    value: float | None
    """The estimate, in the unit of the values; None for no values at all."""
    low: float | None
    high: float | None
    """Bounds of the interval at the level that was asked for; both or neither are None."""
    n: int
    """Number of values."""
    n_clusters: int
    reason: str | None = None
    """Why there is no interval (or no value); None where there is one."""
    error: float | None = None
    """Cluster-robust standard error that the interval is made from; None without interval."""

    def to_json(self, name: str) -> dict[str, JsonValue]:
        """Give the value under `name`, its interval as `[low, high]` or null under
        `NAME_interval`, and under `NAME_reason` why one of the two is missing, if it is.
        """
        known = self.low is not None and self.high is not None
        interval: JsonValue = [self.low, self.high] if known else None
        found: dict[str, JsonValue] = {name: self.value, f"{name}_interval": interval}
        return found if self.reason is None else found | {f"{name}_reason": self.reason}


def clustered_mean(
    values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """Give the mean of all values, with a cluster-robust t interval.

    With ``N`` values in ``G`` clusters and the mean ``m``, each cluster has the residual sum
    ``u_g = sum(x - m)`` over its values. The standard error is the CR1 form of the
    cluster-robust ("sandwich") estimator for a regression on a constant::

        SE = sqrt( G / (G - 1) * sum_g u_g ** 2 ) / N

    and the interval is ``m ± t(G - 1) * SE``. If each value is its own cluster, this is the
    usual ``s / sqrt(N)`` t interval; if all clusters have the same size, it is the t interval
    over the clusters' means. See Cameron and Miller, "A Practitioner's Guide to
    Cluster-Robust Inference", J. Human Resources 50 (2015), sections II and VI, and Miller,
    "Adding Error Bars to Evals" (arXiv 2411.00640), section 2.2 (without its factor
    ``G / (G - 1)``, which corrects the estimate for few clusters).

    The bounds are not cut to the range of the score, so that they stay what the formula says.
    The interval needs many clusters to hold what it promises; under about 20 it is too narrow
    if clusters differ in size.

    Args:
        values: finite numbers; a missing one must be left out by the caller.
        clusters: what each value belongs to, such as its task.
        level: confidence level, between 0 and 1.

    Returns:
        The mean and its interval. No interval (and the reason) for fewer than two clusters,
        or if the clusters show no variation at all: a width of zero would be certainty
        that the sample does not hold.

    Raises:
        InputError: a value is None, NaN or infinite; lengths differ; a bad level.
    """
    import numpy as np

    check_level(level)
    array = finite_array(values, what="value")
    n = len(array)
    codes, n_clusters = cluster_codes(clusters, n=n)
    if n == 0:
        return Estimate(None, None, None, 0, 0, "no values")
    # fsum is exact, so that the order of the values can't change the last digit.
    mean = math.fsum(array) / n
    if n_clusters < 2:
        return Estimate(mean, None, None, n, n_clusters, "fewer than two clusters")
    sums = np.bincount(codes, weights=array - mean, minlength=n_clusters)
    error = math.sqrt(n_clusters / (n_clusters - 1) * float(sums @ sums)) / n
    # Sums of equal floats can leave dust of the size of rounding; it is no variation.
    if error <= 1e-12 * max(1.0, abs(mean)):
        return Estimate(mean, None, None, n, n_clusters, "no variation between clusters")
    half = t_quantile(n_clusters - 1, (1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half, n, n_clusters, error=error)


def t_quantile(degrees: float, probability: float) -> float:
    """Give the quantile of Student's t distribution."""
    # scipy.special loads in a fifth of the time that scipy.stats takes.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
