"""Values of rows: what each must be, and how a message spells it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Real

from ...errors import InputError

_TOLD = 3
"""Most problems that one message names."""
_SHOWN = 60
"""Most characters of a value in a message."""


def spelt(value: object) -> str:
    """A value as it stands in JSON, short, its control characters escaped."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    return f"`{text[:_SHOWN]}`"


def told(problems: Sequence[str]) -> str:
    """The first problems in one text, and how many more there are."""
    more = len(problems) - _TOLD
    return "; ".join(problems[:_TOLD]) + (f"; and {more} more" if more > 0 else "")


def reason_of(error: InputError) -> str:
    """What an error says of a row, with what to do, without the full stop at its end."""
    return str(error).rstrip(".")


def name_of(record: Mapping[str, object], name: str) -> str:
    """Take a column as a name.

    Raises:
        InputError: it is missing, or neither text nor a whole number.
    """
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        raise InputError(f"{name} is missing")
    if not isinstance(value, str):
        raise InputError(f"{name} is {spelt(value)} and must be text or a whole number")
    return value


def text_in(record: Mapping[str, object], name: str) -> str | None:
    """Take a column as text; None where it is null or empty.

    Raises:
        InputError: it is something else.
    """
    value = record.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(f"{name} is {spelt(value)} and must be text")
    return value


def number_in(record: Mapping[str, object], name: str, *, in_csv: bool) -> float | None:
    """Take a column as a number; None where it is null, or an empty cell.

    Raises:
        InputError: it is something else, a boolean, or not finite.
    """
    value = record.get(name)
    if in_csv and isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"{name} is {spelt(value)}, not a number") from None
    return None if value is None else finite(value, name)


def finite(value: object, name: str) -> float:
    """Take a value as a number.

    Raises:
        InputError: it is none, a boolean, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} is {spelt(value)}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} is {spelt(value)}, not a finite number")
    return number


def whole_in(record: Mapping[str, object], name: str, *, in_csv: bool) -> int | None:
    """Take a column as a whole number; None where it is null, or an empty cell.

    Raises:
        InputError: it is something else.
    """
    value = number_in(record, name, in_csv=in_csv)
    if value is None:
        return None
    if value != int(value):
        raise InputError(f"{name} is {spelt(value)}, not a whole number")
    return int(value)
