"""F1 before and after a cutoff, by hand and with a planted gain; errors by type."""

import random
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType

import pytest

from basanite.errors import InputError, RowError
from basanite.suites.fire import (
    ERROR_TYPES,
    FireError,
    FireTask,
    FireTasks,
    contamination,
    error_shares,
    errors_envelope,
    fire_boards,
    parse_cutoffs,
    published_figures,
    read_errors,
)
from support.command import write_rows
from support.fire import EASY, of

DAY = date(2024, 6, 1)


def _tasks(*given: tuple[str, int, date | None]) -> FireTasks:
    """Tasks from name, axis (all three the same) and date."""
    made = [FireTask(task=name, d=axis, c=axis, m=axis, published=day) for name, axis, day in given]
    return FireTasks(MappingProxyType({one.task: one for one in made}))


def test_strata_by_hand() -> None:
    tasks = _tasks(
        ("e1", 1, DAY), ("e2", 1, DAY - timedelta(1)), ("e3", 1, DAY + timedelta(1)),
        ("e4", 1, DAY + timedelta(9)), ("h1", 3, DAY), ("h2", 3, DAY), ("m1", 2, DAY),
    )  # fmt: skip
    values = {"e1": [0.9], "e2": [0.5, 0.7], "e3": [0.4], "e4": [0.2], "h1": [0.1], "h2": [0.3]}
    board = fire_boards(of("a", values | {"m1": [0.5]}), tasks)["f1"]
    found = contamination(board, tasks, {"a": DAY})["a"]
    assert list(found.strata) == ["easy", "medium", "hard"]
    easy = found.strata["easy"]
    # On the day itself the model may have read it.
    assert (easy.before.n, easy.after.n) == (2, 2)
    assert easy.before.value == pytest.approx(0.75)
    assert easy.difference.value == pytest.approx(0.45)
    assert found.adjusted.value == pytest.approx(0.45)
    assert found.left_out == ("medium", "hard")
    assert found.strata["hard"].difference.reason == "no stratum has values on both sides"


def test_a_planted_gain_is_found_within_difficulties() -> None:
    # Papers before the cutoff are easier here: pooled means differ without any contamination.
    draw = random.Random(5)
    rows, kinds = {}, []
    for number in range(400):
        before = number % 2 == 0
        easy = draw.random() < (0.8 if before else 0.3)
        day = DAY - timedelta(5) if before else DAY + timedelta(5)
        kinds.append((f"t{number}", 1 if easy else 3, day))
        rows[f"t{number}"] = [(0.6 if easy else 0.3) + draw.uniform(-0.15, 0.15) + 0.05 * before]
    tasks = _tasks(*kinds)
    found = contamination(fire_boards(of("a", rows), tasks)["f1"], tasks, {"a": DAY})["a"]
    assert found.adjusted.low is not None
    assert found.adjusted.high is not None
    assert found.adjusted.low < 0.05 < found.adjusted.high
    assert found.adjusted.low > 0.02
    assert found.adjusted.high < 0.08


def test_without_dates_it_is_refused() -> None:
    tasks = _tasks(("e1", 1, DAY), ("e2", 1, None))
    board = fire_boards(of("a", {"e1": [0.5], "e2": [0.5]}), tasks)["f1"]
    with pytest.raises(InputError, match=r"no date of e2.*--tasks META"):
        contamination(board, tasks, {"a": DAY})
    with pytest.raises(InputError, match="no agent `'b'`"):
        contamination(board, tasks, {"b": DAY})
    assert parse_cutoffs(["a=b=2024-06-01"]) == {"a=b": DAY}
    for wrong in ("a", "a=2024", "=2024-06-01", "a=2024-06-31"):
        with pytest.raises(InputError, match="YYYY-MM-DD"):
            parse_cutoffs([wrong])
    with pytest.raises(InputError, match="two cutoffs"):
        parse_cutoffs(["a=2024-06-01", "a=2024-07-01"])


def test_published_strata_are_package_data() -> None:
    # Table 4, whose medium and hard strata (13, 10) are not those of the difficulties (12, 11).
    found = {one.agent: one.contamination for one in published_figures().agents}
    o4 = found["openhands_o4-mini"]
    assert o4 is not None
    assert (o4.cutoff, o4.easy.before, o4.hard.after) == (DAY, (58.9, 1.9, 2), (24.8, 8.8, 8))
    assert o4.medium.before[2] + o4.medium.after[2] == 13
    assert found["claude_code_sonnet-4"] is None


def test_the_taxonomy_has_twelve_and_four_types() -> None:
    negative, positive = ERROR_TYPES["false_negative"], ERROR_TYPES["false_positive"]
    assert (len(negative), len(set(negative.values())), len(positive)) == (12, 5, 4)
    for one in published_figures().agents:
        assert set(one.false_negatives) - {"other"} <= set(negative)
        assert list(one.false_positives) == list(positive)


def test_errors_are_read_in_both_forms_and_counted(tmp_path: Path) -> None:
    base = {"agent": "a", "task": EASY, "trial": 0}
    rows = [
        base | {"kind": "false_negative", "error_type": "method_deviation"},
        base | {"false_negative_conclusion": "x", "error_type": "Method Deviation"},
        base | {"task": "questbench", "false_negative_conclusion": "y", "error_type": "Laziness"},
        base | {"false_negative_conclusion": "z", "error_type": "unparsed_or_missing_error_type"},
        base | {"kind": "false_negative", "error_type": None},
        base | {"false_positive_conclusion": "w", "error_type": "Overgeneralised"},
    ]
    found = error_shares(read_errors(write_rows(tmp_path / "e.jsonl", rows)))["a"]
    negative = found["false_negative"]
    assert (negative.n, negative.unreadable) == (3, 2)
    assert negative.counts["method_deviation"] == 2
    assert negative.shares["method_deviation"].value == pytest.approx(2 / 3)
    assert negative.shares["method_deviation"].n_clusters == 2
    assert negative.stages["execution"].value == pytest.approx(1 / 3)
    assert negative.shares["timeout"].value == 0.0
    assert found["false_positive"].counts["overgeneralized"] == 1
    plain = errors_envelope({"a": found})
    assert plain["schema"] == "basanite.suite.fire.errors/1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"error_type": "contradictory"}, "`'contradictory'` is no type of a false negative"),
        ({"kind": None}, "the kind is not said"),
        ({"kind": "wrong"}, "kind is `'wrong'`"),
        ({"error_type": True}, "error_type is `true` and must be text"),
        ({"task": "x"}, "the task `'x'` is not known"),
    ],
)
def test_a_bad_error_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    row = {"agent": "a", "task": EASY, "trial": 0, "kind": "false_negative",
           "error_type": "laziness"}  # fmt: skip
    with pytest.raises(RowError) as raised:
        read_errors(write_rows(tmp_path / "e.jsonl", [row, row | change]))
    assert f"row 2: {message}" in str(raised.value)
    with pytest.raises(InputError):
        FireError("a", EASY, "0", "false_positive", "laziness")
