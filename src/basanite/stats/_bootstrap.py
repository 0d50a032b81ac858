"""Bootstrap of values that come in clusters: whole clusters, their members, or both."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from ..errors import InputError
from ._clusters import check_level, cluster_codes, finite_array
from ._correlation import MIN_CLUSTERS, Bootstrap
from ._mean import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_UNDEFINED = 0.1
"""More replicates without a value than this share, and there is no interval."""


class Resample(StrEnum):
    """What is drawn with replacement."""

    CLUSTERS = "clusters"
    """Whole clusters with all their members: says how sure a mean is for clusters like these.
    The noise within them is in it, since each cluster brings its own."""
    MEMBERS = "members"
    """Members within each cluster: says how sure a mean is for exactly these clusters."""
    BOTH = "both"
    """Clusters, and then members within each: counts the noise within clusters twice, and so is
    too wide by a little where it is large."""


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    plan: Bootstrap | None = None,
    resample: Resample = Resample.CLUSTERS,
) -> Estimate:
    """Give the mean over clusters of their means, with a percentile bootstrap interval.

    Each cluster counts the same, whatever its size. Its error is the standard deviation of the
    replicates. With ``G`` clusters of ``n`` values each, the replicates' variance is, when
    drawing clusters, ``B / G`` with ``B`` the variance (over G) of the clusters' means; when
    drawing members, ``W / (G n)`` with ``W`` the mean variance (over n) within clusters; and
    with both, the sum of the two (Davison and Hinkley, "Bootstrap Methods and their
    Application", 1997, section 3.8).

    Args:
        values: finite numbers.
        clusters: what each value belongs to, such as its task.
        plan: number of replicates, their seed, and the level of the interval; None: the
            defaults.
        resample: what is drawn.

    Returns:
        The mean and its interval; none, and the reason, where clusters are drawn and there are
        fewer than five, or where the replicates do not vary.

    Raises:
        InputError: a value is not finite; lengths differ; a bad level or number of replicates.
    """
    import numpy as np

    plan = plan or Bootstrap()
    check_plan(plan)
    array = finite_array(values, what="value")
    codes, n_clusters = cluster_codes(clusters, n=len(array))
    if not n_clusters:
        return Estimate(None, None, None, 0, 0, "no values")
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=n_clusters)
    ordered = array[order]
    starts = np.cumsum(sizes) - sizes
    mean = float((np.add.reduceat(ordered, starts) / sizes).mean())
    if resample is not Resample.MEMBERS and n_clusters < MIN_CLUSTERS:
        few = f"fewer than {MIN_CLUSTERS} clusters"
        return Estimate(mean, None, None, len(array), n_clusters, few)
    random = np.random.default_rng(plan.seed)
    counts = cluster_counts(n_clusters, plan.replicates, random, resample)
    sums = np.zeros(plan.replicates)
    for number, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        members = ordered[start : start + size]
        owners = np.repeat(np.arange(plan.replicates), counts[:, number])
        weights = member_weights([int(size)], len(owners), random, resample)
        sums += np.bincount(owners, weights @ members / size, plan.replicates)
    return percentile_estimate(mean, sums / n_clusters, plan.level, (len(array), n_clusters))


def check_plan(plan: Bootstrap) -> None:
    """Refuse a plan that can't be carried out.

    Raises:
        InputError: the level is outside of (0, 1), or there are fewer than ten replicates.
    """
    check_level(plan.level)
    if plan.replicates < 10:
        raise InputError(
            f"{plan.replicates} replicates are too few for an interval", todo="Give 10 or more."
        )


def cluster_counts(
    n_clusters: int,
    replicates: int,
    random: np.random.Generator,
    resample: Resample = Resample.CLUSTERS,
) -> NDArray[np.int64]:
    """Give (replicate, cluster): how often each cluster is in each replicate."""
    import numpy as np

    if resample is Resample.MEMBERS:
        return np.ones((replicates, n_clusters), dtype=np.int64)
    drawn = random.integers(n_clusters, size=(replicates, n_clusters))
    return _counted(drawn, n_clusters)


def member_weights(
    sizes: Sequence[int],
    rows: int,
    random: np.random.Generator,
    resample: Resample = Resample.BOTH,
) -> Floats:
    """Give (row, member): how often each member is drawn, a draw of its own in each row.

    Members stand group by group, such as the runs of one agent on a task after another's; as
    many are drawn from each group as it has.

    Args:
        sizes: members of each group.
        rows: number of draws.
        random: where they come from.
        resample: with `CLUSTERS`, each member is there once.
    """
    import numpy as np

    if resample is Resample.CLUSTERS:
        return np.ones((rows, sum(sizes)))
    starts = np.cumsum([0, *sizes])
    drawn = [
        random.integers(start, start + size, size=(rows, size))
        for start, size in zip(starts, sizes, strict=False)
    ]
    return _counted(np.concatenate(drawn, axis=1), sum(sizes)).astype(np.float64)


def percentile_estimate(
    value: float | None, drawn: Floats, level: float, counts: tuple[int, int]
) -> Estimate:
    """Give a value with the percentile interval of its replicates.

    Args:
        value: the estimate from all data.
        drawn: its replicates, NaN where one has none.
        level: of the interval.
        counts: number of values and of clusters.

    Returns:
        No interval, and the reason, where more than a tenth of the replicates have no value, or
        all are equal: a width of zero would be certainty that the sample does not hold.
    """
    import numpy as np

    n, n_clusters = counts
    usable = drawn[np.isfinite(drawn)]
    if value is None or len(usable) < (1 - _UNDEFINED) * len(drawn):
        return Estimate(value, None, None, n, n_clusters, "many resamples have no value")
    if float(np.ptp(usable)) <= 1e-12 * max(1.0, abs(value)):
        return Estimate(value, None, None, n, n_clusters, "no variation between resamples")
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    error = float(usable.std(ddof=1))
    return Estimate(value, float(low), float(high), n, n_clusters, error=error)


def _counted(drawn: NDArray[np.int64], kinds: int) -> NDArray[np.int64]:
    import numpy as np

    rows = len(drawn)
    offsets = np.arange(rows)[:, np.newaxis] * kinds
    return np.bincount((drawn + offsets).ravel(), minlength=rows * kinds).reshape(rows, kinds)
