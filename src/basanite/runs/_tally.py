"""Counting what a run did, at a cost that does not show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from ..schema import Judgment, Usage
from ._outcome import Progress, RunOutcome, StopReason

_SHOW_EVERY_S = 0.1


class _Skipping(Protocol):
    skipped: int


class Tally:
    """Counts of one run, and when to show them."""

    def __init__(
        self,
        total: int | None,
        source: _Skipping,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._total = total
        self._source = source
        self._on_progress = on_progress
        self._start = time.monotonic()
        self._shown = 0.0
        self._usage = Usage()
        self._done = 0
        self._failed = 0
        self._to_retry = 0
        self.in_flight = 0

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._start

    @property
    def begun(self) -> int:
        """Items that are done, in flight or were skipped."""
        return self._done + self.in_flight + self._source.skipped

    @property
    def tokens(self) -> int:
        """Tokens that judgments used so far."""
        return self._usage.prompt_tokens + self._usage.completion_tokens

    def spend(self, usage: Usage) -> None:
        """Count what a judgment used, committed or not: a cap must not wait for the disk."""
        self._usage += usage

    def add(self, judgment: Judgment, *, retry: bool) -> None:
        """Count a committed judgment."""
        self._done += 1
        self._to_retry += retry
        self._failed += judgment.scores[judgment.primary].value is None
        self.show()

    def show(self, *, now: bool = False) -> None:
        """Call the progress callback, unless it was called a moment ago."""
        if self._on_progress is None:
            return
        clock = time.monotonic()
        if now or clock - self._shown >= _SHOW_EVERY_S:
            self._shown = clock
            self._on_progress(self._progress())

    def outcome(self, not_started: int, stop_reason: StopReason) -> RunOutcome:
        """Give the final counts."""
        return RunOutcome(
            done=self._done,
            skipped=self._source.skipped,
            failed=self._failed,
            to_retry=self._to_retry,
            not_started=not_started,
            usage=self._usage,
            seconds=self.seconds,
            stop_reason=stop_reason,
        )

    def _progress(self) -> Progress:
        seconds = self.seconds
        rate = self._done / seconds if seconds > 0 else 0.0
        left = None
        if self._total is not None and rate > 0:
            left = max(self._total - self._done - self._source.skipped, 0) / rate
        return Progress(
            total=self._total,
            done=self._done,
            skipped=self._source.skipped,
            failed=self._failed,
            in_flight=self.in_flight,
            seconds=seconds,
            rate=rate,
            eta_seconds=left,
            usage=self._usage,
        )
