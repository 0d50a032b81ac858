"""The texts of items as data blocks of the page, one by one, so that no run is held whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from pydantic import JsonValue

from ..errors import UnscoredReason
from ..schema import Answer, InvalidRow, Judgment
from ._run import ReadRun
from ._tally import NOT_JUDGED, NOT_REPORTED
from ._text import json_block, shortened, shortened_json

MAX_ITEMS = 10_000
"""Items that a page holds; more would make it too large to open."""


@dataclass
class ItemBook:
    """Numbers the items of all runs, and writes their data blocks.

    Two runs share an item where the id and all that the judge saw are equal. Blocks are
    `s-ITEM` (the subject) and `j-RUN-ITEM` (a judgment), each parsed only when its item is
    opened, and at the end `item-index`, which the list is made from.
    """

    runs: Sequence[ReadRun]
    limit: int = MAX_ITEMS
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _index: list[dict[str, JsonValue]] = field(default_factory=list)

    def blocks(self) -> Iterator[Markup]:
        """Give all blocks; the runs' ledgers are read once more."""
        for number, run in enumerate(self.runs):
            yield from self._subjects(number, run)
            yield from self._judgments(number, run)
        yield json_block("item-index", self._head())

    def _subjects(self, number: int, run: ReadRun) -> Iterator[Markup]:
        for row in run.view.answers():
            digest = row.digest if isinstance(row, Answer) else ""
            known = len(self._index)
            item = self._number((row.id, digest), row.task, row.agent, row.trial)
            if item is not None and isinstance(row, InvalidRow):
                self._put(item, "reasons", number, UnscoredReason.INVALID_ROW.value)
            if item == known:
                yield json_block(f"s-{item}", _subject(row))

    def _judgments(self, number: int, run: ReadRun) -> Iterator[Markup]:
        for judgment in run.view.judgments():
            key = (judgment.subject_id, judgment.subject_digest)
            item = self._number(key, judgment.task, judgment.agent, judgment.trial)
            if item is None:
                continue
            score = judgment.scores.get(run.summary.primary)
            reason = None if score is None else score.unscored_reason
            self._put(item, "values", number, None if score is None else score.value)
            missing = NOT_REPORTED if score is None else None
            self._put(item, "reasons", number, missing if reason is None else reason.value)
            yield json_block(f"j-{number}-{item}", _judgment(judgment))

    def _number(
        self, key: tuple[str, str], task: str, agent: str | None, trial: str | None
    ) -> int | None:
        """Give the item's number, a new one where it has none; None beyond the limit."""
        known = self._numbers.get(key)
        if known is not None or len(self._index) >= self.limit:
            return known
        item = self._numbers[key] = len(self._index)
        runs = len(self.runs)
        entry: dict[str, JsonValue] = {
            "id": shortened(key[0], 200),
            "task": shortened(task, 300),
            "agent": agent,
            "trial": trial,
            "values": [None] * runs,
            "reasons": [NOT_JUDGED] * runs,
        }
        self._index.append(entry)
        return item

    def _put(self, item: int, column: str, run: int, value: JsonValue) -> None:
        values = self._index[item][column]
        if isinstance(values, list):
            values[run] = value

    def _head(self) -> JsonValue:
        runs: list[JsonValue] = [
            {"letter": run.letter, "title": run.title, "primary": run.summary.primary}
            for run in self.runs
        ]
        return {"runs": runs, "items": list(self._index)}


def _subject(row: Answer | InvalidRow) -> JsonValue:
    plain: dict[str, JsonValue] = row.model_dump(mode="json", exclude={"schema_version"})
    return shortened_json(plain)


def _judgment(judgment: Judgment) -> JsonValue:
    shown = {
        "scores",
        "claims",
        "verdicts",
        "replies",
        "usage",
        "score_mode",
        "probability_mass",
        "message",
        "notes",
        "primary",
    }
    plain: dict[str, JsonValue] = judgment.model_dump(mode="json", include=shown)
    return shortened_json(plain)
