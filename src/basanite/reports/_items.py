"""The texts of items as data blocks of the page, one by one, so that no run is held whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from pydantic import JsonValue

from ..errors import UnscoredReason
from ..schema import NOT_JUDGED, NOT_REPORTED, Answer, FactLabel, InvalidRow, Judgment, Label
from ._run import ReadRun
from ._text import MAX_TEXT, json_block, shortened, shortened_json

MAX_ITEMS = 10_000
"""Items that a page lists; more would make it too slow to open."""

MAX_CHARS = 150_000_000
"""Characters of all data blocks of a page. Half of them are for texts of items, half for what
judges said, evenly among the runs; what is beyond is left out, and the page says so."""


@dataclass
class ItemBook:
    """Numbers the items of all runs, and writes their data blocks.

    Two runs share an item where the id and all that the judge saw are equal. Blocks are
    `s-ITEM` (the subject) and `j-RUN-ITEM` (a judgment), each parsed only when its item is
    opened, and at the end `item-index`, which the list is made from.
    """

    runs: Sequence[ReadRun]
    limit: int = MAX_ITEMS
    chars: int = MAX_CHARS
    _full: bool = False
    """Whether no further item is listed."""
    _waiting: set[int] = field(default_factory=set)
    """Listed items of the run at hand whose judgment has not come yet."""
    _brief: int = 0
    """Judgments of which only the scores are shown."""
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _index: list[dict[str, JsonValue]] = field(default_factory=list)

    def blocks(self) -> Iterator[Markup]:
        """Give all blocks; the runs' ledgers are read once more."""
        for number, run in enumerate(self.runs):
            yield from self._subjects(number, run)
            yield from self._judgments(number, run)
        yield json_block("item-index", self._head())

    def _subjects(self, number: int, run: ReadRun) -> Iterator[Markup]:
        left = self.chars // 2 // len(self.runs)
        self._waiting = set()
        for row in run.view.answers():
            if self._full and not number:
                return  # in the first run nothing further can be an item that is listed
            digest = row.digest if isinstance(row, Answer) else ""
            known = len(self._index)
            item = self._number((row.id, digest), row.task, row.agent, row.trial)
            if item is not None and isinstance(row, Answer):
                self._waiting.add(item)
            elif item is not None:
                self._put(item, "reasons", number, UnscoredReason.INVALID_ROW.value)
            if item == known:
                block = json_block(f"s-{item}", _subject(row))
                left -= len(block)
                self._full = self._full or left < 0
                yield block

    def _judgments(self, number: int, run: ReadRun) -> Iterator[Markup]:
        left = self.chars // 2 // len(self.runs)
        for judgment in run.view.judgments():
            key = (judgment.subject_id, judgment.subject_digest)
            item = self._number(key, judgment.task, judgment.agent, judgment.trial)
            if item is None:
                if self._full and not self._waiting:
                    return  # every listed item of this run has its judgment
                continue
            self._waiting.discard(item)
            score = judgment.scores.get(run.summary.primary)
            reason = None if score is None else score.unscored_reason
            self._put(item, "values", number, None if score is None else score.value)
            missing = NOT_REPORTED if score is None else None
            self._put(item, "reasons", number, missing if reason is None else reason.value)
            self._put(item, "marks", number, [*_marks(judgment)])
            whole = left > 0
            block = json_block(f"j-{number}-{item}", _judgment(judgment, whole=whole))
            left -= len(block)
            self._brief += not whole
            yield block

    def _number(
        self, key: tuple[str, str], task: str, agent: str | None, trial: str | None
    ) -> int | None:
        """Give the item's number, a new one where it has none; None beyond the limit."""
        known = self._numbers.get(key)
        if known is not None:
            return known
        self._full = self._full or len(self._index) >= self.limit
        if self._full:
            return None
        item = self._numbers[key] = len(self._index)
        runs = len(self.runs)
        entry: dict[str, JsonValue] = {
            "id": shortened(key[0], 200),
            "task": shortened(task, 300),
            "agent": agent,
            "trial": trial,
            "values": [None] * runs,
            "reasons": [NOT_JUDGED] * runs,
            "marks": [[] for _ in self.runs],
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
        return {
            "runs": runs,
            "limit": MAX_TEXT,
            "more": self._full,
            "brief": self._brief,
            "items": list(self._index),
        }


def _marks(judgment: Judgment) -> list[str]:
    """Name what a reader may look for: the list is filtered by these."""
    verdicts, facts = judgment.verdicts, judgment.fact_verdicts
    quotes = [*(verdict.quote for verdict in verdicts), *(verdict.quote for verdict in facts)]
    labels = [*(verdict.label for verdict in verdicts), *(verdict.label for verdict in facts)]
    choice = judgment.choice
    found = {
        "contradicted": any(verdict.label is Label.CONTRADICTED for verdict in verdicts),
        "missing": any(verdict.label is FactLabel.MISSING for verdict in facts),
        "incorrect": any(verdict.label is FactLabel.INCORRECT for verdict in facts),
        "partial": any(verdict.label is FactLabel.PARTIAL for verdict in facts),
        "wrong_choice": choice is not None and choice.chosen != choice.right,
        "quote": any(quote is not None and quote.match == "missing" for quote in quotes),
        "no_verdict": any(label is None for label in labels),
    }
    return [name for name, there in found.items() if there]


def _subject(row: Answer | InvalidRow) -> JsonValue:
    plain: dict[str, JsonValue] = row.model_dump(mode="json", exclude={"schema_version"})
    return shortened_json(plain)


def _judgment(judgment: Judgment, *, whole: bool) -> JsonValue:
    shown = {
        "scores",
        "claims",
        "verdicts",
        "facts",
        "fact_verdicts",
        "choice",
        "probabilities",
        "replies",
        "usage",
        "score_mode",
        "probability_mass",
        "message",
        "notes",
        "primary",
    }
    plain: dict[str, JsonValue] = judgment.model_dump(mode="json", include=shown)
    if not whole:
        plain |= {"replies": [], "claims": [], "verdicts": [], "facts": [], "fact_verdicts": []}
        plain["brief"] = True
    return shortened_json(plain)
