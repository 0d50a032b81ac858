"""The JSON objects of a log: one a line among other lines, or one document."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_START = 5
"""Lines that are not JSON may come before a document's bracket, such as warnings."""


@dataclass(slots=True)
class LogValues:
    """Objects in the order of the log."""

    objects: list[Mapping[str, object]] = field(default_factory=list)
    damaged: int = 0
    """Lines that begin like an object and can't be read, but for the last."""
    cut: bool = False
    """The last object is not complete."""


def values_of(text: str) -> LogValues:
    """Give the objects of a text, line by line, or of the one list or object that it is."""
    start = _document(text)
    return _of_lines(text) if start is None else _of_document(text, start)


def _document(text: str) -> int | None:
    """Where a document over several lines, or a list, begins."""
    place = 0
    # Not `splitlines`: it also splits at characters that JSON leaves as they are in a string.
    for number, line in enumerate(text.split("\n", _START + 1)):
        bare = line.strip()
        if bare in {"[", "{"} or bare.startswith(("[{", "[ {")):
            return place + line.index(bare[0])
        if bare.startswith("{") or number >= _START:
            return None
        place += len(line) + 1
    return None


def _of_document(text: str, start: int) -> LogValues:
    found = LogValues()
    decoder = json.JSONDecoder()
    place = start + (text[start] == "[")
    while place < len(text):
        if text[place].isspace() or text[place] == ",":
            place += 1
            continue
        if text[place] != "{":  # the list's end
            return found
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            found.cut = True
            return found
        found.objects.append(value)
    found.cut = text[start] == "["
    return found


def _of_lines(text: str) -> LogValues:
    found = LogValues()
    for line in text.split("\n"):
        if not line.lstrip().startswith("{"):
            if line.strip():
                found.damaged += found.cut
                found.cut = False
            continue
        found.damaged += found.cut
        found.cut = False
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            found.cut = True
            continue
        found.objects.append(value)
    return found


def text_in(value: object, *path: str) -> str | None:
    """Give the text at a path of keys; None for none, or for one of white space."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) and value.strip() else None


def mapping_in(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Give the object under a key; an empty one where there is none."""
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def mappings_in(value: Mapping[str, object], key: str) -> Iterator[Mapping[str, object]]:
    """Give the objects in the list under a key."""
    found = value.get(key)
    if isinstance(found, list):
        yield from (one for one in found if isinstance(one, Mapping))


def whole(value: object) -> int | None:
    """Give a count; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: object) -> float | None:
    """Give a finite number of 0 or more; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None
