"""Exports of a run: one judgment per line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ._files import output_file
from ._folder import RunFolder
from ._ordered import items_in_order


def export_jsonl(folder: RunFolder, out: str | Path) -> dict[str, int]:
    """Write one `Judgment` per line, in the order of the input.

    Each line can be read back with the schema.

    Args:
        folder: the run.
        out: a file, or `-` for standard output.

    Returns:
        `items`: how many judgments were written.

    Raises:
        InputError: the path can't be a file.
        StorageError: it can't be written.
    """
    items = 0
    with output_file(out) as file:
        for item in items_in_order(folder):
            if item.judgment is not None:
                file.write(json_bytes(item.judgment.model_dump(mode="json")) + b"\n")
                items += 1
    return {"items": items}


def json_bytes(value: Mapping[str, object]) -> bytes:
    """Give JSON text in UTF-8, readable in any language where UTF-8 can hold it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair in a model's reply: only its escape can be written.
        return json.dumps(value, allow_nan=False).encode("ascii")
