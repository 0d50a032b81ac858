"""JSON files that come with this package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ...store import unique_names


def packaged(*parts: str) -> dict[str, Any]:
    """Read one by its path inside the package."""
    text = files(__package__).joinpath(*parts).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text, object_pairs_hook=unique_names)
    return found
