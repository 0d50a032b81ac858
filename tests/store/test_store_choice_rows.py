"""Rows of multiple choice: letters as lists, options with gaps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.schema import Answer, InvalidRow
from basanite.store import read_answers
from support.choices import OPTIONS, choice_row


def read(tmp_path: Path, **fields: object) -> Answer | InvalidRow:
    path = tmp_path / "rows.jsonl"
    rows = [choice_row(0), choice_row(1, **fields)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return list(read_answers(path))[1][1]


@pytest.mark.parametrize(
    ("given", "text"), [(["A", "C"], "A,C"), ([" c"], "C"), ([], "[]"), ("A and C", "A and C")]
)
def test_letters_may_be_lists(tmp_path: Path, given: object, text: str) -> None:
    found = read(tmp_path, answer=given, truth=given)
    assert isinstance(found, Answer)
    assert (found.answer, found.truth) == (text, text)


@pytest.mark.parametrize("given", [["A", 1], ["AB"], [""], [None], ["é"], [["A"]]])
def test_lists_of_other_things_are_refused(tmp_path: Path, given: object) -> None:
    found = read(tmp_path, answer=given)
    assert isinstance(found, InvalidRow)
    assert "answer is a list and must be text, or a list of letters" in found.message


def test_a_list_without_options_is_no_answer(tmp_path: Path) -> None:
    found = read(tmp_path, answer=["A"], options=None)
    assert isinstance(found, InvalidRow)
    assert "answer is a list and must be text" in found.message


def test_letters_that_are_null_are_no_options(tmp_path: Path) -> None:
    found = read(tmp_path, options=OPTIONS | {"E": None})
    assert isinstance(found, Answer)
    assert found.options == OPTIONS
    few = read(tmp_path, options={"A": "one", "B": None})
    assert isinstance(few, InvalidRow)
    assert "2 to 26" in few.message


def test_parquet_gives_all_rows_all_letters(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install pyarrow")
    rows = [choice_row(0, options=OPTIONS | {"E": "fifth"}), choice_row(1)]
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    found = [row for _, row in read_answers(path)]
    assert [sorted(row.options or ()) for row in found if isinstance(row, Answer)] == [
        list("ABCDE"),
        list("ABCD"),
    ]
