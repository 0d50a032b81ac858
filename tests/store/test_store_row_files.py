"""Files of rows that are no answers: what is refused before a suite looks at it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.errors import InputError
from basanite.store import Columns, RawRow, read_rows, unique_names

OPEN = Columns(("agent",), frozenset({"agent", "f1"}))
CLOSED = Columns(("agent",), frozenset({"agent", "f1"}), closed=True)


def rows(path: Path, content: bytes, columns: Columns = OPEN) -> list[RawRow]:
    path.write_bytes(content)
    return list(read_rows(path, columns))


def test_a_name_that_stands_twice_spoils_its_row(tmp_path: Path) -> None:
    content = b'{"agent": "a", "f1": 0, "f1": 1}\n{"agent": "a", "f1": {"x": 0, "x": 1}}\n'
    found = rows(tmp_path / "rows.jsonl", content + b'{"agent": "a", "f1": {"agent": "a"}}\n')
    for row, name in zip(found[:2], ("f1", "x"), strict=True):
        assert row.record is None
        assert f"'{name}' stands twice in one object" in str(row.problem)
    assert found[2] == RawRow(3, {"agent": "a", "f1": {"agent": "a"}})
    with pytest.raises(ValueError, match="'a' stands twice"):
        json.loads('[{"a": 1, "a": 1}]', object_pairs_hook=unique_names)


@pytest.mark.parametrize("columns", [OPEN, CLOSED])
def test_csv_that_is_no_utf8_spoils_its_rows(tmp_path: Path, columns: Columns) -> None:
    found = rows(tmp_path / "rows.csv", "agent,f1\nJosé,1\nJo,2\n".encode("latin-1"), columns)
    assert "'agent' holds a NUL byte or what is no valid UTF-8" in str(found[0].problem)
    assert found[1] == RawRow(2, {"agent": "Jo", "f1": "2"})


def test_bytes_of_other_columns(tmp_path: Path) -> None:
    # As in JSONL, a bad byte of CSV spoils its row wherever it stands.
    (row,) = rows(tmp_path / "rows.csv", "agent,note\na,é\n".encode("latin-1"))
    assert "'note' holds" in str(row.problem)
    (row,) = rows(tmp_path / "rows.csv", "agent,é\na,1\n".encode("latin-1"))
    assert "\\udce9' holds" in str(row.problem)
    # Half a pair that JSON escapes is valid UTF-8, and matters only where it is read.
    first, second = rows(
        tmp_path / "rows.jsonl", b'{"agent": "a", "note": "\\ud83d"}\n{"agent": "\\ud83d"}\n'
    )
    assert first.problem is None
    assert "'agent' holds" in str(second.problem)


def test_closed_columns(tmp_path: Path) -> None:
    content = b'{"agent": "a", "agnt": 1}\n{"agent": "a"}\n'
    assert rows(tmp_path / "rows.jsonl", content)[0].problem is None
    first, second = rows(tmp_path / "rows.jsonl", content, CLOSED)
    assert first.problem == "has the unknown column 'agnt'; agent may be meant"
    assert second.problem is None
    with pytest.raises(InputError, match=r"rows\.csv: has the unknown column 'zzz'\. Name"):
        rows(tmp_path / "rows.csv", b"agent,zzz\na,1\n", CLOSED)


def test_closed_columns_of_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"agent": ["a"], "fl": [1]}), path)
    assert [row.record for row in read_rows(path, OPEN)] == [{"agent": "a"}]
    with pytest.raises(InputError, match="unknown column 'fl'"):
        list(read_rows(path, CLOSED))
