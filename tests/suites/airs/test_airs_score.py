"""Scores of whole studies: shares, means, subsets, seeds, and what is said of them."""

from __future__ import annotations

import json
import math

import pytest

from basanite.errors import InputError
from basanite.stats import Bootstrap, Resample
from basanite.suites.airs import AirsOptions, AirsRun, airs_boards, published_figures, score_runs
from support.airs import FIVE, SICK, SVAMP, YELP, ZINC, run, synthetic_runs
from support.reference import reference

QUICK = AirsOptions(plan=Bootstrap(200), published_draws=2000)


def test_shares_are_means_over_tasks() -> None:
    runs = [run("A", SVAMP, seed, 0.5 if seed else None) for seed in range(4)]
    runs += [run("A", SICK, 0, 0.5)]
    found = score_runs(runs, QUICK).agents["A"]
    assert found.vsr.value == pytest.approx((3 / 4 + 1) / 2)
    assert (found.n_runs, found.n_valid, found.seeds) == (5, 4, (1, 4))


def test_a_subset_is_named() -> None:
    found = score_runs([run("A", task, 0, 0.5) for task in FIVE[:3]], QUICK)
    assert len(found.left_out) == 17
    assert found.notes[0].startswith("A subset: 3 of 20 tasks have runs")
    assert YELP in found.notes[0]
    assert found.agents["A"].ns.reason == "fewer than 5 tasks"
    seeds = AirsOptions(plan=Bootstrap(200), resample=Resample.MEMBERS)
    twice = [run("A", task, seed, 0.5 + seed / 9) for task in FIVE[:3] for seed in range(3)]
    assert score_runs(twice, seeds).agents["A"].ns.low is not None


def test_unequal_seeds_are_said() -> None:
    runs = [run("A", task, seed, 0.5 + seed / 100) for task in FIVE for seed in range(4)]
    runs += [run("B", task, seed, 0.4) for task in FIVE for seed in range(2)]
    found = score_runs(runs, QUICK)
    assert any(note.startswith("Seeds differ: A 4, B 2.") for note in found.notes)
    assert found.agents["A"].elo_equal_weights is not None
    same = score_runs(synthetic_runs(0, seeds=10, n_agents=5), QUICK)
    assert not any(note.startswith("Seeds differ") for note in same.notes)
    for one in same.agents.values():
        # Ten seeds and ten copies of the state of the art: all weights are equal.
        assert one.elo_equal_weights == pytest.approx(one.elo.value, abs=1e-6)


def test_incomplete_seeds_leave_the_published_mean() -> None:
    runs = [run("A", task, seed, 0.5) for task in FIVE for seed in range(2)]
    runs = [one for one in runs if (one.task, one.seed) != (SVAMP, "1")]
    runs += [run("B", SVAMP, 0, 0.0), run("B", SICK, 0, 0.2)]
    found = score_runs(runs, QUICK)
    assert found.agents["A"].n_dropped_seeds == 1
    assert found.agents["B"].ns_published.value is None
    assert found.agents["B"].ns_published.reason == "no seed has all tasks"
    assert found.agents["B"].ns.value is not None
    text = " ".join(found.notes)
    assert "leaves 1 incomplete seeds of A out" in text
    assert "B has no runs on" in text
    assert "means are over 2 tasks" in text


def test_perfect_runs_are_flagged() -> None:
    runs = [run("A", ZINC, 0, 0.0), run("A", SVAMP, 0, 1.0), run("B", ZINC, 0, 0.1)]
    found = score_runs(runs, QUICK)
    assert found.agents["A"].tasks[ZINC].n_at_resolution == 1
    assert found.agents["B"].tasks[ZINC].n_at_resolution == 0
    assert any("1 on GraphRegressionZincMae, 1 on Math" in note for note in found.notes)
    ns = found.agents["A"].tasks[ZINC].ns
    assert ns is not None
    assert ns > 1 > (found.agents["A"].ns_published.value or 0)


def test_scores_of_invalid_runs_are_not_used() -> None:
    runs = [run("A", SVAMP, 0, 0.9, valid=False), run("A", SVAMP, 1, 0.5), run("B", SVAMP, 0, 0.4)]
    found = score_runs(runs, QUICK)
    assert found.agents["A"].tasks[SVAMP].vsr == 0.5
    assert found.s_min_observed == {SVAMP: 0.4}
    assert any("1 runs are not valid and have a score" in note for note in found.notes)


def test_no_valid_run_at_all() -> None:
    found = score_runs([run("A", SVAMP, 0, None), run("A", SICK, 0, None)], QUICK)
    assert found.agents["A"].ns.value == 0
    assert found.agents["A"].ns_published.value == 0
    assert any(note.startswith("No valid run on") for note in found.notes)


def test_a_worst_run_beyond_the_state_of_the_art_is_said() -> None:
    found = score_runs([run("A", SVAMP, 0, 0.95), run("A", SVAMP, 1, 0.99)], QUICK)
    assert any("worse than the state of the art" in note for note in found.notes)
    observed = score_runs(
        [run("A", SVAMP, 0, 0.95)], AirsOptions(s_min="observed", plan=Bootstrap(50))
    )
    assert observed.no_scale == (SVAMP,)
    assert observed.agents["A"].ns.value is None
    assert observed.agents["A"].ns.reason == "no task has a scale"
    board, valid = airs_boards(observed)
    assert board.rows[0].unscored_reason == "no scale: see s_min"
    assert valid.rows[0].value == 1.0


def test_the_order_of_the_rows_does_not_matter() -> None:
    runs = synthetic_runs(2, seeds=3, n_agents=3)
    assert score_runs(runs, QUICK).to_json() == score_runs(runs[::-1], QUICK).to_json()


def test_the_published_interval_is_wide_as_the_closed_form() -> None:
    """Drawing runs within each task: variance is the mean variance within tasks / (T n)."""
    import numpy as np

    runs = synthetic_runs(3, seeds=10, n_agents=1)
    found = score_runs(runs, AirsOptions(plan=Bootstrap(50), published_draws=20_000))
    agent = published_figures().agents[-1].agent
    table = found.agents[agent].ns_published
    by_task: dict[str, list[float]] = {}
    from basanite.suites.airs import airs_tasks, published_normalized

    for one in runs:
        task = airs_tasks()[one.task]
        by_task.setdefault(one.task, []).extend(
            published_normalized(
                [math.nan if one.score is None else one.score],
                [one.valid], task, found.s_min_observed[one.task],
            )
        )  # fmt: skip
    variance = np.mean([np.var(values) for values in by_task.values()]) / (20 * 10)
    assert table.error == pytest.approx(math.sqrt(variance), rel=0.05)
    assert table.value == pytest.approx(np.mean(list(by_task.values())))


def test_json_has_plain_numbers() -> None:
    found = json.loads(json.dumps(score_runs(synthetic_runs(0, 2, 3), QUICK).to_json()))
    assert found["schema"] == "basanite.suite.airs.score/1"
    for one in found["agents"].values():
        for name in ("vsr", "ns", "elo", "ns_published", "elo_published"):
            value, interval = one[name], one[f"{name}_interval"]
            assert isinstance(value, float) or one[f"{name}_reason"]
            assert interval is None or interval[0] <= value <= interval[1]
    assert found["source"]["commit"]


def test_published_figures_are_consistent() -> None:
    """Ratings with the state of the art sum to 15 * 1000; mean NS .212 and VSR 55.1 %."""
    figures = published_figures()
    agents = figures.agents
    assert len(agents) == 14
    assert sum(one.elo for one in agents) + figures.sota_elo == 15_000
    assert round(sum(one.ns for one in agents) / 14, 3) == 0.212
    assert round(100 * sum(one.vsr for one in agents) / 14, 1) == 55.1
    source = json.loads(reference("airs/agents.json").read_text(encoding="utf-8"))
    assert [(one["scaffold"], one["model"], one["avg_norm_score"], one["elo_fig"], one["seeds"])
            for one in source["agents"]] == [
        (one.scaffold, one.model, one.ns, one.elo, one.seeds) for one in agents
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"task": "Svamp"}, "not known"),
        ({"score": 1.2}, "out of range"),
        ({"score": math.nan}, "not a finite number"),
        ({"score": math.inf}, "not a finite number"),
        ({"score": True}, "not a number"),
        ({"score": None}, "valid and has no score"),
        ({"valid": 1}, "valid is"),
        ({"agent": "SOTA"}, "no agent can be called SOTA"),
        ({"agent": " "}, "agent is empty"),
        ({"seed": ""}, "seed is empty"),
        ({"task": ZINC, "score": -0.1}, "out of range"),
        ({"cost": -1.0}, "cost is `-1.0`"),
    ],
)
def test_runs_that_cannot_be(change: dict[str, object], what: str) -> None:
    fields = {"agent": "A", "task": SVAMP, "seed": "0", "score": 0.5, "valid": True} | change
    with pytest.raises(InputError, match=what):
        AirsRun(**fields)  # type: ignore[arg-type]


def test_runs_that_stand_twice_are_refused() -> None:
    with pytest.raises(InputError, match="two runs have the agent 'A'"):
        score_runs([run("A", SVAMP, 0, 0.5), run("A", SVAMP, 0, 0.6)])
    with pytest.raises(InputError, match="no runs"):
        score_runs([])


@pytest.mark.parametrize(
    "options",
    [{"prior": -1.0}, {"prior": math.nan}, {"plan": Bootstrap(level=95)}, {"published_draws": 1},
     {"s_min": {"X": 1.0}}, {"s_min": {SVAMP: 2.0}}, {"s_min": {SVAMP: math.nan}}],
)  # fmt: skip
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        AirsOptions(**options)  # type: ignore[arg-type]
