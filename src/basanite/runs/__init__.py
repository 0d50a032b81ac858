"""The one loop over items: concurrency, deadlines, resume, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._limits import Limits
from ._outcome import Progress, RunOutcome, StopReason

if TYPE_CHECKING:
    from ._engine import Work, run_items

_ENGINE = frozenset({"Work", "run_items"})


def __getattr__(name: str) -> object:
    # The engine brings a database: half a second that commands which judge nothing don't need.
    if name not in _ENGINE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _engine

    value: object = getattr(_engine, name)
    globals()[name] = value
    return value


__all__ = ["Limits", "Progress", "RunOutcome", "StopReason", "Work", "run_items"]
