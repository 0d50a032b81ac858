from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from basanite.schema import Answer, InvalidRow
from basanite.store import InputFile, read_answers
from support.reference import reference

Row = dict[str, object]


def make_row(id_: object = "q1", **changes: object) -> Row:
    return {"id": id_, "question": "Q?", "answer": "A.", "truth": "T."} | changes


def write_jsonl(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, *rows: list[str]) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8-sig", newline="")
    return path


def test_csv_cells_hold_what_json_rows_hold(tmp_path: Path) -> None:
    header = ["id", " question", "answer", "truth", "contexts", "human", "task", "odd"]
    contexts = json.dumps(["one, with comma", {"text": "two", "doc_id": "d"}])
    path = write_csv(
        tmp_path / "in.csv",
        header,
        ["1", 'A "quoted",\nbroken question?', "", "T", contexts, "0.5", "", "x"],
        ["2", "Q", "x" * 500_000, "T", "", "good", "t", ""],
        ["3", "Q", "A", "", "", "", "", ""],
        ["4", "Q", "A", "T", "no list", "", "", ""],
    )
    source = InputFile.scan(path)
    assert "odd" in source.warnings[0]
    rows = [row for _, row in source.answers()]
    assert isinstance(rows[0], Answer)
    assert rows[0].question == 'A "quoted",\nbroken question?'
    assert rows[0].task == rows[0].question
    assert rows[0].contexts is not None
    assert rows[0].contexts[1].doc_id == "d"
    assert rows[0].human == {"score": 0.5}
    assert rows[0].answer == ""
    assert isinstance(rows[1], Answer)
    assert rows[1].human == {"label": "good"}
    assert rows[1].contexts is None
    assert isinstance(rows[2], InvalidRow)
    assert "truth is empty" in rows[2].message
    assert isinstance(rows[3], InvalidRow)
    assert [number for number, _ in source.answers()] == [1, 2, 3, 4]


def test_damaged_csv_rows_spoil_only_themselves(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(
        b"id,question,answer,truth\n"
        b"1,Q,A,T\n"
        b"2,Q,A\n"
        b"\n"
        b'3,Q,"A" and more,T\n'
        b"4,Q,A\xff,T\n"
        b"5,Q,A\x00,T\n"
        b"6,Q,A,T,more\n"
        b"7,Q,A,T\n"
        b'8,Q,"A,T\n'
        b"9,Q,A,T\n"
    )
    rows = [row for _, row in read_answers(path)]
    good = [row.id for row in rows if isinstance(row, Answer)]
    said = [row.message for row in rows if isinstance(row, InvalidRow)]
    assert good == ["1", "7"]
    assert "row 2: has 3 cells" in said[0]
    assert "row 3: is not CSV" in said[1]
    assert "answer holds half of a surrogate pair or invalid UTF-8" in said[2]
    assert "NUL" in said[3]
    assert "has 5 cells" in said[4]
    assert "check its quotes" in said[5]  # an open quote takes the rest of the file
    assert len(said) == 6


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    count = 300
    table = pa.table(
        {
            "id": list(range(count)),
            "question": ["Q"] * count,
            "answer": ["A"] * count,
            "truth": ["T" if number % 10 else None for number in range(count)],
            "contexts": [[{"text": "c", "doc_id": None}]] * count,
            "human": [0.5] * count,
            "odd": [1] * count,
        }
    )
    path = tmp_path / "in.parquet"
    parquet.write_table(table, path, row_group_size=70)
    source = InputFile.scan(path)
    assert (source.rows, source.invalid) == (count, 30)
    assert "odd" in source.warnings[0]
    rows = [row for _, row in source.answers()]
    assert [row.id for row in rows] == [str(number) for number in range(count)]
    assert isinstance(rows[1], Answer)
    assert rows[1].contexts is not None
    assert rows[1].contexts[0].text == "c"
    assert rows[1].human == {"score": 0.5}


def test_damaged_text_in_parquet_spoils_only_its_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    bad = pa.array([b"ok", b"\xff", b"ok"], pa.binary()).view(pa.string())
    table = pa.table(
        {"id": ["1", "2", "3"], "question": ["Q"] * 3, "answer": bad, "truth": ["T"] * 3}
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    rows = [row for _, row in read_answers(tmp_path / "in.parquet")]
    assert [isinstance(row, Answer) for row in rows] == [True, False, True]
    assert isinstance(rows[1], InvalidRow)
    assert "answer is no valid UTF-8" in rows[1].message
    assert rows[1].id == "2"


def test_ragcheckers_json(tmp_path: Path) -> None:
    entry = {
        "query_id": 0,
        "query": "Q?",
        "gt_answer": "T.",
        "response": "A.",
        "retrieved_context": [{"doc_id": "d", "text": "c"}, {"text": "e"}],
        "response_claims": [["s", "p", "o"], "plain"],
        "gt_answer_claims": [["x", "y", "z"]],
        "answer2response": ["Entailment", "Neutral"],
        "metrics": {"precision": 1.0},
    }
    path = tmp_path / "in.json"
    results = [entry, entry | {"query_id": "1", "gt_answer": None}, 5]
    path.write_text(json.dumps({"results": results, "metrics": {}}), encoding="utf-8")
    source = InputFile.scan(path)
    assert source.format == "ragchecker"
    assert source.warnings == ()
    rows = [row for _, row in source.answers()]
    first = rows[0]
    assert isinstance(first, Answer)
    assert (first.id, first.question, first.answer, first.truth) == ("0", "Q?", "A.", "T.")
    assert first.contexts is not None
    assert [one.doc_id for one in first.contexts] == ["d", None]
    assert first.answer_claims == ("s p o", "plain")
    assert first.truth_claims == ("x y z",)
    assert [row.id for row in rows] == ["0", "1", "row-3"]
    assert isinstance(rows[1], InvalidRow)


def test_ragcheckers_own_example(tmp_path: Path) -> None:
    for name in ("checking_inputs.json", "checking_outputs.json"):
        source = InputFile.scan(reference(f"ragchecker/{name}"))
        assert (source.rows, source.invalid) == (2, 0)
