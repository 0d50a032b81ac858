"""Normalized scores: each edge case by hand, as published and ours."""

from __future__ import annotations

import math

import pytest

from basanite.suites.airs import (
    AirsOptions,
    AirsTask,
    airs_tasks,
    normalized,
    published_gap,
    published_normalized,
    score_runs,
)
from support.airs import FIVE, SICK, SVAMP, ZINC, run
from support.reference import reference


def task(name: str, **changes: object) -> AirsTask:
    return airs_tasks()[name].model_copy(update=changes)


def published(
    score: float, of: AirsTask, *, valid: bool = True, s_min: float | None = None
) -> float:
    return published_normalized([score], [valid], of, of.s_min if s_min is None else s_min)[0]


def ours(score: float, of: AirsTask, *, valid: bool = True) -> float:
    found = normalized([score], [valid], of, of.s_min)
    assert found is not None
    return found[0]


def test_worst_is_zero_and_state_of_the_art_is_one() -> None:
    for one in airs_tasks().values():
        for value in (published, ours):
            assert value(one.s_min, one) == pytest.approx(0, abs=1e-12)
            assert value(one.s_sota, one) == pytest.approx(1, abs=1e-12)


def test_half_way_in_powers_of_ten() -> None:
    # phi: worst 10 away -> -1, sota 0.1 away -> 1; a distance of 1 is half way, 0.01 beyond.
    made = task(ZINC, s_min=10.0, s_sota=0.1)
    assert published(1.0, made) == pytest.approx(0.5)
    assert published(0.01, made) == pytest.approx(1.5)
    assert ours(0.01, made) == pytest.approx(1.5)


def test_a_perfect_error_of_zero() -> None:
    """Published: the distance becomes 0.999, which is worse than the state of the art."""
    zinc = task(ZINC)
    by_hand = (-math.log10(0.999) + math.log10(9.699924)) / (
        -math.log10(0.017) + math.log10(9.699924)
    )
    assert published_gap(0.0, 0.0) == 0.999
    assert published(0.0, zinc) == pytest.approx(by_hand)
    # Value from the specification's own computation.
    assert published(0.0, zinc) == pytest.approx(0.358, abs=5e-4)
    assert published(0.0, zinc) < published(zinc.s_sota, zinc)
    # Ours: half of the last digit of 0.017 is the least distance.
    best = (-math.log10(0.0005) + math.log10(9.699924)) / (
        -math.log10(0.017) + math.log10(9.699924)
    )
    assert ours(0.0, zinc) == pytest.approx(best)
    assert ours(0.0, zinc) == ours(0.0004, zinc) > ours(0.0006, zinc) > 1


def test_a_perfect_accuracy() -> None:
    """Published: 1e-3, whatever the test set; ours: half of one of 300 items."""
    svamp = task(SVAMP)
    assert published_gap(1.0, 1.0) == pytest.approx(1e-3)
    assert published(1.0, svamp) == pytest.approx(3 / -math.log10(1 - 0.942))
    assert svamp.resolution == pytest.approx(1 / 600, rel=1e-5)
    assert ours(1.0, svamp) == pytest.approx(math.log10(600) / -math.log10(1 - 0.942), rel=1e-5)
    assert ours(1.0, svamp) > ours(299 / 300, svamp)


def test_published_can_rank_perfect_below_nearly_perfect() -> None:
    yelp = task("SentimentAnalysisYelpReviewFullAccuracy")
    assert published(1.0, yelp) < published(1 - 1 / 50_000, yelp)
    assert ours(1.0, yelp) > ours(1 - 1 / 50_000, yelp)


def test_invalid_is_zero_whatever_its_score() -> None:
    for value in (published, ours):
        assert value(0.99, task(SVAMP), valid=False) == 0
        assert value(math.nan, task(SVAMP), valid=False) == 0


def test_not_a_number_is_zero_and_infinities_are_a_hundred_as_published() -> None:
    assert published(math.nan, task(ZINC)) == 0
    assert published(math.inf, task(ZINC)) == 100
    assert published(-math.inf, task(ZINC)) == 100


def test_below_the_worst_is_clipped() -> None:
    for value in (published, ours):
        assert value(50.0, task(ZINC)) == 0


def test_a_scale_of_no_length() -> None:
    """Published: NaN, which becomes 0; ours: no scale at all."""
    made = task(ZINC, s_min=0.017)
    assert published(0.001, made) == 0
    assert normalized([0.001], [True], made, made.s_min) is None
    assert normalized([0.001], [True], made, 0.01) is None


def test_runs_are_transformed_before_they_are_averaged() -> None:
    """Seeds 0.2 and 0.94 on SVAMP: 0.533 and not the 0.296 of their mean (specification)."""
    svamp = task(SVAMP)
    each = published_normalized([0.2, 0.94], [True, True], svamp, 0.0)
    assert sum(each) / 2 == pytest.approx(0.533, abs=5e-4)
    assert published(0.57, svamp) == pytest.approx(0.296, abs=5e-4)
    found = score_runs([run("A", SVAMP, 0, 0.2), run("A", SVAMP, 1, 0.94), run("B", SVAMP, 0, 0.0)])
    assert found.agents["A"].ns_published.value == pytest.approx(0.533, abs=5e-4)
    assert found.agents["A"].ns.value == pytest.approx(0.533, abs=5e-4)


def test_a_worst_score_far_away_saturates() -> None:
    web = task("TimeSeriesForecastingKaggleWebTrafficMASE")
    assert published(1000.0, web) == pytest.approx(0.785, abs=5e-4)


def test_resolutions_follow_their_rule() -> None:
    for one in airs_tasks().values():
        if one.metric in ("Accuracy", "ExactMatch", "Pass@5"):
            expected = 0.5 / one.n_test
        elif one.metric == "MRR":
            expected = 0.25 / one.n_test
        else:
            expected = 0.5 * 10.0 ** -len(str(one.s_sota).partition(".")[2])
        assert one.resolution == pytest.approx(expected, rel=1e-5)
        assert one.resolution < abs(one.s_sota - one.s_opt)


def test_tasks_are_those_of_the_published_metadata() -> None:
    import json

    published_tasks = json.loads(reference("airs/tasks.json").read_text(encoding="utf-8"))["tasks"]
    shipped = airs_tasks()
    assert len(published_tasks) == len(shipped) == 20
    for row in published_tasks:
        one = shipped[row["task"]]
        assert (one.s_opt, one.s_sota, one.s_min) == (
            row["s_opt"], row["s_sota"], row["s_min_estimated"],
        )  # fmt: skip
        assert one.lower_is_better == row["lower_is_better"]
        assert one.evaluate_sha256 == row["evaluate_sha256"]


def test_a_worst_score_can_be_chosen() -> None:
    runs = [run(agent, task, 0, 0.5) for agent in "AB" for task in FIVE]
    runs += [run("C", task, 0, 0.2 if task != ZINC else 3.0) for task in FIVE]
    given, observed = score_runs(runs), score_runs(runs, AirsOptions(s_min="observed"))
    assert given.s_min[SICK] == airs_tasks()[SICK].s_min
    assert observed.s_min[SICK] == 0.2
    assert observed.s_min[ZINC] == 3.0
    own = score_runs(runs, AirsOptions(s_min={SICK: 0.3}))
    assert own.s_min[SICK] == 0.3
    assert own.s_min[ZINC] == airs_tasks()[ZINC].s_min
    rows = {row.name: row for row in own.sensitivity}
    assert rows["observed"].ns["A"] == pytest.approx(observed.agents["A"].ns.value)
    assert rows["given"].ns["A"] == pytest.approx(own.agents["A"].ns.value)
    # Without C nobody is worse than A and B, so that they are the worst themselves.
    assert rows["observed without C"].ns["A"] != rows["observed"].ns["A"]
