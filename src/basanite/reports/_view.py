"""What a report reads of a run; `basanite.store.RunFolder` has this shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from pydantic import JsonValue

from ..schema import Answer, InvalidRow, Judgment, Model


class RunView(Protocol):
    """A finished or broken-off run, read item by item."""

    @property
    def manifest(self) -> Model | Mapping[str, JsonValue]:
        """How the run was made: ids, versions, fingerprint, endpoint, input."""
        ...

    def judgments(self) -> Iterator[Judgment]:
        """Give the latest judgment of each item; may be called several times."""
        ...

    def answers(self) -> Iterator[Answer | InvalidRow]:
        """Give each row of the input that the run has seen; may be called several times."""
        ...


def manifest_json(view: RunView) -> dict[str, JsonValue]:
    """Give the manifest as plain JSON values."""
    manifest = view.manifest
    if isinstance(manifest, Model):
        return manifest.model_dump(mode="json")
    return dict(manifest)


def text_at(values: Mapping[str, JsonValue], *path: str) -> str | None:
    """Give the text at a path of keys, or None where there is none."""
    found: JsonValue = dict(values)
    for key in path:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found if isinstance(found, str) else None


def expected_rows(manifest: Mapping[str, JsonValue]) -> int | None:
    """Give the number of rows that the manifest's input has, where it tells."""
    source = manifest.get("input")
    rows = source.get("rows") if isinstance(source, dict) else None
    return rows if isinstance(rows, int) else None
