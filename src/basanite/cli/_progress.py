"""Progress of a run on stderr: a live bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..runs import Progress
from ._console import stderr

_LINE_EVERY_S = 15.0


class _Lines:
    """Progress for logs and pipes: one line each 15 s."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= _LINE_EVERY_S:
            self._last = now
            stderr.print(f"{self._label}: {describe(progress)}", markup=False)


def describe(progress: Progress) -> str:
    """Give one line: items done, rate, time left."""
    done = progress.skipped + progress.done
    text = f"{done}/{progress.total} items" if progress.total is not None else f"{done} items"
    if progress.rate:
        text += f", {progress.rate:.2f}/s"
    if progress.eta_seconds is not None:
        text += f", {_clock(progress.eta_seconds)} left"
    if progress.failed:
        text += f", {progress.failed} unscored"
    return text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class _Bar:
    """Progress for a terminal."""

    def __init__(self, label: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            console=stderr,
            transient=True,
        )
        self._task = self._bar.add_task(label, total=None, note="")

    def __call__(self, progress: Progress) -> None:
        note = describe(progress).partition(", ")[2]
        done = progress.skipped + progress.done
        self._bar.update(self._task, total=progress.total, completed=done, note=note)

    def start(self) -> None:
        self._bar.start()

    def stop(self) -> None:
        self._bar.stop()


@contextmanager
def show_progress(label: str, *, quiet: bool) -> Iterator[_Lines | _Bar | None]:
    """Give a callback for `run_items`; None where the user wants no progress."""
    if quiet:
        yield None
    elif not stderr.is_terminal:
        yield _Lines(label)
    else:
        bar = _Bar(label)
        bar.start()
        try:
            yield bar
        finally:
            bar.stop()
