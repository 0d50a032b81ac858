"""What bounds a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run; None means no bound."""

    concurrency: int = 8
    """Most items in flight at once."""
    item_seconds: float | None = 600.0
    """Deadline of each item; one that meets it is unscored with `timeout`."""
    run_seconds: float | None = None
    """No item starts after so many seconds; what is in flight is finished."""
    at_least: int = 0
    """So many items start all the same, skipped ones counted."""
    max_tokens: int | None = None
    """No item starts once so many tokens are used; what is in flight is finished."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "item_seconds", "run_seconds", "max_tokens"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(
                    f"{name} is {value}", todo=f"Give {name} above 0, or leave it out."
                )
