"""Files of rows that are no answers: the same formats and the same care, other columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ._inputs import check_file
from ._readers import READERS, Columns, Notes
from ._rows import RawRow

_SUFFIXES = tuple(suffix for suffix, (name, _) in READERS.items() if name != "ragchecker")


def read_rows(path: str | Path, columns: Columns) -> Iterator[RawRow]:
    """Give each row of a file that is not blank, with its number; none is dropped.

    A row that can't be read has no record, or a `problem`. Cells of CSV are text, and an empty
    cell is left out of the record unless its column is required.

    Args:
        path: JSONL, CSV or Parquet; the suffix says which.
        columns: what the rows hold; others are not looked at.

    Raises:
        InputError: the file can't be used as a whole: it is missing, a folder, empty, of an
            unknown kind, or without a required column (CSV and Parquet).
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    check_file(path, _SUFFIXES)
    _, read = READERS[path.suffix.lower()]
    return read(path, Notes(columns))
