"""The one number that an evaluator prints."""

from __future__ import annotations

import json
import math

MARKER = "--- EVALUATION RESULT ---"
_SHOWN = 60


class NoNumber(ValueError):
    """What was printed holds no single number; `reason` says in a word why."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


def printed_number(text: str) -> tuple[str, float]:
    """Take the metric's name and its number from what an evaluator printed.

    Where the line `--- EVALUATION RESULT ---` stands, it must stand once, and what counts comes
    after it; elsewhere the whole text counts. That holds exactly one JSON object, and the object
    exactly one key, whose value is a finite number. A program of the submission that runs in the
    evaluator's process can print as well: two results are none.

    Raises:
        NoNumber: with the reason `no_json`, `several_results`, `not_one_number` or `not_finite`.
    """
    parts = text.split(MARKER)
    if len(parts) > 2:
        raise NoNumber("several_results", f"{len(parts) - 1} results were printed")
    objects = list(_objects(parts[-1]))
    if not objects:
        raise NoNumber("no_json", "no JSON object was printed")
    if len(objects) > 1:
        raise NoNumber("several_results", f"{len(objects)} JSON objects were printed")
    if len(objects[0]) != 1:
        keys = ", ".join(name for name, _ in objects[0])[:_SHOWN]
        raise NoNumber(
            "not_one_number", f"the printed object has {len(objects[0])} keys: {keys or 'none'}"
        )
    name, value = objects[0][0]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoNumber("not_one_number", f"{name[:_SHOWN]} is {str(value)[:_SHOWN]}, no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise NoNumber("not_finite", f"{name[:_SHOWN]} is {number}")
    return name, number


def _objects(text: str) -> list[list[tuple[str, object]]]:
    """Give all JSON objects that stand in a text one after the other, as lists of pairs."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    found: list[list[tuple[str, object]]] = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found.append(value)
        position = text.find("{", end)
    return found


class _Pairs(list[tuple[str, object]]):
    """Pairs as they stand: a key that stands twice must not hide another value."""
