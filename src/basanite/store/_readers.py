"""The formats of inputs: each gives its rows one by one, and never drops one."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._arrow import load_pyarrow
from ._rows import COLUMNS, REQUIRED, RawRow, load_json

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_CELL = 2**31 - 1
"""Of CSV, in characters; Python's own limit of 131,072 is less than one long answer."""
_MOST_NAMES = 20
_ROWS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Columns:
    """What the rows of a kind of file hold."""

    required: tuple[str, ...]
    """A CSV or Parquet file without one of these is refused as a whole."""
    known: frozenset[str]
    """All columns that are read, the required ones included."""
    closed: bool = False
    """Whether a column that is not known is refused; else it is not looked at."""


ANSWER_COLUMNS = Columns(REQUIRED, COLUMNS)


@dataclass(slots=True)
class Notes:
    """What a reader looks for, and what it notices beside its rows."""

    wanted: Columns = ANSWER_COLUMNS
    unknown: set[str] = field(default_factory=set)
    """Columns that are not known and not read (the first twenty)."""

    def columns(self, names: Iterable[str]) -> None:
        """Note those of a row's columns that are not known."""
        for name in names:
            if name not in self.wanted.known and len(self.unknown) < _MOST_NAMES:
                self.unknown.add(name)


def read_jsonl(path: Path, notes: Notes) -> Iterator[RawRow]:
    """Give one row per line that is not blank; a line that is no JSON spoils only itself."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                _refuse_utf16(line, path)
                _refuse_array(line, path)
            content = line.removeprefix(_BOM) if number == 1 else line
            if content.strip():
                raw = _json_line(number, content)
                notes.columns(raw.record or ())
                yield raw


def _json_line(number: int, line: bytes) -> RawRow:
    problem = None
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is no valid UTF-8"
        text = line.decode("utf-8", "replace")
    if "\x00" in text:
        return RawRow(number, None, "holds a NUL byte")
    try:
        value = load_json(text)
    except ValueError as error:
        return RawRow(number, None, problem or f"is not JSON ({error})")
    if not isinstance(value, dict):
        return RawRow(number, None, "is JSON, but no object with the columns as its keys")
    if problem is not None and "\ufffd" in str(value.get("id")):
        value = {name: entry for name, entry in value.items() if name != "id"}
    return RawRow(number, value, problem)


def read_csv(path: Path, notes: Notes) -> Iterator[RawRow]:
    """Give one row per record below the header; rows are counted without the header."""
    csv.field_size_limit(_LONGEST_CELL)
    with path.open("rb") as file:
        # strict: without it, a stray quote would swallow the rows behind it in silence.
        records = _csv_records(csv.reader(_csv_lines(file, path), strict=True))
        header = next(records, None)
        if not isinstance(header, list):
            raise InputError("has no header line", where=str(path), todo=_todo(notes.wanted))
        names = [name.strip() for name in header]
        _check_header(names, path, notes.wanted)
        notes.columns(names)
        for number, record in enumerate(records, 1):
            yield _csv_row(number, names, record, notes.wanted)


def _csv_lines(file: Iterable[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        if number == 1:
            _refuse_utf16(line, path)
        content = line.removeprefix(_BOM) if number == 1 else line
        # Bytes that are no UTF-8 become lone surrogates, which mark the row that holds them.
        yield content.decode("utf-8", "surrogateescape")


def _csv_records(reader: Iterator[list[str]]) -> Iterator[list[str] | csv.Error]:
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield error
        else:
            if any(cell.strip() for cell in record):
                yield record


def _csv_row(
    number: int, names: Sequence[str], record: list[str] | csv.Error, wanted: Columns
) -> RawRow:
    if isinstance(record, csv.Error):
        return RawRow(number, None, f"is not CSV ({record}; check its quotes)")
    if len(record) != len(names):
        what = f"has {len(record)} cells where the header has {len(names)}; check its quotes"
        return RawRow(number, None, what)
    cells = dict(zip(names, record, strict=True))
    # An empty cell is a missing value, except where an empty text means something.
    kept = {name: cell for name, cell in cells.items() if cell or name in wanted.required}
    return RawRow(number, kept)


def read_parquet(path: Path, notes: Notes) -> Iterator[RawRow]:
    """Give one row per record of a Parquet file."""
    pa = load_pyarrow()
    number = 0
    try:
        with pa.parquet.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
            _check_header(names, path, notes.wanted)
            notes.columns(names)
            known = [name for name in names if name in notes.wanted.known]
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=known):
                for row in _parquet_rows(batch):
                    number += 1
                    yield RawRow(number, row.record, row.problem)
    # OSError: what pyarrow raises for a damaged page.
    except (pa.ArrowException, OSError) as error:
        first = str(error).partition("\n")[0]
        raise InputError(
            f"is no Parquet file that can be read ({first})",
            where=str(path),
            todo="Write it again, or give JSONL.",
        ) from error


def _parquet_rows(batch: Any) -> Iterator[RawRow]:
    try:
        for record in batch.to_pylist():
            yield RawRow(0, record)
    except UnicodeDecodeError:
        # Some text in the batch is damaged: find out in which rows.
        for index in range(batch.num_rows):
            yield _parquet_row(batch, index)


def _parquet_row(batch: Any, index: int) -> RawRow:
    record: dict[str, object] = {}
    problem = None
    for name in batch.schema.names:
        try:
            record[name] = batch.column(name)[index].as_py()
        except UnicodeDecodeError:
            problem = f"{name} is no valid UTF-8"
    return RawRow(0, record, problem)


def read_ragchecker(path: Path, notes: Notes) -> Iterator[RawRow]:
    """Give one row per entry of `results` in RAGChecker's JSON; the whole file is held."""
    del notes  # the format has many keys of its own, which are left alone
    content = path.read_bytes()
    _refuse_utf16(content, path)
    todo = 'Give RAGChecker\'s {"results": [...]}, or one JSON object per line in a .jsonl file.'
    try:
        whole = load_json(content.removeprefix(_BOM).decode("utf-8", "surrogateescape"))
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", where=str(path), todo=todo) from None
    results = whole.get("results") if isinstance(whole, dict) else None
    if not isinstance(results, list):
        raise InputError("has no list of results", where=str(path), todo=todo)
    for number, entry in enumerate(results, 1):
        if isinstance(entry, dict):
            yield RawRow(number, _from_ragchecker(entry))
        else:
            yield RawRow(number, None, "is no object")


_RAGCHECKER_NAMES = {
    "query_id": "id",
    "query": "question",
    "response": "answer",
    "gt_answer": "truth",
    "retrieved_context": "contexts",
    "response_claims": "answer_claims",
    "gt_answer_claims": "truth_claims",
}


def _from_ragchecker(entry: Mapping[str, object]) -> dict[str, object]:
    return {ours: entry[theirs] for theirs, ours in _RAGCHECKER_NAMES.items() if theirs in entry}


def _refuse_utf16(start: bytes, path: Path) -> None:
    if start.startswith(_UTF16):
        raise InputError("is UTF-16", where=str(path), todo="Save it as UTF-8.")


def _refuse_array(start: bytes, path: Path) -> None:
    # Written over several lines, its last entry would pass for a row.
    begin = start.removeprefix(_BOM).strip()
    if begin == b"[" or begin.startswith(b"[{"):
        raise InputError(
            "is a JSON array",
            where=str(path),
            todo="JSONL is one JSON object per line, without brackets and commas around them.",
        )


def _check_header(names: Sequence[str], path: Path, wanted: Columns) -> None:
    missing = [name for name in wanted.required if name not in names]
    if missing:
        what = f"has no column {', '.join(missing)} (it has: {', '.join(names)[:200]})"
        raise InputError(what, where=str(path), todo=_todo(wanted))
    if wanted.closed and (problem := unknown_column(names, wanted)) is not None:
        raise InputError(problem, where=str(path), todo=_todo(wanted))
    doubled = sorted({name for name in names if names.count(name) > 1 and name in wanted.known})
    if doubled:
        raise InputError(
            f"has two columns named {doubled[0]}", where=str(path), todo="Rename one of them."
        )


def unknown_column(names: Iterable[str], wanted: Columns) -> str | None:
    """Say which of some columns is the first that is not known; None where all are."""
    strange = next((name for name in names if name not in wanted.known), None)
    if strange is None:
        return None
    near = get_close_matches(strange, sorted(wanted.known), 1)
    meant = f"; {near[0]} may be meant" if near else ""
    return f"has the unknown column {strange[:40]!a}{meant}"


def _todo(wanted: Columns) -> str:
    others = ", ".join(sorted(wanted.known - set(wanted.required)))
    return (
        f"Name the columns {', '.join(wanted.required)} (and, if wanted, {others}), "
        "separated by commas."
    )


Reader = Callable[[Path, Notes], Iterator[RawRow]]

READERS: Mapping[str, tuple[str, Reader]] = {
    ".jsonl": ("jsonl", read_jsonl),
    ".ndjson": ("jsonl", read_jsonl),
    ".csv": ("csv", read_csv),
    ".parquet": ("parquet", read_parquet),
    ".pq": ("parquet", read_parquet),
    ".json": ("ragchecker", read_ragchecker),
}
"""Format and reader by the file's suffix."""
