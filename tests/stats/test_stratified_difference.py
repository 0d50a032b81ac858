"""Differences within strata, against scipy and by hand."""

import math

import pytest
from scipy import stats as oracle

from basanite.errors import InputError
from basanite.stats import stratified_difference

X, Y = [0.9, 0.5, 0.7, 0.4], [0.2, 0.6, 0.3]


def test_one_stratum_is_welchs_interval() -> None:
    found = stratified_difference([(X, Y)], 0.9)
    test = oracle.ttest_ind(X, Y, equal_var=False)
    interval = test.confidence_interval(0.9)
    assert found.value == pytest.approx(sum(X) / 4 - sum(Y) / 3)
    assert found.low == pytest.approx(interval.low)
    assert found.high == pytest.approx(interval.high)
    assert found.n == 7


def test_strata_are_weighted_by_their_values() -> None:
    found = stratified_difference([(X, Y), ([1.0, 0.8], [0.1, 0.3]), ([5.0], [])])
    # 7 and 4 values; the third stratum has no second side.
    assert found.value == pytest.approx((7 * (0.625 - 11 / 30) + 4 * 0.7) / 11)
    parts = [
        (49 / 121 * 0.049166667 / 4, 3), (49 / 121 * 0.043333333 / 3, 2),
        (16 / 121 * 0.02 / 2, 1), (16 / 121 * 0.02 / 2, 1),
    ]  # fmt: skip
    variance = sum(part for part, _ in parts)
    assert found.error == pytest.approx(math.sqrt(variance), rel=1e-6)
    degrees = variance**2 / sum(part**2 / free for part, free in parts)
    half = oracle.t.ppf(0.975, degrees) * math.sqrt(variance)
    assert found.high is not None
    assert found.value is not None
    assert found.high - found.value == pytest.approx(half, rel=1e-5)


def test_where_there_is_no_interval_the_reason_is_said() -> None:
    none = stratified_difference([(X, []), ([], Y)])
    assert (none.value, none.reason) == (None, "no stratum has values on both sides")
    one = stratified_difference([(X, [0.5])])
    assert one.value == pytest.approx(0.125)
    assert (one.low, one.reason) == (None, "a stratum has one value on a side")
    flat = stratified_difference([([0.5, 0.5], [0.2, 0.2])])
    assert (flat.low, flat.reason) == (None, "no variation within strata")
    with pytest.raises(InputError, match="not a finite number"):
        stratified_difference([(X, [math.nan])])
    with pytest.raises(InputError, match="confidence level"):
        stratified_difference([(X, Y)], 95)
