"""The clustered mean against scipy, a brute-force sandwich, and its own promises."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.stats import clustered_mean


def test_single_clusters_give_the_usual_t_interval() -> None:
    values = np.random.default_rng(1).random(23)
    found = clustered_mean(list(values), range(23))
    wanted = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(values.mean(), abs=1e-15)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (found.n, found.n_clusters, found.reason) == (23, 23, None)


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_equal_clusters_give_the_t_interval_over_cluster_means(level: float) -> None:
    groups = np.random.default_rng(2).random((8, 5))
    clusters = np.repeat(np.arange(8), 5).tolist()
    found = clustered_mean(groups.ravel().tolist(), clusters, level)
    wanted = scipy.stats.ttest_1samp(groups.mean(axis=1), 0).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_unequal_clusters_give_the_cr1_sandwich() -> None:
    values = [0.2, 0.9, 0.4, 0.4, 1.0, 0.0, 0.7]
    clusters = ["a", "a", "b", "c", "c", "c", "d"]
    # (X'X)^-1 (sum_g X_g' u_g u_g' X_g) (X'X)^-1 * G/(G-1), with X a column of ones.
    mean = sum(values) / 7
    meat = 0.0
    for name in set(clusters):
        rows = [v - mean for v, c in zip(values, clusters, strict=True) if c == name]
        meat += sum(a * b for a in rows for b in rows)
    error = math.sqrt(meat / 49 * 4 / 3)
    half = scipy.stats.t.ppf(0.975, 3) * error
    found = clustered_mean(values, clusters)
    assert found.error == pytest.approx(error, abs=1e-12)
    assert clustered_mean(values[:1], clusters[:1]).error is None
    assert found.low == pytest.approx(mean - half, abs=1e-12)
    assert found.high == pytest.approx(mean + half, abs=1e-12)


def test_copies_of_items_within_tasks_add_no_certainty() -> None:
    values = [0.1, 0.5, 0.6, 0.9]
    once = clustered_mean(values, "abcd")
    often = clustered_mean(
        [v for v in values for _ in range(50)], [c for c in "abcd" for _ in "x" * 50]
    )
    assert often.low == pytest.approx(once.low)
    assert often.high == pytest.approx(once.high)


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    clusters = np.repeat(np.arange(30), 4).tolist()
    hits = 0
    for _ in range(600):
        values = np.repeat(random.normal(size=30), 4) + random.normal(size=120)
        found = clustered_mean(values.tolist(), clusters)
        assert found.low is not None and found.high is not None
        hits += found.low <= 0 <= found.high
    assert 0.925 <= hits / 600 <= 0.975


@pytest.mark.parametrize(
    ("values", "clusters", "value", "reason"),
    [
        ([], [], None, "no values"),
        ([0.3], ["a"], 0.3, "fewer than two clusters"),
        ([0.3, 0.5], ["a", "a"], 0.4, "fewer than two clusters"),
        ([1.0, 1.0, 1.0], ["a", "b", "c"], 1.0, "no variation between clusters"),
        ([0.1] * 7, list("abcdefg"), 0.1, "no variation between clusters"),
        ([0.0, 1.0, 0.0, 1.0], ["a", "a", "b", "b"], 0.5, "no variation between clusters"),
    ],
)
def test_no_interval_is_better_than_a_fake_one(
    values: list[float], clusters: list[str], value: float | None, reason: str
) -> None:
    found = clustered_mean(values, clusters)
    assert found.value == pytest.approx(value)
    assert (found.low, found.high, found.reason) == (None, None, reason)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None])
def test_a_missing_value_is_refused(bad: float | None) -> None:
    values = [0.5, bad, 0.7]
    with pytest.raises(InputError, match="value number 2"):
        clustered_mean(values, "abc")  # type: ignore[arg-type]


def test_lengths_and_levels_are_checked() -> None:
    with pytest.raises(InputError, match="3 values but 2 clusters"):
        clustered_mean([1, 2, 3], "ab")
    with pytest.raises(InputError, match="level is 95"):
        clustered_mean([1, 2, 3], "abc", 95)


@given(
    st.lists(st.tuples(st.floats(0, 1, width=32), st.integers(0, 5)), min_size=2, max_size=40),
    st.randoms(use_true_random=False),
)
def test_order_and_names_of_clusters_do_not_matter(
    pairs: list[tuple[float, int]], random: "np.random.Generator"
) -> None:
    first = clustered_mean([v for v, _ in pairs], [c for _, c in pairs])
    shuffled = list(pairs)
    random.shuffle(shuffled)
    second = clustered_mean([v for v, _ in shuffled], [f"task {c}" for _, c in shuffled])
    assert first.value == pytest.approx(second.value, abs=1e-12)
    if first.low is not None and second.low is not None:
        assert first.low == pytest.approx(second.low, abs=1e-9)
        assert first.high == pytest.approx(second.high, abs=1e-9)


def test_the_import_loads_no_numpy() -> None:
    script = "import sys, basanite.stats; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.split() == [b"False", b"False"]
