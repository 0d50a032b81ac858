"""Files of runs: what is refused, with its row and reason; records of other programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.errors import InputError, RowError
from basanite.suites.airs import import_runs, read_runs, read_s_min, write_runs
from support.airs import SVAMP, ZINC, run

GOOD = {"agent": "A", "task": SVAMP, "seed": 0, "score": 0.5, "valid": True}


def written(folder: Path, *lines: str, name: str = "runs.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def rows(*changes: dict[str, object]) -> list[str]:
    return [json.dumps({**GOOD, "seed": number, **change}) for number, change in enumerate(changes)]


def test_runs_are_read(tmp_path: Path) -> None:
    lines = rows({}, {"score": None, "valid": False}, {"cost": 1.5}, {"seed": "x"})
    found = read_runs(written(tmp_path, *lines))
    assert [(one.seed, one.score, one.valid, one.cost) for one in found] == [
        ("0", 0.5, True, None), ("1", None, False, None), ("2", 0.5, True, 1.5),
        ("x", 0.5, True, None),
    ]  # fmt: skip


def test_csv_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path, "agent,task,seed,score,valid", f"A,{SVAMP},0,0.5,true", f"A,{SVAMP},1,,False",
        name="runs.csv",
    )  # fmt: skip
    assert [(one.score, one.valid) for one in read_runs(path)] == [(0.5, True), (None, False)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"task": "MathQuestionAnsweringSVAMP"}, f"row 2: the task .* Is it {SVAMP}"),
        ({"seed": 0}, "row 2: is the same agent, task and seed as row 1"),
        ({"score": 1.01}, "row 2: the score 1.01 is out of range: Accuracy is 0 to 1"),
        ({"score": -3, "task": ZINC}, "row 2: the score -3 is out of range: MAE is 0 or more"),
        ({"score": True}, "row 2: score is `true`, not a number"),
        ({"score": "0.5"}, "row 2: score is `'0.5'`, not a number"),
        ({"score": None}, "row 2: the run is valid and has no score"),
        ({"score": 10**400}, "row 2: score is `1000+`, whose size is beyond"),
        ({"valid": "yes"}, "row 2: valid is `'yes'`"),
        ({"valid": 1}, "row 2: valid is `1`"),
        ({"valid": None}, "row 2: valid is `null`"),
        ({"seed": 1.5}, "row 2: seed is `1.5` and must be text or a whole number"),
        ({"seed": True}, "row 2: seed is `true`"),
        ({"agent": None}, "row 2: agent is missing"),
        ({"agent": ""}, "row 2: agent is empty"),
        ({"agent": "SOTA"}, "row 2: no agent can be called SOTA"),
        ({"cost": "much"}, "row 2: cost is `'much'`"),
    ],
)
def test_a_bad_row_is_named_with_its_reason(
    tmp_path: Path, change: dict[str, object], what: str
) -> None:
    with pytest.raises(RowError, match=what):
        read_runs(written(tmp_path, *rows({}, change)))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (json.dumps({**GOOD, "score": float("nan")}), "row 1: is not JSON .NaN"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "valid"}), "row 1: valid is missing"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "score"}), "row 1: score is missing"),
        ("[1]", "row 1: is JSON, but no object"),
        ('{"agent": ', "row 1: is not JSON"),
    ],
)
def test_a_line_that_is_no_row(tmp_path: Path, line: str, what: str) -> None:
    with pytest.raises(RowError, match=what):
        read_runs(written(tmp_path, line, *rows({"seed": 9})))


def test_a_name_that_stands_twice(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    line = json.dumps({"agent": "a", "task": SVAMP, "seed": 1, "score": 0.5, "valid": True})
    path.write_text('{"agent": "b", ' + line[1:] + "\n", encoding="utf-8")
    with pytest.raises(RowError, match=r"row 1: .*'agent' stands twice"):
        read_runs(path)


def test_all_bad_rows_are_counted(tmp_path: Path) -> None:
    bad: dict[str, object] = {"score": 2}
    with pytest.raises(RowError, match=r"row 3.*; and 2 more"):
        read_runs(written(tmp_path, *rows(*[bad] * 5)))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_runs(written(tmp_path))
    with pytest.raises(InputError, match="holds no rows"):
        read_runs(written(tmp_path, ""))


def test_records_with_a_status(tmp_path: Path) -> None:
    record = {"scaffold": "Greedy", "model": "CWM", "task": SVAMP, "seed": 1}
    lines = [
        json.dumps({**record, "score": 0.5, "status": "SUCCESS"}),
        json.dumps({**record, "seed": 2, "score": "N/A", "status": "TIMEOUT"}),
    ]
    runs = import_runs(written(tmp_path, *lines))
    assert [(one.agent, one.score, one.valid) for one in runs] == [
        ("Greedy CWM", 0.5, True), ("Greedy CWM", None, False),
    ]  # fmt: skip
    out = tmp_path / "made.jsonl"
    write_runs(runs, out)
    assert read_runs(out) == runs


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"score": "N/A"}, "row 1: the run is valid and has no score"),
        ({"status": None}, "row 1: status is `null`"),
        ({"agent": None}, "row 1: scaffold is missing"),
        ({"score": "high"}, "row 1: score is `'high'`"),
    ],
)
def test_bad_records_are_refused(tmp_path: Path, change: dict[str, object], what: str) -> None:
    record = {"agent": "A", "task": SVAMP, "seed": 1, "score": 0.5, "status": "SUCCESS"} | change
    with pytest.raises(RowError, match=what):
        import_runs(written(tmp_path, json.dumps(record)))


def test_worst_scores_from_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({SVAMP: 0.1}), name="s_min.json")
    assert read_s_min(path) == {SVAMP: 0.1}
    for bad, what in (
        ("[]", "no JSON object"), ("{", "not JSON"), ('{"X": 1}', "not known"),
        (json.dumps({SVAMP: 3}), "out of range"), (json.dumps({SVAMP: True}), "not a number"),
    ):  # fmt: skip
        path.write_text(bad, encoding="utf-8")
        with pytest.raises(InputError, match=what):
            read_s_min(path)


def test_written_runs_replace_nothing_half_done(tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    write_runs([run("A", SVAMP, 0, 0.5)], out)
    with pytest.raises(AttributeError):
        write_runs([None], out)  # type: ignore[list-item]
    assert len(read_runs(out)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["runs.jsonl"]
