"""Agents of a board against each other: pairs of tasks, exact tests, corrections, gaps."""

import math

import pytest

from basanite.errors import InputError
from basanite.reports import Board, BoardRow, compare_board
from basanite.stats import PairedTest
from support.boards import board_of, full_board

_TASKS = "tuvwx"


def _row_of(agent: str, values: list[float]) -> dict[str, dict[str, list[float]]]:
    return {agent: {task: [value] for task, value in zip(_TASKS, values, strict=True)}}


def test_a_pair_is_the_paired_test_over_task_means() -> None:
    board = board_of(
        {
            "a": {"t": [0.5, 0.7], "u": [0.8], "v": [0.9]},
            "b": {"t": [0.3], "u": [0.2, 0.6], "v": [0.3]},
        }
    )
    (pair,) = compare_board(board).made
    # Differences .3, .4 and .6: mean 13/30, standard error sqrt(7/300)/sqrt(3); all three are
    # positive, so that 2 of the 8 patterns of signs are as extreme.
    assert pair.difference.mean.value == pytest.approx(13 / 30)
    error = math.sqrt(7 / 300) / math.sqrt(3)
    assert pair.difference.mean.error == pytest.approx(error)
    assert pair.difference.p_value == 0.25
    assert pair.difference.exact
    assert pair.difference.share_higher == 1.0
    # t(2) quantiles: 4.30265 at 0.975 and 1.06066 at 0.8 (closed form of t with 2 degrees).
    assert pair.difference.detectable == pytest.approx((4.302653 + 1.060660) * error, rel=1e-6)


def test_only_shared_scored_tasks_are_compared_and_the_others_counted() -> None:
    rows = (
        *(BoardRow("a", task, "1", 0.5) for task in "tuv"),
        BoardRow("b", "t", "1", 0.1),
        BoardRow("b", "u", "1", None, "timeout"),
        BoardRow("c", "w", "1", 0.2),
    )
    found = compare_board(Board("b", "F1", rows))
    (pair,) = found.made
    assert (pair.first, pair.second, pair.difference.n, pair.n_same) == ("a", "b", 1, 2)
    assert pair.p_holm is None
    assert [(one.first, one.second) for one in found.left_out] == [("a", "c"), ("b", "c")]


def test_p_values_are_corrected_over_the_pairs_that_are_made() -> None:
    values = (
        _row_of("a", [0.9] * 5) | _row_of("b", [0.1, 0.2, 0.3, 0.4, 0.5]) | _row_of("c", [0.0] * 5)
    )
    all_pairs = compare_board(board_of(values)).made
    assert [pair.difference.p_value for pair in all_pairs] == [0.0625] * 3
    assert [pair.p_holm for pair in all_pairs] == pytest.approx([0.1875] * 3)
    against = compare_board(board_of(values), baseline="b").made
    assert [(pair.first, pair.second) for pair in against] == [("a", "b"), ("c", "b")]
    assert [pair.p_holm for pair in against] == pytest.approx([0.125] * 2)


def test_the_level_is_that_of_the_intervals() -> None:
    wide, narrow = (
        compare_board(full_board(), test=PairedTest(level=level)).made[0].difference.mean
        for level in (0.99, 0.5)
    )
    assert None not in (wide.low, wide.high, narrow.low, narrow.high)
    assert wide.low < narrow.low < narrow.high < wide.high  # type: ignore[operator]


def test_what_can_not_be_compared_is_refused_with_a_way_out() -> None:
    one = board_of(_row_of("a", [0.5] * 5))
    with pytest.raises(InputError, match="'a' is the only agent"):
        compare_board(one)
    two = board_of(_row_of("a", [0.5] * 5) | _row_of("b", [0.4] * 5))
    with pytest.raises(InputError, match=r"no agent 'c'\. Name one of a, b"):
        compare_board(two, baseline="c")
    many = board_of({f"a{number}": {"t": [0.5]} for number in range(13)})
    with pytest.raises(InputError, match="Name a baseline"):
        compare_board(many)
    assert len(compare_board(many, baseline="a3").made) == 12
