"""Methods on surfaces whose answer is known, and under other orders of the factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.suites.whatworked import (
    METHODS,
    EvaluateOptions,
    Factor,
    HammingGP,
    InertRule,
    ModelAveragedDesign,
    ModelAveragedGP,
    Noise,
    Observations,
    Reference,
    Truth,
    classes_by_output,
    classes_by_rules,
    estimator_named,
    evaluate,
    letters,
    method_named,
    noise_ceiling,
    orders_of,
    published_references,
    rules_from_classes,
    run_path,
    score_table,
    sign_reversals,
    space_of,
)


def surface(weights: dict[tuple[int, ...], float], k: int = 4, **given: object) -> Reference:
    """A table from Walsh coefficients, .5 in the middle."""
    space = space_of((2,) * k)
    signs = 2.0 * space.codes - 1
    values = np.full(space.n_cells, 0.5)
    for factors, weight in weights.items():
        values += weight * signs[:, list(factors)].prod(axis=1)
    return Reference.from_values("made", values, letters(k), **given)  # type: ignore[arg-type]


ADDITIVE = surface({(0,): 0.2, (1,): -0.1, (3,): 0.05})
PAIRED = surface({(0,): 0.2, (1,): -0.1, (0, 1): 0.15})


@pytest.mark.parametrize("method", METHODS)
def test_the_whole_grid_measured_is_the_truth(method: str) -> None:
    (step,) = run_path(method_named(method), PAIRED, [14])
    assert step.spent == 14
    np.testing.assert_array_equal(step.estimate.table, PAIRED.values)
    score = score_table(PAIRED.truth, step.estimate.table)
    assert score.recovery == 1.0
    assert score.strict
    assert score.exact


@pytest.mark.parametrize("method", ["ridge-main", "ridge-pair", "ard"])
def test_main_effects_are_found_from_few_measurements(method: str) -> None:
    (step,) = run_path(method_named(method), ADDITIVE, [12 if method == "ridge-pair" else 8])
    assert score_table(ADDITIVE.truth, step.estimate.table).recovery > 0.97


def test_a_pair_is_found_by_those_who_look_for_pairs() -> None:
    def recovery(name: str) -> float:
        (step,) = run_path(method_named(name), PAIRED, [12])
        return score_table(PAIRED.truth, step.estimate.table).recovery

    assert recovery("ridge-pair") > 0.97
    assert recovery("ard") > 0.9
    assert recovery("ridge-main") < 0.9


def test_a_constant_workflow_is_no_trouble() -> None:
    flat = surface({})
    for method in METHODS:
        (step,) = run_path(method_named(method), flat, [5])
        score = score_table(flat.truth, step.estimate.table)
        assert score.recovery == 1.0
        assert score.choice == "0000"  # ties go to the one that switches least on


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(4)), st.sampled_from(["ridge-pair", "gp", "ard"]))
def test_estimators_don_t_depend_on_the_order_of_factors(order: list[int], name: str) -> None:
    chosen = published_references()[0]
    moved = chosen.relabelled(order)
    seen = run_path(method_named("gp-effect"), chosen, [7])[0].seen
    table = dict(zip(moved.space.masks, moved.values, strict=True))
    masks = ["".join(chosen.space.masks[cell][i] for i in order) for cell in seen.cells]
    other = Observations.from_masks(moved.space, {mask: table[mask] for mask in masks})
    estimator = estimator_named(name)
    ours = score_table(chosen.truth, estimator.complete(seen).table)
    theirs = score_table(moved.truth, estimator.complete(other).table)
    assert ours.recovery == pytest.approx(theirs.recovery, abs=1e-6)
    assert ours.pair_mae == pytest.approx(theirs.pair_mae, abs=1e-7)


def test_orders() -> None:
    assert len(orders_of(4)) == 24
    sample = orders_of(6, 24, seed=3)
    assert len(set(sample)) == 24
    assert sample == orders_of(6, 24, seed=3)
    with pytest.raises(InputError, match="no order"):
        ADDITIVE.relabelled([0, 1, 1, 2])


def test_metrics_by_hand() -> None:
    # f = .1 a + .2 b + .3 ab over two factors.
    truth = Truth.of(space_of((2, 2)), np.array([0.0, 0.2, 0.1, 0.6]))
    np.testing.assert_allclose(truth.effects, [0.1, 0.4, 0.2, 0.5])  # A at B=0, 1; B at A=0, 1
    np.testing.assert_allclose(truth.pairs, [0.3])
    table = np.array([0.0, 0.2, 0.1, 0.3])
    score = score_table(truth, table)
    assert score.effect_mae == pytest.approx((0 + 0.3 + 0 + 0.3) / 4)
    assert score.recovery == pytest.approx(1 - 0.15 / 0.3)
    assert score.pair_mae == pytest.approx(0.3)
    assert score.grid_mae == pytest.approx(0.075)
    assert (score.choice, score.regret, score.exact) == ("11", 0.0, True)
    assert score.profile == (False, False, False, False, False)
    assert not sign_reversals(truth)
    assert sign_reversals(Truth.of(space_of((2, 2)), np.array([0.0, 0.2, 0.1, 0.05]))) == (0, 1)


def test_rules_outputs_and_back() -> None:
    space = space_of((2, 2, 2))
    classes = classes_by_rules(space, [InertRule(0, 0, 2)])
    assert [space.masks[one] for one in classes] == [
        "000", "000", "010", "010", "100", "101", "110", "111",
    ]  # fmt: skip
    outputs = ["p", "p", "q", "q", "r", "s", "t", None]
    np.testing.assert_array_equal(classes_by_output(outputs), classes)
    assert InertRule(0, 0, 2) in rules_from_classes(space, classes)
    with pytest.raises(InputError, match="does not fit"):
        classes_by_rules(space, [InertRule(0, 2, 1)])


def test_equivalences_copy_values_and_save_measurements() -> None:
    made = surface({(0,): 0.2, (1,): 0.1}, rules=[InertRule(0, 0, 2), InertRule(0, 1, 2)])
    for name in ("gp-effect", "ard", "ridge-pair"):
        (step,) = run_path(method_named(name), made, [99], equivalences=True)
        assert step.spent == 6  # eight classes, two of them the anchors'
        np.testing.assert_allclose(step.estimate.table, made.values)


LEVELS = (3, 2, 4)


def leveled(**given: object) -> Reference:
    space = space_of(LEVELS)
    values = np.array([0.1, 0.5, 0.2])[space.codes[:, 0]] + 0.3 * space.codes[:, 1]
    factors = [Factor("loss", "", ("a", "b", "c")), Factor("norm"), letters(1, [4])[0]]
    return Reference.from_values("levels", values, factors, **given)  # type: ignore[arg-type]


def test_factors_with_more_levels() -> None:
    made = leveled()
    high, _ = made.space.edges
    assert high.size == 3 * 8 + 1 * 12 + 6 * 6
    assert made.truth.pairs.shape == (3 * 1 + 3 * 6 + 1 * 6,)
    np.testing.assert_allclose(made.truth.pairs, 0.0, atol=1e-12)
    assert sign_reversals(made.truth) == (0,)  # up from a to b, down from b to c
    for name in ("ridge-pair", "gp-effect", "ard"):
        (step,) = run_path(method_named(name), made, [12])
        assert score_table(made.truth, step.estimate.table).recovery > (
            0.5 if name != "ard" else 0.85
        )
    moved = made.relabelled([2, 0, 1])
    assert moved.space.levels == (4, 3, 2)
    assert moved.values[moved.space.cell("310")] == made.values[made.space.cell("103")]


def test_more_levels_are_two_levels_where_there_are_two() -> None:
    kernel = ModelAveragedGP().complete(run_path(method_named("ard"), PAIRED, [6])[0].seen)
    assert kernel.cells is not None
    inside = (kernel.cells.low <= PAIRED.values + 1e-9) & (
        PAIRED.values <= kernel.cells.high + 1e-9
    )
    assert inside.mean() >= 0.9


def test_costs_are_the_budget_and_weigh_the_gain() -> None:
    space = space_of((2,) * 4)
    costs = np.where(space.codes[:, 0] == 1, 10.0, 1.0)
    made = surface({(0,): 0.2, (1,): 0.1}, costs=costs.tolist())
    for name in ("ridge-pair", "gp-effect", "ard"):
        (step,) = run_path(method_named(name), made, [12])
        spent = costs[step.seen.cells[2:]].sum()
        assert step.spent == spent <= 12
        assert (costs[step.seen.cells[2:]] == 1).sum() >= 2


def test_noise_is_not_put_over_the_table_and_has_a_ceiling() -> None:
    noisy = surface({(0,): 0.2, (1,): 0.1}, noise=Noise(0.02, replicates=8))
    (step,) = run_path(method_named("ard"), noisy, [8], seed=1)
    measured = step.seen.values
    assert not np.allclose(step.estimate.table[step.seen.cells], measured)
    assert np.abs(measured - noisy.values[step.seen.cells]).max() < 0.1
    again = run_path(method_named("ard"), noisy, [8], seed=1)[0]
    np.testing.assert_array_equal(measured, again.seen.values)
    assert noise_ceiling(noisy.truth, 0.02, 8) == pytest.approx(
        1 - 0.01 * np.sqrt(2 / np.pi) / noisy.truth.effect_size
    )
    found = evaluate("ard", [noisy], EvaluateOptions(8)).to_json()
    row = found["per_source"]["made"]  # type: ignore[index]
    assert row["noise_ceiling"] > 0.9


def test_replicates_draw_the_estimate_to_the_truth() -> None:
    space = space_of((2,) * 4)
    rng = np.random.default_rng(0)
    cells = np.array([0, 15, 3, 5, 6, 9, 10, 12])
    errors = []
    for runs in (1, 50):
        values = np.array([ADDITIVE.values[c] + rng.normal(0, 0.1, runs).mean() for c in cells])
        seen = Observations(space, cells, values, np.full(cells.size, runs), 0.1)
        table = ModelAveragedGP().complete(seen).table
        errors.append(np.abs(table - ADDITIVE.values).mean())
    assert errors[1] < errors[0] / 2


def test_ard_is_better_than_the_reference_gp_under_noise() -> None:
    references = [one for one in published_references() if one.space.k == 4]
    # Computed independently at 5 % of the range: .683 against .586.
    options = EvaluateOptions(8, noise=0.05)
    ard = evaluate("ard", references, options).to_json()["recovery"]
    gp = evaluate("gp-effect", references, options).to_json()["recovery"]
    assert isinstance(ard, float)
    assert isinstance(gp, float)
    assert ard > gp + 0.03


def test_twelve_factors_in_little_memory() -> None:
    import tracemalloc

    made = surface({(0,): 0.2, (5,): 0.1, (0, 5): 0.05, (11,): -0.1}, k=12)
    seen = Observations(
        made.space,
        np.array([0, 4095, 7, 99, 2222, 3000]),
        made.values[[0, 4095, 7, 99, 2222, 3000]],
    )
    tracemalloc.start()
    assert HammingGP().complete(seen).table.shape == (4096,)
    assert method_named("gp-effect").design.next(seen) is not None
    assert ModelAveragedDesign().next(seen) is not None
    assert ModelAveragedGP().complete(seen).effects is not None
    score_table(made.truth, made.values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6
