"""Reading JSON out of a model's reply: tolerant of what stands around it, strict inside."""

from __future__ import annotations

import json
import re

_CODE_FENCE = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_STARTS = re.compile(r"[{\[]")
_MOST_STARTS = 64
"""Places tried as the start of a value: a reply full of braces must not cost quadratic time."""


def read_json(text: str) -> object:
    """Read the one JSON value in a reply.

    Taken are: the whole reply; the content of its only code fence; the only object (or, with no
    object, the only array) in the text. Not taken are trailing commas, comments, single quotes,
    `NaN`, a key with two different values, and a reply with several candidates: which one is
    meant is not guessed.

    Raises:
        ValueError: with what is wrong, in words that can be sent back to the model.
    """
    stripped = text.strip().removeprefix("\ufeff")
    try:
        return _load(stripped)
    except _NotWhole as error:
        first = error
    fenced = _CODE_FENCE.findall(stripped)
    if len(fenced) == 1:
        try:
            return _load(fenced[0].strip())
        except _NotWhole as error:
            first = error
    values = _embedded(stripped)
    objects = [value for value in values if isinstance(value, dict)]
    candidates = objects or values
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise ValueError(f"the reply holds {len(candidates)} JSON values instead of one")
    raise ValueError(f"the reply is not JSON ({first})")


class _NotWhole(ValueError):
    """The text as a whole is no JSON."""


class _Constant(ValueError):
    """`NaN` or `Infinity`, which Python reads and JSON does not have."""


def _load(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _NotWhole(f"{error.msg} at character {error.pos}") from None
    except _Constant as error:
        if text.startswith(("{", "[")):
            raise
        raise _NotWhole(str(error)) from None  # a word before the value, such as "Infinity: {}"
    except RecursionError:
        raise ValueError("the reply's JSON is nested too deeply") from None


def _embedded(text: str) -> list[object]:
    """All outermost objects and arrays in a text, in order."""
    found: list[object] = []
    position = 0
    for _ in range(_MOST_STARTS):
        start = _STARTS.search(text, position)
        if start is None:
            break
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (json.JSONDecodeError, RecursionError):
            position = start.end()
        else:
            found.append(value)
    return found


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        for name, item in pairs:
            if value[name] != item:
                raise ValueError(f"the reply gives {name[:60]!r} twice, with different values")
    return value


def _refuse(constant: str) -> object:
    raise _Constant(f"the reply holds {constant}, which is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
