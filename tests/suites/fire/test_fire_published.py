"""The published figures, from the published table of tasks (table 7 of the paper, 30 x 4)."""

import json
from functools import lru_cache
from typing import Any

import pytest

from basanite.suites.fire import (
    FireError,
    FireScores,
    FireTrial,
    agent_cost,
    error_shares,
    fire_boards,
    fire_tasks,
    published_figures,
    recomputed,
    score_trials,
)
from support.fire import of, three_runs
from support.reference import reference

CC, CX = "claude_code_sonnet-4", "codex_gpt-5-medium"
GPT5, O4 = "openhands_gpt-5", "openhands_o4-mini"

MEANS = {CC: 46.75, CX: 41.93, GPT5: 37.87, O4: 31.85}
# Table 1 prints 23.4, 25.4, 23.0 and 17.6; the first can't be had from the table of tasks.
SD_TASKS = {CC: 21.32, CX: 25.37, GPT5: 22.98, O4: 17.56}
# The last row of table 7.
SD_TASKS_POPULATION = {CX: 24.94, GPT5: 22.60, O4: 17.26}
# The mean of the standard deviations that table 7 prints for each task.
SD_RUNS_POPULATION = {CC: 18.8, CX: 13.0, GPT5: 18.9, O4: 21.8}
# The text says 13, 9 and 6.
BEST = {CC: 12, CX: 9, GPT5: 7, O4: 2}
# Figure 4's bars.
STRATA = {
    CC: (67.9, 51.8, 27.7), CX: (62.6, 49.1, 20.9),
    GPT5: (61.8, 38.3, 22.2), O4: (46.8, 32.2, 22.0),
}  # fmt: skip
# Its error bars, for easy tasks.
EASY_ERRORS = {O4: 8.0, GPT5: 6.5, CX: 9.7, CC: 6.5}


@lru_cache(maxsize=1)
def table() -> list[dict[str, Any]]:
    rows = json.loads((reference("firebench") / "tasks_figures.json").read_text("utf-8"))
    assert isinstance(rows, list)
    return rows


@pytest.fixture(scope="module")
def scores() -> FireScores:
    trials: list[FireTrial] = []
    for row in table():
        for agent, found in row["f1"].items():
            trials += of(agent, {row["key"]: three_runs(found["mean"], found["std"])})
    assert len(trials) == 360
    return score_trials(trials)


@pytest.mark.parametrize("agent", MEANS)
def test_means_spreads_and_best_tasks(scores: FireScores, agent: str) -> None:
    found = scores.agents[agent]
    numbers = found.spread["f1"]
    assert 100 * (found.f1.value or 0) == pytest.approx(MEANS[agent], abs=0.005)
    assert 100 * (numbers.sd_tasks or 0) == pytest.approx(SD_TASKS[agent], abs=0.005)
    if agent in SD_TASKS_POPULATION:
        population = 100 * (found.sd_tasks_population or 0)
        assert population == pytest.approx(SD_TASKS_POPULATION[agent], abs=0.005)
    runs = 100 * (found.sd_runs_population or 0)
    assert runs == pytest.approx(SD_RUNS_POPULATION[agent], abs=0.06)
    # Three runs: the sample's standard deviation is larger by the root of 3 / 2.
    assert 100 * (numbers.sd_runs or 0) == pytest.approx(runs * 1.5**0.5)
    assert numbers.best_tasks == BEST[agent]
    assert list(scores.agents) == list(MEANS)


@pytest.mark.parametrize("agent", STRATA)
def test_difficulty(scores: FireScores, agent: str) -> None:
    groups = scores.agents[agent].spread["f1"].groups
    found = [groups[name] for name in ("easy", "medium", "hard")]
    assert [one.n for one in found] == [7, 12, 11]
    assert [round(100 * (one.value or 0), 1) for one in found] == list(STRATA[agent])
    assert 100 * (found[0].error or 0) == pytest.approx(EASY_ERRORS[agent], abs=0.05)


def test_the_command_line_gives_the_same_keys(scores: FireScores) -> None:
    found: Any = scores.to_json()["agents"]
    for agent, mean in MEANS.items():
        one = found[agent]
        assert 100 * one["f1"] == pytest.approx(mean, abs=0.005)
        assert 100 * one["sd_tasks"] == pytest.approx(SD_TASKS[agent], abs=0.005)
        assert one["best_tasks"] == BEST[agent]
        assert one["sd_runs"] is not None
        # No precision or recall of single runs was published.
        assert (one["precision"], one["recall"]) == (None, None)
        assert one["precision_reason"] == "no trial has one"
        low, high = one["f1_interval"]
        assert low < one["f1"] < high


def test_package_data_are_the_published_figures() -> None:
    tasks, figures = fire_tasks().tasks, published_figures()
    assert len(tasks) == 35
    for row in table():
        task = tasks[row["key"]]
        assert (task.number, task.venue, task.year) == (row["paper_no"], row["venue"], row["year"])
        assert (task.d, task.c, task.m) == (row["D"], row["C"], row["M"])
        assert task.difficulty == row["difficulty"]
        assert task.calls_per_model == row["budget_calls_per_model"]
        for agent in figures.agents:
            printed = row["f1"][agent.agent]
            assert agent.f1[row["key"]] == (printed["mean"], printed["std"])
    assert all(len(agent.f1) == 30 for agent in figures.agents)
    given = json.loads((reference("firebench") / "published_figures.json").read_text("utf-8"))
    for agent in figures.agents:
        printed = given["table1"][agent.agent]
        names = {"P": "precision", "R": "recall", "F1": "f1"}
        for short, name in names.items():
            found = agent.printed[name]
            assert [found.mean, found.plus_minus] == printed[short]
        cost = given["table3_cost_usd"][agent.agent]
        assert agent.cost_usd.model_dump() == {
            "total": cost["total"],
            "per_task": cost["avg_task"],
            "lowest": cost["min"],
            "highest": cost["max"],
        }
        assert agent.false_positives == given["table2_fp_pct"][agent.agent]
        negatives = given["fig3_fn_pct"][agent.agent]
        assert list(agent.false_negatives.values()) == list(negatives.values())


def test_package_data_give_the_same_figures_by_themselves() -> None:
    for one in published_figures().agents:
        found: Any = recomputed(one)
        assert 100 * found["f1"] == pytest.approx(MEANS[one.agent], abs=0.005)
        assert 100 * found["sd_tasks"] == pytest.approx(SD_TASKS[one.agent], abs=0.005)
        runs = 100 * found["sd_runs_population"]
        assert runs == pytest.approx(SD_RUNS_POPULATION[one.agent], abs=0.06)
        assert found["best_tasks"] == BEST[one.agent]
        hard = [round(100 * found["difficulty"][name]["f1"], 1) for name in ("easy", "hard")]
        assert hard == [STRATA[one.agent][0], STRATA[one.agent][2]]


def test_spreads_of_the_table_are_those_of_a_population() -> None:
    # Runs of 0, 0 and x have the standard deviation x sqrt(2) / 3 or x / sqrt(3), so that it is
    # sqrt(2) or sqrt(3) times the mean.
    ratios = [
        spread / mean
        for one in published_figures().agents
        for mean, spread in one.f1.values()
        if mean
    ]
    assert sum(abs(ratio - 2**0.5) < 0.01 for ratio in ratios) == 19
    assert sum(abs(ratio - 3**0.5) < 0.01 for ratio in ratios) == 0


def test_published_costs_cover_fifteen_tasks() -> None:
    for one in published_figures().agents:
        assert one.cost_usd.total / one.cost_usd.per_task == pytest.approx(15, abs=0.3)


def test_cost_of_a_point_by_hand() -> None:
    rows = of("a", {"questbench": [0.5, 0.7]}, cost=0.3) + of("a", {"lost_in_the_middle": [0.2]})
    rows += of("a", {"activation_control": [0.4]}, cost=0.1)
    found = agent_cost(fire_boards(rows)["f1"], "a")
    assert found is not None
    assert found.total == pytest.approx(0.7)
    assert (found.n_trials, found.n_tasks) == (3, 2)
    # Dollars a task 0.2, F1 0.5 on the two tasks with a cost: 0.2 / 50 points.
    assert found.per_point.value == pytest.approx(0.004)
    # Residuals (c - 100 R f) / 50 points are ±0.0012 and their t interval is 12.706 wide.
    assert found.per_point.high == pytest.approx(0.004 + 12.7062 * 0.0012, rel=1e-4)
    zero = agent_cost(fire_boards(of("a", {"questbench": [0.0]}, cost=1.0))["f1"], "a")
    assert zero is not None
    assert (zero.per_point.value, zero.per_point.reason) == (
        None,
        "F1 is 0 on all tasks with a cost",
    )
    assert agent_cost(fire_boards(of("a", {"questbench": [0.5]}))["f1"], "a") is None


def test_published_shares_of_errors_from_the_smallest_counts() -> None:
    # The counts of wrong claims of o4-mini that give table 2's first row: 37, 42, 5 and 4 of 88.
    counts = {"contradictory": 37, "unrelated": 42, "overgeneralized": 5, "alternative": 4}
    errors = [
        FireError(O4, "questbench", str(number), "false_positive", name)
        for name, count in counts.items()
        for number in range(count)
    ]
    found = error_shares(errors)[O4]["false_positive"]
    published = published_figures().find(O4).false_positives
    for name, share in found.shares.items():
        assert round(100 * (share.value or 0), 1) == published[name]
