"""The one loop over items: concurrency, deadlines, resume, progress."""

from ._engine import Work, run_items
from ._limits import Limits
from ._outcome import Progress, RunOutcome, StopReason

__all__ = ["Limits", "Progress", "RunOutcome", "StopReason", "Work", "run_items"]
