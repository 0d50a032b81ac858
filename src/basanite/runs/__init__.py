"""The one loop over items: concurrency, deadlines, resume, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy
from ._limits import Limits
from ._outcome import Progress, RunOutcome, StopReason

if TYPE_CHECKING:
    from ._engine import Work, run_items

# The engine brings a database: half a second that commands which judge nothing don't need.
_HOMES = {"Work": "_engine", "run_items": "_engine"}


__getattr__ = lazy(__name__, _HOMES)

__all__ = ["Limits", "Progress", "RunOutcome", "StopReason", "Work", "run_items"]
