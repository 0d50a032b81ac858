"""The published figures, each with its source in the test."""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
import pytest

from basanite.suites.whatworked import (
    EvaluateOptions,
    Reference,
    estimator_named,
    evaluate,
    family_macro,
    method_named,
    published_references,
    read_references,
    run_path,
    score_table,
    select,
    sign_reversals,
)
from support.reference import reference

# All figures: WhatWorkedBench (github.com/EthanNing/WhatWorkedBench, commit 1a6821c), README and
# results/; those to more than three digits are recomputed from its tables.


def four() -> tuple[Reference, ...]:
    return select(published_references(), factors=4)[0]


def six(which: str = "main") -> tuple[Reference, ...]:
    return select(published_references(), factors=6, which=which)[0]  # type: ignore[arg-type]


@lru_cache(maxsize=32)
def figures(method: str, budget: int, factors: int = 4, equivalences: bool = False) -> dict:  # type: ignore[type-arg]
    chosen = four() if factors == 4 else six()
    return evaluate(method, chosen, EvaluateOptions(budget, equivalences)).to_json()


def test_counts() -> None:
    found = published_references()
    assert len(found) == 36
    assert len({one.source for one in found}) == 30
    assert len({one.family for one in found}) == 8
    assert sum(one.space.n_cells for one in found) == 1248
    assert sum(one.truth.effects.size for one in found) == 3392
    assert sum(len(one.truth.pairs) for one in found) == 342


@pytest.mark.parametrize(("floor", "count"), [(0.0, 35), (0.01, 33), (0.05, 24), (0.1, 16)])
def test_sign_reversals(floor: float, count: int) -> None:
    found = [one.name for one in published_references() if sign_reversals(one.truth, floor)]
    assert len(found) == count
    assert "banknote" not in found


def test_the_smaller_tables_are_parts_of_the_larger() -> None:
    pairs = {one.source: one for one in six()}
    equal = 0
    for small in four():
        if small.source in pairs:
            large = dict(
                zip(pairs[small.source].space.masks, pairs[small.source].values, strict=True)
            )
            # The four factors are the first four, with the last two at their first level.
            equal += sum(
                large[mask + "00"] == value
                for mask, value in zip(small.space.masks, small.values, strict=True)
            )
    assert equal == 96


@pytest.mark.parametrize(
    ("method", "recovery", "exact", "strict"),
    [
        ("ridge-main", 0.571149, 15, 1),
        ("ridge-pair", 0.611536, 15, 3),
        ("gp-grid", 0.660782, 15, 2),
        ("gp-effect", 0.701181, 16, 1),
    ],
)
def test_four_factors_at_budget_8(method: str, recovery: float, exact: int, strict: int) -> None:
    found = figures(method, 8)
    assert found["recovery"] == pytest.approx(recovery, abs=5e-7)
    assert (found["exact"], found["strict"]) == (exact, strict)


def test_the_interval_is_over_families() -> None:
    found = figures("ridge-pair", 8)
    means = list(found["families"].values())
    half = 2.570582 * np.std(means, ddof=1) / np.sqrt(6)  # t of 5 degrees of freedom
    assert found["recovery"] == pytest.approx(np.mean(means))
    assert found["recovery_interval"] == pytest.approx(
        [np.mean(means) - half, np.mean(means) + half]
    )


def test_profile_of_pair_ridge_and_what_an_exact_choice_hides() -> None:
    found = figures("ridge-pair", 8)
    assert found["profile"] == [1, 1, 3, 8, 20]
    exact = [row for row in found["per_source"].values() if row["exact"]]
    assert sum(not row["strict"] for row in exact) == 13
    recoveries = [row["recovery"] for row in exact]
    assert np.mean(recoveries) == pytest.approx(0.634, abs=5e-4)
    assert min(recoveries) == pytest.approx(0.361, abs=5e-4)


@pytest.mark.parametrize(
    ("method", "budget", "plain", "with_rules"),
    [
        ("ridge-pair", 20, 0.157, 0.389),
        ("ridge-pair", 32, 0.445, 0.650),
        ("gp-effect", 20, 0.248, 0.462),
        ("gp-effect", 32, 0.537, 0.697),
    ],
)
def test_six_factors_with_and_without_equivalences(
    method: str, budget: int, plain: float, with_rules: float
) -> None:
    assert figures(method, budget, 6)["recovery"] == pytest.approx(plain, abs=6e-4)
    assert figures(method, budget, 6, True)["recovery"] == pytest.approx(with_rules, abs=6e-4)


@pytest.mark.parametrize(
    ("method", "recovery"), [("ridge-pair", 0.230), ("gp-grid", 0.414), ("gp-effect", 0.404)]
)
def test_the_added_families(method: str, recovery: float) -> None:
    # Published over the six sources whose agent episodes were completed.
    chosen = [one for one in six("added") if one.source not in ("graph_dolphins", "mitdb_103")]
    found = evaluate(method, chosen, EvaluateOptions(32)).to_json()
    assert found["recovery"] == pytest.approx(recovery, abs=6e-4)


def test_the_package_holds_the_published_tables() -> None:
    found = {one.name: one for one in read_references(reference("wwb/references"))}
    ours = {one.name: one for one in published_references()}
    assert found.keys() == ours.keys()
    for name, one in ours.items():
        np.testing.assert_array_equal(one.values, found[name].values)
        assert (one.family, one.source) == (found[name].family, found[name].source)
        assert one.rules == found[name].rules


def test_rules_are_the_published_ones_and_hold_in_the_tables() -> None:
    published = json.loads(reference("wwb/equivalence_rules.json").read_text(encoding="utf-8"))
    for one in six():
        given = [(r["guard"], r["guard_value"], r["inactive"]) for r in published[one.family]]
        letters = [(chr(65 + r.guard), r.level, chr(65 + r.inert)) for r in one.rules]
        assert letters == given
        if one.classes is not None:
            np.testing.assert_allclose(one.values, one.values[one.classes], atol=1e-12)


def same_observations(path: str) -> tuple[list[float], list[float], float, float]:
    """Recoveries by source of the reference GP and of ARD, and their macro means."""
    references = four()
    method = method_named(path)
    seen = [run_path(method, one, [8])[0].seen for one in references]
    rows = []
    for name in ("gp", "ard"):
        estimator = estimator_named(name)
        pairs = zip(references, seen, strict=True)
        rows.append([score_table(r.truth, estimator.complete(s).table).recovery for r, s in pairs])
    return rows[0], rows[1], family_macro(references, rows[0]), family_macro(references, rows[1])


def test_ard_beats_the_reference_gp_on_the_same_observations() -> None:
    # Our own finding: .791 against .701 on the GP's observations, .813 against .698 on ridge's.
    gp, ard, gp_macro, ard_macro = same_observations("gp-effect")
    assert gp_macro == pytest.approx(0.701, abs=5e-4)
    assert ard_macro == pytest.approx(0.791, abs=1e-3)
    assert sum(a > g for a, g in zip(ard, gp, strict=True)) == 20
    assert np.mean(ard) - np.mean(gp) == pytest.approx(0.089, abs=2e-3)
    _, _, gp_macro, ard_macro = same_observations("ridge-pair")
    assert gp_macro == pytest.approx(0.698, abs=5e-4)
    assert ard_macro == pytest.approx(0.813, abs=1e-3)


def test_ard_by_its_own_design_and_its_intervals() -> None:
    found = figures("ard", 8)
    assert found["recovery"] == pytest.approx(0.809, abs=0.01)
    assert found["strict"] >= 9
    coverage = found["coverage"]
    assert coverage["level"] == 0.95
    assert 0.92 <= coverage["cells"] <= 0.96
    assert 0.92 <= coverage["effects"] <= 0.96
    assert figures("ard", 6)["recovery"] == pytest.approx(0.690, abs=0.04)


# Mean and standard deviation over all 24 orders of the factors; the published .701 is the
# luckiest. Computed independently: .588 (.024), .577 (.035), .630 (.028), .637 (.025), .790 (.019).
@pytest.mark.parametrize(
    ("method", "mean", "sd", "most"),
    [
        ("ridge-main", 0.588, 0.024, 0.646),
        ("ridge-pair", 0.577, 0.035, 0.615),
        ("gp-grid", 0.630, 0.028, 0.678),
        ("gp-effect", 0.637, 0.025, 0.704),
        ("ard", 0.790, 0.019, 0.839),
    ],
)
def test_all_orders_of_the_factors(method: str, mean: float, sd: float, most: float) -> None:
    found = evaluate(method, four(), EvaluateOptions(8, orders="all")).to_json()
    assert found["n_orders"] == 24
    assert found["recovery"] == pytest.approx(mean, abs=0.01)
    spread = found["spread"]
    assert isinstance(spread, dict)
    assert spread["recovery_sd"] == pytest.approx(sd, abs=0.006)
    assert spread["recovery_max"] == pytest.approx(most, abs=0.015)
