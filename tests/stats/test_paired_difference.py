"""The paired comparison against scipy, Fisher's own numbers, and its promises."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.stats import PairedTest, clustered_mean, paired_difference

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Crossed minus self-fertilised plants, in eighths of an inch (Fisher 1935, section 17)."""


def test_fisher_s_plants_have_fisher_s_p_value() -> None:
    found = paired_difference(DARWIN, [0] * 15, range(15), PairedTest(draws=2**15))
    # "in 863 of them the sum is 314 or more", of 2 ** 15, counted twice (section 21).
    assert found.p_value == pytest.approx(2 * 863 / 2**15, abs=1e-15)
    assert found.exact
    assert found.mean.value == pytest.approx(314 / 15)
    assert (found.share_higher, found.share_lower) == pytest.approx((13 / 15, 2 / 15))
    drawn = paired_difference(DARWIN, [0] * 15, range(15))
    assert not drawn.exact
    assert drawn.p_value == pytest.approx(0.0527, abs=0.01)


def test_single_clusters_give_the_paired_t_interval() -> None:
    random = np.random.default_rng(1)
    x, y = random.random(23), random.random(23)
    found = paired_difference(x.tolist(), y.tolist(), range(23))
    wanted = scipy.stats.ttest_rel(x, y).confidence_interval(0.95)
    assert (found.mean.low, found.mean.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (found.n, found.n_clusters) == (23, 23)


def test_the_p_value_is_that_of_flipping_whole_clusters() -> None:
    random = np.random.default_rng(2)
    clusters = np.repeat(np.arange(9), 3)
    x, y = random.random(27), random.random(27) + 0.1
    sums = (x - y).reshape(9, 3).sum(axis=1)
    wanted = scipy.stats.permutation_test(
        (sums,), lambda x: float(x.sum()), permutation_type="samples", n_resamples=10_000
    )
    found = paired_difference(x.tolist(), y.tolist(), clusters.tolist())
    assert found.exact
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-12)
    assert found.mean == clustered_mean((x - y).tolist(), clusters.tolist())


def test_copies_of_items_within_tasks_add_no_certainty() -> None:
    x, y = [0.9, 0.5, 0.6, 0.7, 0.4, 0.8], [0.1, 0.4, 0.5, 0.75, 0.2, 0.3]
    once = paired_difference(x, y, "abcdef")
    often = paired_difference(x * 40, y * 40, "abcdef" * 40)
    assert often.p_value == once.p_value
    assert often.detectable == pytest.approx(once.detectable)


def test_the_detectable_difference_is_bloom_s() -> None:
    # Bloom (1995): 2.80 standard errors for two-sided 0.05 and power 0.80, in large samples.
    d = np.random.default_rng(3).normal(size=20_000)
    found = paired_difference(d.tolist(), [0.0] * 20_000, range(20_000), PairedTest(draws=1))
    assert found.detectable is not None
    assert found.detectable * math.sqrt(20_000) / d.std(ddof=1) == pytest.approx(2.80, abs=0.005)


def test_the_detectable_difference_is_found_as_often_as_it_says() -> None:
    random, hits, wanted = np.random.default_rng(4), 0, []
    for _ in range(400):
        clusters = np.repeat(np.arange(25), 4)
        noise = random.normal(size=25)[clusters] + random.normal(size=100)
        nothing = paired_difference(noise.tolist(), [0.0] * 100, clusters.tolist())
        wanted.append(nothing.detectable or 0.0)
    effect = float(np.mean(wanted))
    for _ in range(400):
        clusters = np.repeat(np.arange(25), 4)
        noise = random.normal(size=25)[clusters] + random.normal(size=100) + effect
        found = clustered_mean(noise.tolist(), clusters.tolist())
        hits += found.low is not None and found.low > 0
    assert 0.74 <= hits / 400 <= 0.87


@pytest.mark.parametrize(
    ("x", "y", "clusters", "p_value", "reason"),
    [
        ([], [], [], None, "no values"),
        ([0.5], [0.2], ["a"], None, "fewer than two clusters"),
        ([0.5, 0.4], [0.2, 0.1], ["a", "a"], None, "fewer than two clusters"),
        ([0.5, 0.1 + 0.2], [0.5, 0.3], ["a", "b"], 1.0, "no variation between clusters"),
        ([0.5, 0.5, 0.5], [0.2, 0.2, 0.2], "abc", 0.25, "no variation between clusters"),
    ],
)
def test_what_can_not_be_said_has_a_reason(
    x: list[float], y: list[float], clusters: list[str], p_value: float | None, reason: str
) -> None:
    found = paired_difference(x, y, clusters)
    assert (found.p_value, found.mean.reason) == (p_value, reason)
    assert found.detectable is None
    if x:
        shares = (found.share_higher, found.share_lower, found.share_equal)
        assert sum(share or 0.0 for share in shares) == pytest.approx(1)
    else:
        assert found.share_higher is None


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="2 values of x but 1 of y"):
        paired_difference([1, 2], [1], "ab")
    with pytest.raises(InputError, match="y number 2"):
        paired_difference([1, 2], [1, float("nan")], "ab")
    for test in (PairedTest(level=95), PairedTest(power=80), PairedTest(draws=0)):
        with pytest.raises(InputError, match=r"95|80|0 draws"):
            paired_difference([1, 2], [1, 1], "ab", test)


_PAIRS = st.lists(
    st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32), st.integers(0, 8)),
    min_size=1,
    max_size=40,
)


@given(_PAIRS)
@settings(deadline=None)
def test_swapping_the_columns_turns_the_sign_only(pairs: list[tuple[float, float, int]]) -> None:
    x, y, clusters = (list(column) for column in zip(*pairs, strict=True))
    there, back = paired_difference(x, y, clusters), paired_difference(y, x, clusters)
    assert there.mean.value is not None and back.mean.value is not None
    assert there.mean.value == pytest.approx(-back.mean.value, abs=1e-12)
    assert there.p_value == back.p_value
    assert (there.share_higher, there.share_equal) == (back.share_lower, back.share_equal)
    if there.p_value is not None:
        # The observed pattern and its mirror are always among all patterns.
        assert 2.0 ** (1 - there.n_clusters) * (1 - 1e-12) <= there.p_value <= 1
