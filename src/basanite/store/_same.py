"""Whether a run may be gone on with: only by the judge and on the input that it was made with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import takewhile

from pydantic import JsonValue

from ..errors import InputError
from ._manifest import Manifest

_MOST_SHOWN = 8
_LONGEST = 60
"""Most characters shown of a value."""
_MISSING = "nothing"


def check_same(there: Manifest, wanted: Manifest, where: str) -> None:
    """Refuse to mix judgments of two judges or two inputs in one run.

    What changes no score may differ: limits, cache mode, endpoint, versions, the input's path.

    Args:
        there: the manifest of the run.
        wanted: that of the command which is to go on with it.
        where: the run's folder.

    Raises:
        InputError: they differ; the text names each key with its old and its new value.
    """
    kinds: list[str] = []
    keys: list[str] = []
    if there.fingerprint_digest != wanted.fingerprint_digest:
        kinds.append("another judge, model or prompts")
        old, new = (_flat(one.judge.model_dump(mode="json"), "judge") for one in (there, wanted))
        # Equal settings under two digests: the digest itself is made in another way.
        keys += list(_changes(old, new)) or _changes(
            {"fingerprint_digest": there.fingerprint_digest},
            {"fingerprint_digest": wanted.fingerprint_digest},
        )
    if there.input.sha256 != wanted.input.sha256:
        kinds.append("another input")
        old, new = (_flat(one.input.model_dump(mode="json"), "input") for one in (there, wanted))
        keys += _changes(old, new)
    if not kinds:
        return
    more = len(keys) - _MOST_SHOWN
    shown = keys[:_MOST_SHOWN] + ([f"and {more} more"] if more > 0 else [])
    raise InputError(
        f"the run there was made with {' and '.join(kinds)}: {'; '.join(shown)}",
        where=where,
        todo="Repeat the command that it was made with, or name a new folder.",
    )


def _flat(value: JsonValue, name: str) -> dict[str, JsonValue]:
    """Give each plain value under its whole name, such as `judge.options.direction`."""
    if not isinstance(value, dict):
        return {name: value}
    flat: dict[str, JsonValue] = {}
    for key, inner in value.items():
        flat |= _flat(inner, f"{name}.{key}")
    return flat


def _changes(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = (
            json.dumps(values[name], ensure_ascii=False) if name in values else _MISSING
            for values in (old, new)
        )
        if before != after:
            # Long values may begin alike: what is shown begins shortly before they part.
            alike = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
            start = max(0, sum(1 for _ in alike) - _LONGEST // 2)
            yield f"{name} was {_shown(before, start)}, is now {_shown(after, start)}"


def _shown(text: str, start: int) -> str:
    if len(text) <= _LONGEST:
        return text
    head = "…" if start else ""
    tail = "…" if len(text) > start + _LONGEST else ""
    return f"{head}{text[start : start + _LONGEST]}{tail}"
