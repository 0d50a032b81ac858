"""A run's items in the order of its input, each with its judgment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ..schema import Answer, InvalidRow, Judgment
from ._folder import RunFolder, read_judgment
from ._record import Record

_ROWS_AT_ONCE = 100
_TEXT_AT_ONCE = 2_000_000
"""Characters of rows after which a batch ends: rows of megabytes must not fill the memory."""

Row = Answer | InvalidRow


@dataclass(frozen=True, slots=True)
class Item:
    """One row of the input and what came of it."""

    row: Row | None
    """None where the run holds a judgment but not its row."""
    judgment: Judgment | None
    """The final one, else the latest failed attempt; None where the run never came to the row."""
    judged_at: str | None = None
    """When the judgment was kept (UTC, ISO 8601)."""


def items_in_order(folder: RunFolder) -> Iterator[Item]:
    """Give the items in the order of the input's rows, whatever order they were judged in.

    Judgments are looked up by `JUDGE/ID`, a batch of rows at a time, so that memory does not
    grow with their number. Those that belong to no row come last.

    Raises:
        StorageError: a record can't be read.
    """
    prefix = f"{folder.manifest.judge.judge}/"
    given = 0
    for rows in _batches(folder.answers()):
        keys = [prefix + row.id for row in rows]
        records = folder.ledger.several(folder.run, "judgment", keys)
        given += len(records)
        records |= _attempts(folder, [key for key in keys if key not in records])
        for row, key in zip(rows, keys, strict=True):
            yield _item(row, records.get(key))
    counted = folder.ledger.count(folder.run, "judgment")
    if given < counted or folder.ledger.count(folder.run, "attempt"):
        yield from _others(folder, prefix)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += text_size(row)
        if len(batch) == _ROWS_AT_ONCE or size >= _TEXT_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def text_size(row: Row | None) -> int:
    """Give the number of characters of a row's long texts."""
    if not isinstance(row, Answer):
        return 0
    contexts = sum(len(one.text) for one in row.contexts or ())
    return len(row.question) + len(row.answer) + len(row.truth) + contexts


def _attempts(folder: RunFolder, keys: Sequence[str]) -> dict[str, Record]:
    """Give the latest attempt at each item that has one: they are numbered from 1."""
    latest: dict[str, Record] = {}
    left = list(keys)
    number = 0
    while left:
        number += 1
        found = folder.ledger.several(folder.run, "attempt", [f"{key}#{number}" for key in left])
        left = [key for key in left if f"{key}#{number}" in found]
        latest |= {key: found[f"{key}#{number}"] for key in left}
    return latest


def _others(folder: RunFolder, prefix: str) -> Iterator[Item]:
    results = folder.results()
    while batch := list(islice(results, _ROWS_AT_ONCE)):
        ids = [_id(record, prefix) for record in batch]
        known = [one for one in ids if one is not None]
        rows = folder.ledger.existing(folder.run, "answer", known)
        for record, id_ in zip(batch, ids, strict=True):
            if id_ not in rows:
                judgment = read_judgment(record)
                row = folder.answer(judgment.subject_id)
                yield Item(row, judgment, record.created_at)


def _id(record: Record, prefix: str) -> str | None:
    """Give the id of the row that a result's key names, if it names one as this run does."""
    key = record.key.rpartition("#")[0] if record.kind == "attempt" else record.key
    return key.removeprefix(prefix) if key.startswith(prefix) else None


def _item(row: Row, record: Record | None) -> Item:
    if record is None:
        return Item(row, None)
    return Item(row, read_judgment(record), record.created_at)
