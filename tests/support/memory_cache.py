"""A reply cache in memory, for tests of what uses one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class MemoryCache:
    """Keeps bodies as JSON text, so that only what survives JSON comes back."""

    replies: dict[str, str] = field(default_factory=dict)
    profiles: dict[tuple[str, str], str] = field(default_factory=dict)
    gets: int = 0
    puts: int = 0

    async def get(self, key: str) -> dict[str, object] | None:
        self.gets += 1
        return _load(self.replies.get(key))

    async def put(self, key: str, body: Mapping[str, object]) -> None:
        self.puts += 1
        self.replies[key] = json.dumps(body, allow_nan=False)

    def recall(self, namespace: str, key: str) -> dict[str, object] | None:
        return _load(self.profiles.get((namespace, key)))

    def remember(self, namespace: str, key: str, body: Mapping[str, object]) -> None:
        self.profiles[namespace, key] = json.dumps(body, allow_nan=False)


def _load(text: str | None) -> dict[str, object] | None:
    if text is None:
        return None
    body = json.loads(text)
    assert isinstance(body, dict)
    return body
