"""Correlations against scipy, and the bootstrap against a plain loop over resamples."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.stats import Bootstrap, _correlation, paired_correlation

Columns = tuple[list[float], list[float], list[int]]


def _columns(n: int = 60, clusters: int = 12) -> Columns:
    random = np.random.default_rng(5)
    x = random.random(n).round(1)  # ties
    y = (x + random.random(n)).round(1)
    return x.tolist(), y.tolist(), (np.arange(n) % clusters).tolist()


def test_values_are_those_of_scipy() -> None:
    x, y, clusters = _columns()
    found = paired_correlation(x, y, clusters)
    assert found.pearson.value == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-12)
    assert found.spearman.value == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-12)
    assert (found.n, found.n_clusters) == (60, 12)


def test_intervals_are_those_of_a_plain_loop() -> None:
    x, y, clusters = (np.asarray(column) for column in _columns())
    plan = Bootstrap(replicates=200, seed=9, level=0.9)
    draws = np.random.default_rng(9).integers(12, size=(200, 12))
    pearson, spearman = [], []
    for draw in draws:
        rows = np.concatenate([np.flatnonzero(clusters == cluster) for cluster in draw])
        pearson.append(scipy.stats.pearsonr(x[rows], y[rows]).statistic)
        spearman.append(scipy.stats.spearmanr(x[rows], y[rows]).statistic)
    found = paired_correlation(x.tolist(), y.tolist(), clusters.tolist(), plan)
    for coefficient, loop in ((found.pearson, pearson), (found.spearman, spearman)):
        low, high = np.quantile(loop, [0.05, 0.95])
        assert (coefficient.low, coefficient.high) == pytest.approx((low, high), abs=1e-10)


def test_one_seed_gives_one_interval() -> None:
    columns = _columns()
    one, same = paired_correlation(*columns), paired_correlation(*columns)
    other = paired_correlation(*columns, Bootstrap(seed=1))
    assert one == same
    assert one.pearson.value == other.pearson.value
    assert one.pearson.low != other.pearson.low


def test_clusters_widen_the_interval() -> None:
    # Three copies of each pair are one observation, not three.
    x, y, _ = _columns(20)
    names = [n for n in range(20) for _ in range(3)]
    thrice = ([v for v in x for _ in range(3)], [v for v in y for _ in range(3)])
    clustered = paired_correlation(*thrice, names).pearson
    alone = paired_correlation(*thrice, range(60)).pearson
    assert clustered.low is not None and clustered.high is not None
    assert alone.low is not None and alone.high is not None
    assert clustered.high - clustered.low > 1.4 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([0.5] * 4, [1.0, 2.0, 3.0, 4.0], "x is constant"),
        ([1.0, 2.0, 3.0, 4.0], [0.1] * 4, "y is constant"),
        ([1.0, 2.0], [1.0, 2.0], "fewer than three pairs"),
        ([], [], "fewer than three pairs"),
    ],
)
def test_undefined_has_a_reason(x: list[float], y: list[float], reason: str) -> None:
    found = paired_correlation(x, y, range(len(x)))
    for coefficient in (found.pearson, found.spearman):
        assert (coefficient.value, coefficient.low, coefficient.reason) == (None, None, reason)


def test_few_clusters_give_a_value_without_interval() -> None:
    x, y, _ = _columns()
    found = paired_correlation(x, y, [n % 4 for n in range(60)])
    assert found.pearson.value is not None
    assert (found.pearson.low, found.pearson.reason) == (None, "fewer than 5 clusters")


def test_mostly_constant_resamples_give_no_interval() -> None:
    found = paired_correlation([0.0] * 7 + [1.0], [0.0, 1.0] * 4, range(8))
    assert found.pearson.value is not None
    assert found.pearson.low is None
    assert found.pearson.reason == "most resamples hold a constant column"


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = _columns()
    whole = paired_correlation(*columns)
    monkeypatch.setattr(_correlation, "_CELLS", 100)
    assert paired_correlation(*columns) == whole


def test_bad_columns_are_refused() -> None:
    with pytest.raises(InputError, match="y number 1 is nan"):
        paired_correlation([1, 2, 3], [float("nan"), 1, 2], "abc")
    with pytest.raises(InputError, match="3 values of x but 2 of y"):
        paired_correlation([1, 2, 3], [1, 2], "abc")
    with pytest.raises(InputError, match="3 values but 1 clusters"):
        paired_correlation([1, 2, 3], [1, 2, 4], "a")


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_midranks_are_those_of_scipy(values: list[int]) -> None:
    found = _correlation.midranks(np.asarray(values, dtype=float))
    assert found.tolist() == scipy.stats.rankdata(values).tolist()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=25),
    st.floats(0.01, 1000),
    st.floats(-1000, 1000),
)
def test_scale_and_shift_do_not_matter(
    pairs: list[tuple[int, int]], scale: float, shift: float
) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    plan = Bootstrap(replicates=50)
    first = paired_correlation(x, y, range(len(x)), plan)
    second = paired_correlation([v * scale + shift for v in x], y, range(len(x)), plan)
    for one, two in ((first.pearson, second.pearson), (first.spearman, second.spearman)):
        assert one.value == pytest.approx(two.value, abs=1e-6)
        assert -1 <= (one.value or 0) <= 1
