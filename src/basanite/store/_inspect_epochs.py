"""Which rows are repeats of one sample, in Inspect's terms: its epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..schema import Answer, InvalidRow, digest

_MOST = 999
"""Highest trial that is taken for an epoch as it is; larger ones are seeds or dates."""


class Epochs:
    """Gives each row the id and the epoch of its sample; holds about 200 bytes a sample.

    Rows that name a trial and share question, truth, options and agent are epochs of one sample,
    which has the id of the first of them. Where all trials of a run are whole numbers and none
    stands twice, they are the epochs (counted from 1); else epochs follow the order of the rows.

    Args:
        rows: all rows of the run, in order; they are read once.
    """

    def __init__(self, rows: Iterable[Answer | InvalidRow]) -> None:
        self._first: dict[bytes, str] = {}
        self._given: Counter[bytes] = Counter()
        self._numbered = True
        self._shift = 0
        self.samples = 0
        """Number of samples, each counted once; of rows, where `epochs` is None."""
        self.epochs: int | None = 1
        """Epochs of each sample; None where not all have the same."""
        self.agents: set[str] = set()
        """Names of the agents whose answers they are."""
        self._read(rows)

    def _read(self, rows: Iterable[Answer | InvalidRow]) -> None:
        taken: dict[bytes, int] = {}  # a bit for each trial of a sample
        repeats: Counter[bytes] = Counter()
        single = 0
        for row in rows:
            if row.agent is not None:
                self.agents.add(row.agent)
            group = _group(row)
            if group is None:
                single += 1
                continue
            self._first.setdefault(group, row.id)
            repeats[group] += 1
            number = _number(row.trial)
            if number is None or taken.get(group, 0) >> number & 1:
                self._numbered = False
            else:
                taken[group] = taken.get(group, 0) | 1 << number
                self._shift |= number == 0
        counts = set(repeats.values()) | ({1} if single else set())
        self.samples = len(repeats) + single
        if len(counts) == 1:
            self.epochs = counts.pop()
        elif counts:
            # Inspect reckons samples times epochs, which is too many here.
            self.samples, self.epochs = repeats.total() + single, None

    def place(self, row: Answer | InvalidRow) -> tuple[str, int]:
        """Give the id of a row's sample and its epoch; to be called in the order of the rows."""
        group = _group(row)
        if group is None:
            return row.id, 1
        self._given[group] += 1
        number = _number(row.trial) if self._numbered else None
        epoch = self._given[group] if number is None else number + self._shift
        return self._first[group], epoch


def _group(row: Answer | InvalidRow) -> bytes | None:
    """Give what the epochs of a sample share; None for a row that is no one's repeat."""
    if row.trial is None or isinstance(row, InvalidRow):
        return None
    options = None if row.options is None else dict(row.options)
    shared: list[object] = [row.question, row.truth, row.agent, options]
    return bytes.fromhex(digest(shared))[:16]


def _number(trial: str | None) -> int | None:
    if trial is None or not (trial.isascii() and trial.isdigit() and len(trial) <= 3):
        return None
    return int(trial) if int(trial) <= _MOST else None
