"""Whatever bytes a file holds: nothing raises but `InputError`, and no row is lost."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.schema import Answer, InvalidRow
from basanite.store import InputFile, answer_record
from basanite.store._record import encode_body
from basanite.store._rows import COLUMNS

GOOD = {"id": "the good one", "question": "Q", "answer": "A", "truth": "T"}

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
_columns = st.sampled_from([*sorted(COLUMNS), "other"])
_texts = st.text(st.characters(), max_size=6) | st.sampled_from(["", " ", "\x00", "T", "[1]", "{}"])
_objects = st.dictionaries(_columns, _texts | _json, max_size=11).map(
    lambda row: json.dumps(row).encode("ascii")
)
_lines = st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")) | _objects


def write(folder: str, name: str, content: bytes) -> Path:
    path = Path(folder) / name
    path.write_bytes(content)
    return path


def check_rows(path: Path, expected: int) -> None:
    try:
        source = InputFile.scan(path)
    except InputError as error:
        assert "stand twice" in str(error) or "UTF-16" in str(error) or "array" in str(error)
        return
    rows = list(source.answers())
    assert len(rows) == source.rows == expected
    assert len({row.id for _, row in rows}) == expected
    assert sum(isinstance(row, InvalidRow) for _, row in rows) == source.invalid
    for _, row in rows:
        # It can be kept in any database and any file, and is what it was when it comes back.
        record = answer_record("r", row)
        encode_body(record.body)
        kind = Answer if isinstance(row, Answer) else InvalidRow
        assert kind.model_validate(record.body) == row
        if isinstance(row, Answer):
            assert row.truth.strip()
            row.model_dump_json().encode("utf-8")


@given(st.lists(_lines, max_size=8))
@settings(max_examples=200, deadline=None)
def test_each_line_of_any_bytes_comes_out_once(lines: list[bytes]) -> None:
    lines.append(json.dumps(GOOD).encode())
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "in.jsonl", b"\n".join(lines))
        # A mark at the start of the file is no content.
        first = lines[0].removeprefix(b"\xef\xbb\xbf")
        check_rows(path, sum(bool(line.strip()) for line in [first, *lines[1:]]))


@given(st.lists(st.dictionaries(_columns, _json | _texts) | _json, max_size=6))
@settings(max_examples=100, deadline=None)
def test_each_entry_of_ragcheckers_json_comes_out_once(entries: list[object]) -> None:
    good = {"query_id": "x", "query": "Q", "response": "A", "gt_answer": "T"}
    results = [*entries, good]
    try:
        text = json.dumps({"results": results}, allow_nan=False)
    except ValueError:
        return
    with tempfile.TemporaryDirectory() as folder:
        check_rows(write(folder, "in.json", text.encode()), len(results))


@given(st.binary(max_size=120))
@settings(max_examples=300, deadline=None)
def test_any_bytes_below_a_csv_header_never_crash(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "in.csv", b"id,question,answer,truth\n" + content)
        try:
            source = InputFile.scan(path)
        except InputError:
            return
        assert len(list(source.answers())) == source.rows


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.json", "in.parquet"])
@given(content=st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_file_is_read_or_refused(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            InputFile.scan(write(folder, name, content))
        except InputError as error:
            assert error.where is not None
