"""Quadratic kappa against scikit-learn and Lin's formula, its bootstrap against a plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from basanite.errors import InputError
from basanite.stats import Bootstrap, quadratic_kappa

RATINGS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)


@given(RATINGS)
def test_whole_ratings_are_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    found = quadratic_kappa(x, y, range(len(x)))
    if len({*x, *y}) == 1:
        assert (found.value, found.reason) == (None, "both columns are the same constant")
        return
    expected = cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert found.value == pytest.approx(expected, abs=1e-9)


def test_other_numbers_have_lins_coefficient() -> None:
    random = np.random.default_rng(2)
    x = random.normal(3, 1, 50)
    y = 0.7 * x + random.normal(1.5, 0.5, 50)
    covariance = np.mean((x - x.mean()) * (y - y.mean()))
    expected = 2 * covariance / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert quadratic_kappa(x.tolist(), y.tolist(), range(50)).value == pytest.approx(expected)
    # A rater who is always a point higher has the correlation 1, and no kappa of 1.
    shifted = quadratic_kappa([1, 2, 3, 4], [2, 3, 4, 5], range(4))
    assert shifted.value == pytest.approx(2 * 1.25 / (2 * 1.25 + 1))


def test_the_interval_is_that_of_a_plain_loop() -> None:
    random = np.random.default_rng(3)
    x = random.integers(1, 6, 40).astype(float)
    y = np.clip(x + random.integers(-1, 2, 40), 1, 5)
    clusters = np.arange(40) % 10
    found = quadratic_kappa(x.tolist(), y.tolist(), clusters.tolist(), Bootstrap(300, 7, 0.9))
    drawn = []
    for picked in np.random.default_rng(7).integers(10, size=(300, 10)):
        rows = np.concatenate([np.flatnonzero(clusters == one) for one in picked])
        drawn.append(cohen_kappa_score(x[rows], y[rows], weights="quadratic"))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.05, 0.95])))


def test_what_has_no_value_or_interval_says_why() -> None:
    assert quadratic_kappa([], [], []).reason == "no pairs"
    assert quadratic_kappa([3, 3], [5, 5], "ab").value == 0
    few = quadratic_kappa([1, 2, 3], [1, 2, 4], "abc")
    assert few.low is None
    assert few.reason == "fewer than 5 clusters"
    with pytest.raises(InputError, match="2 values of x but 1 of y"):
        quadratic_kappa([1, 2], [1], "ab")
    with pytest.raises(InputError, match="not a finite number"):
        quadratic_kappa([1, float("nan")], [1, 2], "ab")
