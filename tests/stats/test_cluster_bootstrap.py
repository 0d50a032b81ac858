"""The cluster bootstrap, held against its variance in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from basanite.errors import InputError
from basanite.stats import Bootstrap, Resample, bootstrap_mean, cluster_counts, member_weights

CLUSTERS, SIZE = 12, 6
PLAN = Bootstrap(replicates=20_000, seed=3)


def sample() -> tuple[list[float], list[int]]:
    random = np.random.default_rng(0)
    of_cluster = random.normal(0, 1, CLUSTERS)
    values = of_cluster[:, None] + random.normal(0, 2, (CLUSTERS, SIZE))
    return values.ravel().tolist(), np.repeat(np.arange(CLUSTERS), SIZE).tolist()


def parts(values: list[float]) -> tuple[float, float]:
    """The variance that drawing clusters gives, and the one that drawing members gives."""
    table = np.array(values).reshape(CLUSTERS, SIZE)
    between = float(table.mean(axis=1).var()) / CLUSTERS
    within = float(table.var(axis=1).mean()) / (CLUSTERS * SIZE)
    return between, within


@pytest.mark.parametrize("resample", list(Resample))
def test_the_error_is_the_closed_form(resample: Resample) -> None:
    values, clusters = sample()
    between, within = parts(values)
    expected = {"clusters": between, "members": within, "both": between + within}[resample]
    found = bootstrap_mean(values, clusters, PLAN, resample)
    assert found.value == pytest.approx(np.mean(values), abs=1e-12)
    assert found.error is not None
    assert found.low is not None
    assert found.high is not None
    assert found.error == pytest.approx(math.sqrt(expected), rel=0.03)
    assert found.high - found.low == pytest.approx(2 * 1.96 * found.error, rel=0.05)


def test_unequal_clusters_count_the_same() -> None:
    found = bootstrap_mean([1.0, *[0.0] * 9, 1.0, 1.0, 1.0, 1.0], [0, *[1] * 9, 2, 3, 4, 5], PLAN)
    assert found.value == pytest.approx(5 / 6)
    assert found.n == 14
    assert found.n_clusters == 6


def test_the_order_of_the_values_does_not_matter() -> None:
    values, clusters = sample()
    order = np.random.default_rng(1).permutation(len(values))
    # Clusters get their numbers in the order of their first values: keep that one.
    order = order[np.argsort(np.array(clusters)[order], kind="stable")]
    shuffled = bootstrap_mean([values[i] for i in order], [clusters[i] for i in order], PLAN)
    assert shuffled.low == pytest.approx(bootstrap_mean(values, clusters, PLAN).low, abs=1e-12)


def test_without_an_interval_there_is_a_reason() -> None:
    assert bootstrap_mean([], []).reason == "no values"
    few = bootstrap_mean([1.0, 2, 3, 4], [0, 1, 2, 3])
    assert (few.value, few.low, few.reason) == (2.5, None, "fewer than 5 clusters")
    assert bootstrap_mean([1.0, 2, 3, 4], [0, 0, 1, 1], PLAN, Resample.MEMBERS).low is not None
    same = bootstrap_mean([2.0] * 6, range(6))
    assert (same.low, same.reason) == (None, "no variation between resamples")


def test_members_are_drawn_within_their_group() -> None:
    random = np.random.default_rng(0)
    weights = member_weights([3, 1, 4], 500, random)
    assert (weights[:, :3].sum(axis=1) == 3).all()
    assert (weights[:, 3] == 1).all()
    assert (weights[:, 4:].sum(axis=1) == 4).all()
    assert weights[:, :3].mean(axis=0) == pytest.approx(1, abs=0.1)
    assert (member_weights([3, 1], 4, random, Resample.CLUSTERS) == 1).all()


def test_as_many_clusters_are_drawn_as_there_are() -> None:
    random = np.random.default_rng(0)
    assert (cluster_counts(7, 100, random).sum(axis=1) == 7).all()
    assert (cluster_counts(7, 100, random, Resample.MEMBERS) == 1).all()


@pytest.mark.parametrize("plan", [Bootstrap(replicates=9), Bootstrap(level=95)])
def test_bad_plans_are_refused(plan: Bootstrap) -> None:
    with pytest.raises(InputError):
        bootstrap_mean([1.0, 2], [0, 1], plan)
