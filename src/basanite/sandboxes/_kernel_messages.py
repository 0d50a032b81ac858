"""Messages of the Jupyter protocol: made here, and read as what hostile code may have written.

The key that signs them lies inside too, so a signature proves nothing about a message; it only
keeps other processes of this machine out.

Source: "Messaging in Jupyter", version 5.3 (jupyter-client.readthedocs.io).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

_BORDER = b"<IDS|MSG>"
_VERSION = "5.3"
_PARTS = 5
_MAX_IDENTITIES = 4


@dataclass(frozen=True, slots=True)
class Message:
    """What was received: nothing in it can be relied upon."""

    kind: str
    parent: str
    """Id of the request that it says it answers; empty where it says nothing."""
    content: Mapping[str, object]


@dataclass(slots=True)
class Wire:
    """One session's way to write and read messages."""

    key: bytes
    session: str = field(default_factory=lambda: uuid.uuid4().hex)

    def request(self, kind: str, content: Mapping[str, object]) -> tuple[str, list[bytes]]:
        """Give a new request's id and its parts."""
        identity = uuid.uuid4().hex
        header = {
            "msg_id": identity,
            "msg_type": kind,
            "username": "basanite",
            "session": self.session,
            "date": datetime.now(UTC).isoformat(),
            "version": _VERSION,
        }
        signed = [json.dumps(part).encode("ascii") for part in (header, {}, {}, content)]
        return identity, [_BORDER, self._sign(signed), *signed]

    def read(self, parts: list[bytes], wanted: frozenset[str]) -> Message | None:
        """Read a message; None for what is none, is not signed, or answers nothing wanted.

        Args:
            parts: as received.
            wanted: ids of requests; the content of other messages is not looked at. Empty: all.
        """
        try:
            border = parts.index(_BORDER, 0, _MAX_IDENTITIES)
        except ValueError:
            return None
        body = parts[border + 1 : border + 1 + _PARTS]
        if len(body) < _PARTS or not hmac.compare_digest(self._sign(body[1:]), body[0]):
            return None
        kind = _object(body[1]).get("msg_type")
        parent = _object(body[2]).get("msg_id", "")
        if not isinstance(kind, str) or not isinstance(parent, str):
            return None
        if wanted and parent not in wanted:
            return None
        return Message(kind, parent, _object(body[4]))

    def _sign(self, parts: list[bytes]) -> bytes:
        made = hmac.new(self.key, digestmod=hashlib.sha256)
        for part in parts:
            made.update(part)
        return made.hexdigest().encode("ascii")


def _object(data: bytes) -> Mapping[str, object]:
    """Read a JSON object; what is none is an empty one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def text(value: object, limit: int) -> str:
    """Give a value as text if it is one, cut, and without what UTF-8 can't hold."""
    if not isinstance(value, str):
        return ""
    cut = value[:limit]
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")


__all__ = ["Message", "Wire", "text"]
