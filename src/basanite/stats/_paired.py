"""The difference of two columns that were measured on the same items."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError
from ._clusters import check_level, cluster_codes, finite_array
from ._mean import Estimate, clustered_mean, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CELLS = 2_000_000
"""Signs held at once (16 MB); more draws go in several blocks."""

_DUST = 1e-12
"""Differences up to this are rounding: the values are equal."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """How a paired comparison is made."""

    level: float = 0.95
    """Confidence level of the interval; `1 - level` is the test's two-sided error rate."""
    power: float = 0.8
    """Probability with which the smallest detectable difference would be found."""
    draws: int = 10_000
    """Sign patterns drawn at random; where there are no more patterns than this, all are used."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """What two columns differ by on the same items."""

    mean: Estimate
    """Mean of `x - y` with its clustered interval, in the unit of the values."""
    share_higher: float | None
    """Share (0 to 1) of the items with `x > y`; None for no items."""
    share_lower: float | None
    share_equal: float | None
    p_value: float | None
    """Two-sided, of the permutation test; None for fewer than two clusters."""
    exact: bool
    """Whether the test used every pattern of signs, instead of random ones."""
    detectable: float | None
    """Smallest true difference (absolute) that the sample finds with the power asked for; None
    where the difference has no interval."""

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.mean.n

    @property
    def n_clusters(self) -> int:
        """Number of clusters, such as tasks."""
        return self.mean.n_clusters


def paired_difference(
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable],
    test: PairedTest = PairedTest(),
) -> PairedDifference:
    """Compare two columns pair by pair, whole clusters at a time.

    The mean of ``d = x - y`` has the cluster-robust t interval of `clustered_mean`. The p-value
    is that of a sign-flip permutation test: if it made no difference which column is which, the
    sum of ``d`` over a cluster would be as likely with the other sign, so that ``|sum d|`` is
    held against its values under all patterns of signs of the clusters. Where there are more
    patterns than `draws`, that many are drawn and ``p = (1 + b) / (1 + draws)``, with ``b``
    draws at least as extreme: a p-value of 0 would claim what no sample shows (Fisher, "The
    Design of Experiments", 1935, section 21; Phipson and Smyth, Stat. Appl. Genet. Mol. Biol.
    9 (2010), article 39). With ``G`` clusters no p-value is below ``2 ** (1 - G)``.

    The smallest detectable difference is ``(t(1 - alpha / 2) + t(power)) * SE`` with ``G - 1``
    degrees of freedom and the standard error of the mean difference (Bloom, "Minimum
    Detectable Effects", Evaluation Review 19 (1995), 547-556; with many clusters, alpha 0.05
    and power 0.8 this is 2.80 SE). It says what this sample could have shown, whatever it did.

    Args:
        x: finite numbers, such as the scores of one run.
        y: finite numbers; `y[i]` is of the same item as `x[i]`.
        clusters: what each item belongs to, such as its task.
        test: level, power, number of draws and their seed.

    Raises:
        InputError: a value is None, NaN or infinite; lengths differ; a bad level or power.
    """
    import numpy as np

    _check(test)
    first, second = finite_array(x, what="x"), finite_array(y, what="y")
    n = len(first)
    if n != len(second):
        raise InputError(f"{n} values of x but {len(second)} of y", todo="Give pairs.")
    differences = first - second
    differences[np.abs(differences) <= _DUST] = 0.0
    mean = clustered_mean(differences.tolist(), clusters, test.level)
    codes, n_clusters = cluster_codes(clusters, n=n)
    sums: Floats = np.zeros(n_clusters)
    np.add.at(sums, codes, differences)
    p_value, exact = _sign_flips(sums, test) if n_clusters > 1 else (None, False)
    return PairedDifference(
        mean=mean,
        share_higher=float((differences > 0).mean()) if n else None,
        share_lower=float((differences < 0).mean()) if n else None,
        share_equal=float((differences == 0).mean()) if n else None,
        p_value=p_value,
        exact=exact,
        detectable=_detectable(mean, test),
    )


def _check(test: PairedTest) -> None:
    check_level(test.level)
    if not 0 < test.power < 1:
        raise InputError(f"the power is {test.power}", todo="Give one between 0 and 1.")
    if test.draws < 1:
        raise InputError(f"{test.draws} draws are too few", todo="Give 1 or more.")


def _detectable(mean: Estimate, test: PairedTest) -> float | None:
    if mean.value is None or mean.high is None:
        return None
    degrees = mean.n_clusters - 1
    wide = t_quantile(degrees, (1 + test.level) / 2)
    error = (mean.high - mean.value) / wide
    return (wide + t_quantile(degrees, test.power)) * error


def _sign_flips(sums: Floats, test: PairedTest) -> tuple[float, bool]:
    """Give the two-sided p-value, and whether all patterns of signs were used."""
    import numpy as np

    # A cluster whose sum is 0 adds nothing under either sign.
    sums = sums[np.abs(sums) > _DUST]
    observed = abs(float(sums.sum()))
    # Patterns with the same sum in theory may differ in the last digit.
    least = observed - 1e-9 * float(np.abs(sums).sum())
    if 2 ** len(sums) <= test.draws:
        return float(np.mean(np.abs(_all_patterns(sums)) >= least)), True
    extreme = sum(int((np.abs(block) >= least).sum()) for block in _random_patterns(sums, test))
    # The observed pattern and its mirror are among all patterns, drawn or not.
    return max((1 + extreme) / (1 + test.draws), 2.0 ** (1 - len(sums))), False


def _all_patterns(sums: Floats) -> Floats:
    import numpy as np

    found = np.zeros(1)
    for value in sums:
        found = np.concatenate([found + value, found - value])
    return found


def _random_patterns(sums: Floats, test: PairedTest) -> Iterator[Floats]:
    import numpy as np

    random = np.random.default_rng(test.seed)
    block = max(1, _CELLS // len(sums))
    for start in range(0, test.draws, block):
        rows = min(block, test.draws - start)
        signs = random.integers(2, size=(rows, len(sums)), dtype=np.int8) * 2.0 - 1.0
        yield signs @ sums
