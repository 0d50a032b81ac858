"""Which messages an agent made in this turn, also where it has trimmed or rewritten the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from langchain_core.messages import BaseMessage

from ._messages import kind_of, step_of

_BY_CONTENT = "#"


def known(messages: Sequence[object]) -> list[str]:
    """Name the messages that were there before: by their ids, or by what they say."""
    return [_id(message) or _content(message) for message in messages]


def made_since(messages: Sequence[object], before: Sequence[str]) -> list[object]:
    """Messages that were not there before, in their order.

    Args:
        messages: all that there are now. Some of those before may be gone, and others, such as a
            summary of them, may have taken their place.
        before: what `known` gave for those at the beginning of the turn.
    """
    start = len(before)
    if not start or (
        start <= len(messages)
        and _is(messages[0], before[0])
        and _is(messages[start - 1], before[-1])
    ):
        return list(messages[start:])
    contents = [_content(message) for message in messages]
    if all(key.startswith(_BY_CONTENT) for key in before):
        for kept in range(min(start, len(messages)), 0, -1):
            if contents[:kept] == list(before[-kept:]):  # the oldest are gone, and no others
                return list(messages[kept:])
    ids, place = {key for key in before if not key.startswith(_BY_CONTENT)}, 0
    made: list[object] = []
    for message, said in zip(messages, contents, strict=True):
        if _id(message) in ids:
            continue
        try:
            # Without ids only the order tells an answer from the same words in an earlier turn.
            place = before.index(said, place) + 1
        except ValueError:
            made.append(message)
    return made


def _is(message: object, key: str) -> bool:
    return key == (_content(message) if key.startswith(_BY_CONTENT) else _id(message))


def _id(message: object) -> str | None:
    if isinstance(message, BaseMessage):
        return message.id
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str) else None


def _content(message: object) -> str:
    said = f"{kind_of(message)}\n{step_of(message).text}"
    return _BY_CONTENT + hashlib.sha256(said.encode(errors="replace")).hexdigest()[:32]
