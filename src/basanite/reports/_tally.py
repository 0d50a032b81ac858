"""One pass over a run that keeps a few numbers per item, and no text."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from ..errors import UnscoredReason
from ..schema import NOT_JUDGED, NOT_REPORTED, InvalidRow, Judgment, Usage
from ._view import RunView, expected_rows, manifest_json, text_at

_NAN = float("nan")


@dataclass
class Codes:
    """Names as numbers: what is kept per item is four bytes."""

    names: list[str] = field(default_factory=list)
    of_item: array[int] = field(default_factory=lambda: array("i"))
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, name: str) -> None:
        """Note the next item's name."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        self.of_item.append(number)


@dataclass
class Column:
    """One number per item; NaN is only this room's mark for "none", never an output."""

    values: array[float] = field(default_factory=lambda: array("d"))

    def put(self, position: int, value: float | None) -> None:
        """Set the number of the item at this position, filling up with "none" before it."""
        while len(self.values) <= position:
            self.values.append(_NAN)
        if value is not None:
            self.values[position] = value

    def get(self, position: int) -> float | None:
        """Give the number of the item at this position."""
        if position >= len(self.values) or math.isnan(self.values[position]):
            return None
        return self.values[position]


@dataclass
class Tally:
    """What all numbers of a report are made from."""

    judge: str
    fingerprint: str
    run: str
    primary: str = ""
    scores: dict[str, Column] = field(default_factory=dict)
    unscored: dict[str, Counter[str]] = field(default_factory=dict)
    labels: dict[str, Column] = field(default_factory=dict)
    """Numeric labels of people by name."""
    tasks: Codes = field(default_factory=Codes)
    agents: Codes = field(default_factory=Codes)
    """The agent's name, or an empty text where the item names none."""
    positions: dict[str, int] = field(default_factory=dict)
    """Id of each item to its position in the columns."""
    digests: array[int] = field(default_factory=lambda: array("Q"))
    """What each item's judge saw, as 8 bytes of the subject's digest; 0 where not judged."""
    usage: Usage = field(default_factory=Usage)
    n_unseen: int = 0
    """Rows of the input that the run never came to."""

    @property
    def n_items(self) -> int:
        """Number of items that the run has seen."""
        return len(self.positions)

    @property
    def n_total(self) -> int:
        """Number of rows of the input, whether the run came to them or not."""
        return self.n_items + self.n_unseen

    def add(self, item: str, task: str, agent: str | None) -> int:
        """Note one more item and give its position."""
        position = self.positions[item] = len(self.positions)
        self.tasks.add(task)
        self.agents.add(agent or "")
        self.digests.append(0)
        return position

    def score(self, position: int, name: str) -> float | None:
        """Give one score of one item."""
        column = self.scores.get(name)
        return None if column is None else column.get(position)


def tally(view: RunView) -> Tally:
    """Read a run once: the rows of its input, then its judgments.

    Items stand in the order of the input. Judgments come in the order in which they were done,
    which differs from run to run, and sums of floats and bootstraps depend on the order.
    """
    manifest = manifest_json(view)
    result = Tally(
        judge=text_at(manifest, "judge", "judge") or "",
        fingerprint=text_at(manifest, "fingerprint_digest") or "",
        run=text_at(manifest, "run") or "",
    )
    invalid: set[int] = set()
    for row in view.answers():
        position = result.add(row.id, row.task, row.agent)
        if isinstance(row, InvalidRow):
            invalid.add(position)
    judged: set[int] = set()
    for judgment in view.judgments():
        judged.add(_add_judgment(result, judgment))
    _fill_gaps(result, n_judged=len(judged))
    unjudged = result.n_items - len(judged)
    invalid -= judged
    rows = expected_rows(manifest) or 0
    result.n_unseen = max(rows - result.n_items, 0)
    not_judged = unjudged - len(invalid) + result.n_unseen
    for counts in result.unscored.values():
        if invalid:
            counts[UnscoredReason.INVALID_ROW.value] += len(invalid)
        if not_judged:
            counts[NOT_JUDGED] += not_judged
    return result


def _add_judgment(result: Tally, judgment: Judgment) -> int:
    position = result.positions.get(judgment.subject_id)
    if position is None:
        position = result.add(judgment.subject_id, judgment.task, judgment.agent)
    result.digests[position] = _eight_bytes(judgment.subject_digest)
    result.judge = result.judge or judgment.judge
    result.fingerprint = result.fingerprint or judgment.fingerprint
    result.primary = result.primary or judgment.primary
    for name, score in judgment.scores.items():
        result.scores.setdefault(name, Column()).put(position, score.value)
        counts = result.unscored.setdefault(name, Counter())
        if score.unscored_reason is not None:
            counts[score.unscored_reason.value] += 1
    for name, label in numeric_labels(judgment.human).items():
        result.labels.setdefault(name, Column()).put(position, label)
    result.usage = result.usage + judgment.usage
    return position


def _eight_bytes(digest: str) -> int:
    """Shorten a digest; 0 for the empty one of a row that could not be read."""
    if not digest:
        return 0
    return int.from_bytes(hashlib.blake2b(digest.encode(), digest_size=8).digest())


def _fill_gaps(result: Tally, *, n_judged: int) -> None:
    """Count the scores that single judgments lack, so that counts add up to the total."""
    if not result.primary:
        # Nothing was judged: the one "score" there is to count is the missing one.
        result.primary = "score"
        result.scores["score"] = Column()
        result.unscored["score"] = Counter()
    for name, column in result.scores.items():
        scored = sum(not math.isnan(value) for value in column.values)
        missing = n_judged - scored - result.unscored[name].total()
        if missing:
            result.unscored[name][NOT_REPORTED] += missing


def numeric_labels(human: Mapping[str, JsonValue]) -> dict[str, float]:
    """Give the labels that are numbers; true and false count as 1 and 0."""
    return {
        name: float(value)
        for name, value in human.items()
        if isinstance(value, bool | int | float) and math.isfinite(value)
    }
