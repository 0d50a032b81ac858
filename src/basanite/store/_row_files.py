"""Files of rows that are no answers: the same formats and the same care, other columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ._inputs import check_file
from ._readers import READERS, Columns, Notes, unknown_column
from ._record import is_storable
from ._rows import RawRow

_SUFFIXES = tuple(suffix for suffix, (name, _) in READERS.items() if name != "ragchecker")


def read_rows(path: str | Path, columns: Columns) -> Iterator[RawRow]:
    """Give each row of a file that is not blank, with its number; none is dropped.

    A row that can't be read has no record, or a `problem`: so has one with a text that is no
    valid UTF-8, and one with a column that `columns`, if closed, does not know. Cells of CSV are
    text, and an empty cell is left out of the record unless its column is required.

    Args:
        path: JSONL, CSV or Parquet; the suffix says which.
        columns: what the rows hold; others are refused if it is closed, else not looked at.

    Raises:
        InputError: the file can't be used as a whole: it is missing, a folder, empty, of an
            unknown kind, or (CSV and Parquet) without a required column or with a refused one.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    check_file(path, _SUFFIXES)
    form, read = READERS[path.suffix.lower()]
    in_csv = form == "csv"
    return (_checked(raw, columns, in_csv=in_csv) for raw in read(path, Notes(columns)))


def _checked(raw: RawRow, columns: Columns, *, in_csv: bool) -> RawRow:
    if raw.record is None or raw.problem is not None:
        return raw
    problem = unknown_column(raw.record, columns) if columns.closed else None
    for name, value in raw.record.items():
        # A byte of CSV that is no UTF-8 spoils its row wherever it stands, as it does in JSONL.
        if not (in_csv or name in columns.known):
            continue
        if not is_storable(name) or (isinstance(value, str) and not is_storable(value)):
            problem = f"{name[:40]!a} holds a NUL byte or what is no valid UTF-8"
            break
    return raw if problem is None else replace(raw, problem=problem)
