"""References and submissions from files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from basanite.errors import InputError
from basanite.suites.whatworked import (
    Noise,
    Submission,
    describe_reference,
    estimator_named,
    published_references,
    read_reference,
    read_references,
    read_submissions,
    score_submission,
    submissions_board,
    summarise_submissions,
)
from support.whatworked import SECRET, reference_file, submissions, workflow

TASKS = (workflow(),)
TRUE = dict(zip(TASKS[0].space.masks, TASKS[0].values.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agent,task\na,made\n", "has no column table"),
        ("agent,task,table,measurd\na,made,,\n", "the unknown column 'measurd'"),
    ],
)
def test_csv_without_a_table_or_with_more(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_submissions(path, TASKS)


def test_an_empty_cell_of_csv_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("agent,task,table,reason\na,made,,timeout\n", encoding="utf-8")
    (found,) = read_submissions(path, TASKS)
    assert (found.table, found.reason) == (None, "timeout")


def test_a_wrong_measurement_gives_no_truth_away(tmp_path: Path) -> None:
    row = ROW | {"measured": {"0110": 0.9}}
    with pytest.raises(InputError) as raised:
        read_submissions(submissions(tmp_path, row), TASKS)
    assert "0110 is not what the reference gives" in str(raised.value)
    assert "float64" not in str(raised.value)
    assert str(SECRET)[:6] not in str(raised.value)


def test_a_reference_survives_its_file(tmp_path: Path) -> None:
    made = workflow(costs=[2.0] * 16, noise=Noise(0.1, 3))
    found = read_reference(reference_file(tmp_path, made))
    assert found.sha256 == made.sha256
    np.testing.assert_array_equal(found.values, made.values)
    assert found.classes is not None
    assert (found.rules, found.noise, found.factors) == (made.rules, made.noise, made.factors)


def change(**fields: object) -> str:
    return json.dumps(workflow().to_json() | fields)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "can't be read as JSON"),
        ("[]", "is no JSON object"),
        (change(name=" "), "has no name"),
        (change(family=3), "family is '3', no text"),
        (change(source=["a"]), "no text"),
        (change(truth={}), "has no truth"),
        (change(truth=TRUE | {"0000": True}), "0000: True"),
        (change(truth=TRUE | {"0000": float("nan")}), "0000: nan"),
        (change(truth=TRUE | {"0000": 1.01}), "0000: 1.01"),
        (change(truth={k: v for k, v in TRUE.items() if k != "0110"}), "masks are missing: 0110"),
        (change(truth=TRUE | {"00000": 0.1}), "unknown masks: 00000"),
        ('{"name": "a", "truth": {"00": 1, "01": 1, "00": 0}}', "'00' stands twice"),
        (change(factors=[{"name": "A"}] * 4), "two factors have the same name"),
        (change(factors="abc"), "factors are no list"),
        (change(rules=[[0, 0, 9]]), "does not fit"),
        (change(rules=[0]), "no list of"),
        (change(costs=dict.fromkeys(TRUE, 0)), "a cost is 0"),
        (change(noise={"sd": "x"}), "the noise is no"),
        (change(classes=["1111"] * 16), "not named by its first mask"),
    ],
)
def test_bad_references(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem) as raised:
        read_reference(path)
    assert "bad.json" in str(raised.value)


def test_folders_of_references(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no references"):
        read_references(tmp_path)
    reference_file(tmp_path)
    (tmp_path / "twin.json").write_text(change(), encoding="utf-8")
    with pytest.raises(InputError, match="a second reference is named 'made'"):
        read_references(tmp_path)


def test_submissions_are_scored_delivered_and_replayed(tmp_path: Path) -> None:
    flat = dict.fromkeys(TRUE, 0.5)
    path = submissions(
        tmp_path,
        {"agent": "a", "task": "made", "table": TRUE, "measured": {"1000": 0.5}, "cost": 1.5},
        {"agent": "b", "task": "made", "table": flat, "measured": ["1000", "0100"]},
        {"agent": "b", "task": "made", "trial": 2, "table": None, "reason": "timeout"},
    )
    scores = [
        score_submission(one, [estimator_named("ard")]) for one in read_submissions(path, TASKS)
    ]
    found = summarise_submissions(scores)
    assert found["a"]["recovery"] == 1.0
    assert found["b"]["n_delivered"] == 1
    delivered = scores[1].delivered
    assert delivered is not None
    assert found["b"]["recovery"] == delivered.recovery
    assert found["b"]["recovery_published"] == pytest.approx(delivered.recovery / 2)
    assert "ard" in found["b"]["replayed"]  # type: ignore[operator]
    board = submissions_board(scores)
    assert [row.unscored_reason for row in board.rows] == [None, None, "timeout"]
    assert board.rows[0].cost == 1.5


def test_measured_cells_stand_over_the_table() -> None:
    table = np.full(16, 0.5)
    one = Submission("a", TASKS[0], "1", table, TRUE)
    found = score_submission(one).delivered
    assert found is not None
    assert found.recovery == 1.0


def test_intervals_are_scored_on_unmeasured_cells(tmp_path: Path) -> None:
    wide = {mask: [0.0, 1.0] for mask in TRUE}
    row = {"agent": "a", "task": "made", "table": TRUE, "intervals": wide}
    found = score_submission(read_submissions(submissions(tmp_path, row), TASKS)[0])
    assert (found.coverage, found.width) == (1.0, 1.0)


ROW = {"agent": "a", "task": "made", "table": TRUE}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (ROW | {"task": "other"}, "row 2: unknown task 'other'"),
        (ROW, "row 2: is the same agent, task and trial as row 1"),
        (ROW | {"trial": 2, "table": TRUE | {"0000": True}}, "row 2: table: .*0000: True"),
        (ROW | {"trial": 2, "table": TRUE | {"0000": float("nan")}}, "row 2: .*NaN"),
        (ROW | {"trial": 2, "table": TRUE | {"0000": -0.1}}, "row 2: table: .*-0.1"),
        (ROW | {"trial": 2, "table": {"0000": 0.1}}, "row 2: table: 15 of 16 masks are missing"),
        (ROW | {"trial": 2, "measured": {"0001": 0.9}}, "row 2: measured: 0001 is not what"),
        (ROW | {"trial": 2, "measured": {"0001": True}}, "row 2: measured: 0001 is True"),
        (ROW | {"trial": 2, "measured": ["2"]}, "row 2: '2' is no mask"),
        (ROW | {"trial": 2, "intervals": {"0000": 1}}, "row 2: intervals is no"),
        (ROW | {"trial": 2, "cost": -1}, "row 2: the cost is '-1'"),
        (ROW | {"trial": 2, "agent": None}, "row 2: agent is missing"),
        (ROW | {"trial": True}, "row 2: trial"),
        ({"agent": "a", "task": "made", "trial": 2}, "row 2: table is missing.*write null"),
        (
            {"agent": "a", "task": "made", "trial": 2, "tabel": TRUE},
            "row 2: has the unknown column 'tabel'; table may be meant",
        ),
        (ROW | {"trial": 2, "measurd": {}}, "unknown column 'measurd'; measured may be meant"),
        (
            '{"agent": "a", "task": "made", "trial": 2, "table": {"1110": 0.1, "1110": 0.9}}',
            "row 2: .*'1110' stands twice in one object",
        ),
        ("{", "row 2"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_scored(
    tmp_path: Path, row: object, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read_submissions(submissions(tmp_path, ROW, row), TASKS)


def test_a_noisy_workflow_needs_a_measurement(tmp_path: Path) -> None:
    noisy = (workflow(noise=Noise(0.1, 4)),)
    with pytest.raises(InputError, match="row 1: measured is empty"):
        read_submissions(submissions(tmp_path, ROW | {"measured": {}}), noisy)


def test_noisy_measurements_may_lie_beyond_the_scale(tmp_path: Path) -> None:
    noisy = (workflow(noise=Noise(0.1, 4)),)
    row = {"agent": "a", "task": "made", "table": TRUE, "measured": {"0000": -0.02, "1101": 1.03}}
    (one,) = read_submissions(submissions(tmp_path, row), noisy)
    assert one.measured == {"0000": -0.02, "1101": 1.03}
    for bad in ({"0000": True}, {"0000": "1"}, ["0000"]):
        with pytest.raises(InputError, match="row 1: measured"):
            read_submissions(submissions(tmp_path, row | {"measured": bad}), noisy)


def test_no_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no rows|empty"):
        read_submissions(submissions(tmp_path), TASKS)


def test_a_description_of_a_reference() -> None:
    found = describe_reference(workflow())
    assert found["n_effects"] == 32
    assert found["best_mask"] == "1101"
    rows = found["effects"]
    assert isinstance(rows, list)
    assert rows[0]["factor"] == "impute"
    assert rows[3]["harms"] == 0
    assert found["interactions"]["impute x stack"] == pytest.approx(0.2)  # type: ignore[index]
    assert len(describe_reference(published_references()[2])["effects"]) == 4  # type: ignore[arg-type]
