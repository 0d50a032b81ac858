"""Rows of a user's file: what their values must be, and how a file with bad ones is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Protocol, TypeVar

from ..errors import InputError, RowError
from ..store import Columns, RawRow, read_rows

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

LARGEST = 1e100
"""Largest size of a number: differences, their squares and sums over all rows stay finite."""

_TOLD = 3
"""Most problems that one message names."""
_SHOWN = 60
"""Most characters of a value in a message."""


class Parser(Protocol[T_co]):
    """What makes one of a row's record; it raises `InputError` for what is wrong in it."""

    def __call__(self, record: Mapping[str, object], /, *, in_csv: bool) -> T_co:
        """Parse; with `in_csv` the values are texts, which numbers and flags are read from."""
        ...


def parsed_rows(
    path: Path,
    columns: Columns,
    parse: Parser[T],
    *,
    key: Callable[[T], object] | None = None,
    same: str = "",
) -> list[tuple[int, T]]:
    """Read a file of rows and parse them all: see `collect_rows`.

    Raises:
        RowError: rows can't be used, or stand twice; the message names the first three.
        InputError: the file can't be read as rows, or holds none.
        MissingExtra: Parquet without pyarrow installed.
    """
    in_csv = is_csv(path)
    return collect_rows(
        path,
        read_rows(path, columns),
        lambda record: parse(record, in_csv=in_csv),
        key=key,
        same=same,
    )


def collect_rows(
    path: Path,
    raws: Iterable[RawRow],
    parse: Callable[[Mapping[str, object]], T],
    *,
    key: Callable[[T], object] | None = None,
    same: str = "",
) -> list[tuple[int, T]]:
    """Parse all rows of a file, or refuse the file with the reasons of its bad ones.

    Nothing is taken from what is left of a damaged file, since the rows that are missing could
    decide what is computed from it.

    Args:
        path: the file, for messages.
        raws: its rows.
        parse: makes one of a row's record; it raises `InputError` for what is wrong in it.
        key: what may stand only once; None where rows may be equal.
        same: what the key consists of, in words.

    Returns:
        Each row's number, and what it was parsed into.

    Raises:
        RowError: rows can't be used, or stand twice; the message names the first three.
        InputError: there are no rows.
    """
    found: list[tuple[int, T]] = []
    problems: list[str] = []
    first: dict[object, int] = {}
    for raw in raws:
        try:
            if raw.record is None or raw.problem is not None:
                raise InputError(raw.problem or "can't be read")
            row = parse(raw.record)
            if key is not None and first.setdefault(key(row), raw.number) != raw.number:
                raise InputError(f"is the same {same} as row {first[key(row)]}")
        except InputError as error:
            problems.append(f"row {raw.number}: {str(error).rstrip('.')}")
        else:
            found.append((raw.number, row))
    if problems:
        more = len(problems) - _TOLD
        told = "; ".join(problems[:_TOLD]) + (f"; and {more} more" if more > 0 else "")
        raise RowError(told, where=str(path), todo="Correct these rows.")
    if not found:
        raise InputError("holds no rows", where=str(path), todo="Give it some.")
    return found


def is_csv(path: Path) -> bool:
    """Tell whether a file's cells are texts, which numbers and flags must be read from."""
    return path.suffix.lower() == ".csv"


def spelt(value: object) -> str:
    """A value as it stands in JSON, short, its control characters escaped."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    return f"`{text[:_SHOWN]}`"


def name_in(record: Mapping[str, object], name: str) -> str | None:
    """Take a column as a name; None where it is missing, null or an empty text.

    Raises:
        InputError: it is neither text nor a whole number.
    """
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is {spelt(value)} and must be text or a whole number")
    return value or None


def name_of(record: Mapping[str, object], name: str) -> str:
    """Take a column as a name that must be there.

    Raises:
        InputError: it is missing, or neither text nor a whole number.
    """
    value = name_in(record, name)
    if value is None:
        raise InputError(f"{name} is {'missing' if record.get(name) is None else 'empty'}")
    return value


def text_in(record: Mapping[str, object], name: str) -> str | None:
    """Take a column as text; None where it is missing, null or empty.

    Raises:
        InputError: it is something else.
    """
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is {spelt(value)} and must be text")
    return value or None


def number_in(
    record: Mapping[str, object], name: str, *, in_csv: bool, todo: str | None = None
) -> float | None:
    """Take a column as a number; None where it is missing, null or an empty cell.

    Args:
        record: the row.
        name: the column.
        in_csv: texts are cells that may hold a number.
        todo: see `number_of`.

    Raises:
        InputError: see `number_of`.
    """
    value = record.get(name)
    if in_csv and isinstance(value, str):
        if not value.strip():
            return None
        # As it was written: `1e999` and not `Infinity`.
        shown = f"`{repr(value[:_SHOWN])[1:-1]}`"
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"{name} is {shown}, not a number", todo=todo) from None
        return number_of(value, name, todo=todo, shown=shown)
    return None if value is None else number_of(value, name, todo=todo)


def number_of(
    value: object, name: str, *, todo: str | None = None, shown: str | None = None
) -> float:
    """Take a value as a number.

    Args:
        value: what was given.
        name: what it is, for messages.
        todo: what to write where there is no number.
        shown: how the user wrote it; None for its form in JSON.

    Raises:
        InputError: it is no number (a boolean is none), not finite, or beyond `LARGEST`.
    """
    shown = spelt(value) if shown is None else shown
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} is {shown}, not a number", todo=todo)
    try:
        number: float | None = float(value)
    except OverflowError:  # a whole number, or a fraction, beyond all floats
        number = None
    if number is not None and not math.isfinite(number):
        raise InputError(f"{name} is {shown}, not a finite number", todo=todo)
    if number is None or abs(number) > LARGEST:
        raise InputError(
            f"{name} is {shown}, whose size is beyond {LARGEST:g}",
            todo="Give these numbers in a larger unit.",
        )
    return number


def whole_in(record: Mapping[str, object], name: str, *, in_csv: bool) -> int | None:
    """Take a column as a whole number; None where it is missing, null or an empty cell.

    Raises:
        InputError: it is something else.
    """
    value = number_in(record, name, in_csv=in_csv)
    if value is None:
        return None
    if value != int(value):
        raise InputError(f"{name} is {spelt(value)}, not a whole number")
    return int(value)
