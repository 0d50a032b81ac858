"""A board's numbers against closed forms and published values, and the rows that it refuses."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.reports import Board, BoardRow, board_numbers, compare_board
from basanite.stats import clustered_mean
from support.boards import board_of, full_board
from support.reference import reference


def test_mean_interval_and_both_spreads_are_their_closed_forms() -> None:
    found = board_numbers(board_of({"a": {"t": [0.0, 1.0], "u": [0.5, 0.7]}})).of("a")
    # Means of tasks .5 and .6; t(1, 0.975) = 12.7062 (any table), standard error .05.
    assert found.mean.value == pytest.approx(0.55)
    assert found.mean.high == pytest.approx(0.55 + 12.706205 * 0.05, abs=1e-6)
    assert found.mean.low == pytest.approx(0.55 - 12.706205 * 0.05, abs=1e-6)
    assert found.sd_tasks == pytest.approx(0.1 / math.sqrt(2))
    assert found.sd_runs == pytest.approx((1 / math.sqrt(2) + 0.2 / math.sqrt(2)) / 2)
    # Sums of squares .5 and .02 over 1 + 1 degrees of freedom.
    assert found.sd_runs_pooled == pytest.approx(math.sqrt(0.52 / 2))
    assert (found.n_tasks, found.n_trials, found.n_scored, found.n_repeated) == (2, 4, 4, 2)


def test_each_task_counts_the_same_however_many_trials_it_has() -> None:
    found = board_numbers(board_of({"a": {"t": [1.0] * 9, "u": [0.0]}})).of("a")
    assert found.mean.value == 0.5
    assert found.mean.n == 2
    assert found.sd_runs == 0.0
    assert found.n_repeated == 1


def test_a_trial_more_of_the_same_task_does_not_narrow_the_interval() -> None:
    few = board_of({"a": {"t": [0.2], "u": [0.6], "v": [0.7]}})
    many = board_of({"a": {"t": [0.2] * 50, "u": [0.6] * 50, "v": [0.7] * 50}})
    one, other = board_numbers(few).of("a").mean, board_numbers(many).of("a").mean
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_published_means_spreads_and_best_counts_of_thirty_tasks() -> None:
    """FIRE-Bench: means and standard deviations over 3 runs of Table 7, F1 in percent.

    The printed "+-" of Table 1 is the sample deviation over tasks (25.37, 22.98, 17.56), the
    mean deviation over runs is another number; 12, 9, 7 and 2 tasks are won.
    """
    tasks = json.loads(reference("firebench/tasks_figures.json").read_text(encoding="utf-8"))
    rows = [
        # Three values with this mean and this sample deviation.
        BoardRow(agent, task["key"], str(step), f1["mean"] + step * f1["std"])
        for task in tasks
        for agent, f1 in task["f1"].items()
        for step in (-1, 0, 1)
    ]
    found = board_numbers(Board("published", "F1", tuple(rows)))
    names = [one.agent for one in found.agents]
    assert names == [
        "claude_code_sonnet-4",
        "codex_gpt-5-medium",
        "openhands_gpt-5",
        "openhands_o4-mini",
    ]
    means = [one.mean.value for one in found.agents]
    assert means == pytest.approx([46.75, 41.93, 37.87, 31.85], abs=0.005)
    across_tasks = [one.sd_tasks for one in found.agents]
    assert across_tasks == pytest.approx([21.32, 25.37, 22.98, 17.56], abs=0.005)
    across_runs = [one.sd_runs for one in found.agents]
    assert across_runs == pytest.approx([18.8, 13.0, 18.9, 21.8], abs=0.05)
    assert [one.best_tasks for one in found.agents] == [12, 9, 7, 2]


def test_what_has_no_value_is_counted_and_in_no_mean() -> None:
    rows = (
        BoardRow("a", "t", "1", 0.4),
        BoardRow("a", "t", "2", None, "timeout"),
        BoardRow("a", "u", "1", None, "no_claims"),
        BoardRow("b", "v", "1", 0.9),
    )
    found = board_numbers(Board("b", "F1", rows))
    one = found.of("a")
    assert one.mean.value == 0.4
    assert one.mean.low is None
    assert one.mean.reason == "fewer than two tasks"
    assert one.unscored == {"timeout": 1, "no_claims": 1}
    assert (one.n_tasks, one.n_trials, one.n_scored) == (2, 3, 1)
    assert one.unscored_tasks == ("u",)
    assert one.missing_tasks == ("v",)
    assert (one.sd_tasks, one.sd_runs, one.sd_runs_pooled, one.cost) == (None,) * 4
    # No task has two agents: nobody is the best of one.
    assert [agent.best_tasks for agent in found.agents] == [0, 0]
    with pytest.raises(KeyError):
        found.of("c")


def test_an_agent_without_any_value_stands_last_and_has_none() -> None:
    rows = (BoardRow("a", "t", "1", None, "timeout"), BoardRow("b", "t", "1", -3.0))
    for higher in (True, False):
        found = board_numbers(Board("b", "F1", rows, higher_is_better=higher))
        assert [one.agent for one in found.agents] == ["b", "a"]
        assert found.of("a").mean.value is None
        assert found.of("a").mean.reason == "nothing scored"


def test_lower_is_better_turns_order_and_best_tasks_around() -> None:
    values = {"a": {"t": [1.0], "u": [2.0]}, "b": {"t": [3.0], "u": [2.0]}}
    found = board_numbers(board_of(values, higher_is_better=False))
    assert [(one.agent, one.best_tasks) for one in found.agents] == [("a", 2), ("b", 1)]
    found = board_numbers(board_of(values))
    assert [(one.agent, one.best_tasks) for one in found.agents] == [("b", 2), ("a", 1)]


def test_groups_and_costs() -> None:
    rows = (
        BoardRow("a", "t", "1", 0.2, cost=1.0, group="easy"),
        BoardRow("a", "t", "2", None, "timeout", cost=3.0, group="easy"),
        BoardRow("a", "u", "1", 0.4, group="easy"),
        BoardRow("a", "v", "1", None, "timeout", group="hard"),
    )
    found = board_numbers(Board("b", "F1", rows)).of("a")
    assert found.groups["easy"].value == pytest.approx(0.3)
    assert found.groups["easy"].n == 2
    assert found.groups["hard"].value is None
    assert found.cost is not None
    assert (found.cost.total, found.cost.per_trial, found.cost.n_trials) == (4.0, 2.0, 2)


def test_json_is_plain_and_says_all_that_the_numbers_say() -> None:
    found = board_numbers(full_board(), level=0.9)
    plain: dict[str, Any] = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert plain["level"] == 0.9
    assert plain["notes"] == ["A note on these numbers."]
    for one in found.agents:
        said = plain["agents"][one.agent]
        assert said["mean"] == one.mean.value
        assert said["mean_interval"] == [one.mean.low, one.mean.high]
        assert said["sd_tasks"] == one.sd_tasks
        assert said["sd_runs"] == one.sd_runs
        assert said["unscored"] == one.unscored
        assert said["groups"]["easy"]["mean"] == one.groups["easy"].value


@given(st.permutations(list(full_board(6).rows)))
def test_the_order_of_rows_changes_no_number(rows: list[BoardRow]) -> None:
    board = full_board(6)
    here, there = board_numbers(board), board_numbers(replace(board, rows=tuple(rows)))
    for one in here.agents:
        other = there.of(one.agent)
        assert other.mean.value == pytest.approx(one.mean.value)
        assert other.sd_runs == pytest.approx(one.sd_runs)
        assert other.sd_runs_pooled == pytest.approx(one.sd_runs_pooled)
        assert other.best_tasks == one.best_tasks
        assert set(other.missing_tasks) == set(one.missing_tasks)


@pytest.mark.parametrize("value", [True, math.nan, math.inf, 1e101, 10**400, "0.5", 1j])
def test_a_value_that_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="agent a, task t, trial 1: the value is"):
        BoardRow("a", "t", "1", value)


@pytest.mark.parametrize("cost", [-0.1, math.nan, False, "1"])
def test_a_cost_that_is_none_is_refused(cost: Any) -> None:
    with pytest.raises(InputError, match="the cost is"):
        BoardRow("a", "t", "1", 0.5, cost=cost)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("", "t", "1", 0.5), "agent is ''"),
        (("a", " ", "1", 0.5), "task is ' '"),
        (("a", "t", 1, 0.5), "trial is '1'"),
        (("a", "t", "1", None), "neither a value nor an unscored_reason"),
        (("a", "t", "1", 0.5, "timeout"), "both a value and an unscored_reason"),
        (("a", "t", "1", None, ""), "unscored_reason is ''"),
        (("a", "t", "1", 0.5, None, None, ""), "group is ''"),
    ],
)
def test_rows_that_say_too_little_or_too_much_are_refused(row: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        BoardRow(*row)


def test_boards_that_contradict_themselves_are_refused() -> None:
    row = BoardRow("a", "t", "1", 0.5, group="easy")
    with pytest.raises(InputError, match="agent a, task t, trial 1: stands twice"):
        Board("b", "F1", (row, replace(row, value=0.6)))
    with pytest.raises(InputError, match="its group is 'hard', and that of another trial 'easy'"):
        Board("b", "F1", (row, replace(row, trial="2", group="hard")))
    with pytest.raises(InputError, match=r"value is 0\.5\. F1 is at least 1 and at most 5"):
        Board("b", "F1", (row,), (1, 5))
    with pytest.raises(InputError, match=r"F1 is at most 0\.4"):
        Board("b", "F1", (row,), (None, 0.4))
    with pytest.raises(InputError, match="the scale goes from 1 to 0"):
        Board("b", "F1", (row,), (1, 0))
    with pytest.raises(InputError, match="holds no rows"):
        Board("b", "F1", ())


def test_fractions_are_numbers() -> None:
    board = Board("b", "F1", (BoardRow("a", "t", "1", Fraction(1, 4)),))  # type: ignore[arg-type]
    assert board_numbers(board).of("a").mean.value == 0.25


def test_tasks_of_one_cluster_are_taken_together() -> None:
    values = {"a": (1.0, "p"), "b": (2.0, "p"), "c": (4.0, "q"), "d": (6.0, "r"), "p": (3.0, None)}
    rows = tuple(
        BoardRow("A", task, "1", value, cluster=cluster)
        for task, (value, cluster) in values.items()
    )
    board = Board("Some tasks", "F1", rows)
    assert board.clustered
    found = board_numbers(board).of("A").mean
    # The task `p` is not of the cluster `p`.
    expected = clustered_mean([1, 2, 4, 6, 3], ["p", "p", "q", "r", "another"])
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert (found.n, found.n_clusters) == (5, 4)

    other = tuple(replace(row, agent="B", value=7.5 + n) for n, row in enumerate(rows))
    (pair,) = compare_board(Board("Some tasks", "F1", (*rows, *other))).made
    assert pair.difference.n_clusters == 4

    one = Board("Some tasks", "F1", rows[:2])
    assert board_numbers(one).of("A").mean.reason == "fewer than two clusters"
    with pytest.raises(InputError, match=r"its cluster is 'q', .* 'p'"):
        Board("Some tasks", "F1", (rows[0], replace(other[0], cluster="q")))
    with pytest.raises(InputError, match="cluster is ''"):
        replace(rows[0], cluster="")
