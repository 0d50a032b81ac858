"""What all schema models share: frozen, strict about unknown keys, one canonical JSON form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Base of every schema model: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def canonical_json(value: object) -> str:
    """Give the one JSON text of a plain value: sorted keys, no spaces, ASCII only.

    Raises:
        ValueError: if the value holds NaN or an infinity, which JSON can't.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Mapping[str, object] | list[object] | str) -> str:
    """Give the SHA-256 (64 hex digits) of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()
