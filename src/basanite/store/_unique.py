"""JSON objects whose names stand once."""

from __future__ import annotations

_SHOWN = 40
"""Most characters of a name in a message."""


def unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a JSON object of its names and values; the `object_pairs_hook` of `json.loads`.

    Left to itself, `json` keeps the last of two values of a name, in silence.

    Raises:
        ValueError: a name stands twice; the message says which.
    """
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ValueError(f"{name[:_SHOWN]!r} stands twice in one object")
        seen.add(name)
    return found
