"""What a run tells while it goes on, and at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..schema import Usage

StopReason = Literal["finished", "run_seconds", "max_tokens"]
"""Why no more items were started: all were, or a limit was met."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; given to the progress callback about ten times a second at most."""

    total: int | None
    """Items in all, skipped ones included; None where that is not known."""
    done: int
    """Items that were judged and committed by this call, scored or not."""
    skipped: int
    """Items that had a judgment before."""
    failed: int
    """Those of `done` whose primary score has no value."""
    in_flight: int
    seconds: float
    """Since the start of this call."""
    rate: float
    """Items done per second, over the whole call."""
    eta_seconds: float | None
    """Seconds left at this rate; None where it can't be told."""
    usage: Usage


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one call of `run_items` did; `done + skipped + not_started` are all items."""

    done: int
    """Items that were judged and committed by this call, scored or not."""
    skipped: int
    """Items that had a judgment before, from an earlier call or another process."""
    failed: int
    """Those of `done` whose primary score has no value."""
    to_retry: int
    """Those of `done` that failed for an outside cause: attempts, tried again on resume."""
    not_started: int
    """Items that a limit left over."""
    usage: Usage
    """Sum over `done`."""
    seconds: float
    stop_reason: StopReason
