"""The one kind of row in the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InputError

MAX_NAME = 500
"""Most characters of a run, kind or key: PostgreSQL can't index much longer ones."""


@dataclass(frozen=True, slots=True)
class Record:
    """One fact that is never changed once it is written; `(run, kind, key)` names it."""

    run: str
    kind: str
    """What the body is, such as `judgment`, `attempt` or `answer`."""
    key: str
    body: Mapping[str, object]
    """Plain JSON values only."""
    schema_version: int = 1
    """Version of the body's shape."""
    created_at: str | None = None
    """UTC, ISO 8601; set by the ledger when it takes the record."""


def check_names(record: Record) -> None:
    """Refuse names that a database can't hold, before they spoil a whole batch.

    Raises:
        InputError: the run, kind or key is empty, too long, or holds NUL or half a surrogate pair.
    """
    for name, value in (("run", record.run), ("kind", record.kind), ("key", record.key)):
        if not value or len(value) > MAX_NAME:
            what = f"the {name} of a record has {len(value)} characters"
            raise InputError(what, where=value[:40], todo=f"Use 1 to {MAX_NAME}.")
        if not is_storable(value):
            what = f"the {name} of a record holds a NUL byte or half a surrogate pair"
            raise InputError(what, where=ascii(value[:40]), todo="Use another id.")


def is_storable(text: str) -> bool:
    """Whether every database and file format can hold this text: no NUL, no lone surrogate."""
    if text.isascii():
        return "\x00" not in text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def encode_body(body: Mapping[str, object]) -> str:
    """Give the JSON text of a body: ASCII only, so that NUL and surrogates travel escaped.

    Raises:
        ValueError: the body holds NaN, an infinity or a reference to itself.
        TypeError: the body holds what is no JSON value.
    """
    return json.dumps(body, separators=(",", ":"), allow_nan=False)


def decode_body(text: str) -> dict[str, object]:
    """Read back what `encode_body` gave."""
    body: dict[str, object] = json.loads(text)
    return body


def storable_text(text: str) -> str:
    """Give a text without half a surrogate pair, for formats in UTF-8: U+FFFD stands for it."""
    if is_storable(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
