"""Export as a folder that `datasets.load_dataset` opens.

`data/part-K-of-N.parquet` holds one row per row of the input, in its order: the row's own columns,
then those of its judgment (see `_parquet`; `score_NAME_unscored` also says why there is no
judgment at all). `README.md` is the dataset's card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..errors import InputError
from ..schema import NOT_JUDGED, NOT_REPORTED, Answer, InvalidRow, UnscoredReason
from ._arrow import load_pyarrow
from ._card import MARKER, card
from ._folder import RunFolder
from ._manifest import Manifest
from ._numbers import RunNumbers
from ._ordered import Item, items_in_order, text_size
from ._parquet import judgment_columns, judgment_row, storable
from ._public import public_text
from ._whole_folder import whole_folder

SCHEMA_NAME = "basanite.dataset/1"
ROWS_PER_FILE = 50_000

_ROWS_AT_ONCE = 500
_TEXT_AT_ONCE = 8_000_000
"""Characters after which what was gathered is written."""
_CARD = "README.md"
_PART = re.compile(r"part-\d{5,}-of-\d{5,}\.parquet")
_OWN = ("id", "status", "question", "answer", "truth", "task", "agent", "trial", "human")
_FROM_ROW = ("subject_id", "task", "agent", "trial", "human")
"""Columns of a judgment that say again what the row says."""


def export_huggingface(
    folder: RunFolder,
    out: str | Path,
    summarise: Callable[[RunFolder], RunNumbers],
    *,
    force: bool = False,
    rows_per_file: int = ROWS_PER_FILE,
) -> dict[str, int]:
    """Write a run as a Hugging Face dataset; memory does not grow with the number of rows.

    Args:
        folder: the run.
        out: the folder to make.
        summarise: gives the run's scores, for the card and the columns; it is called once the
            folder is known to be free.
        force: replace an earlier export; nothing else is ever replaced.
        rows_per_file: after how many rows a new file is begun.

    Returns:
        `items` with a judgment, `not_judged` and `files`.

    Raises:
        MissingExtra: pyarrow is not installed.
        InputError: the folder can't be made, something is there that must stay, or the run
            holds no rows.
        StorageError: it can't be written.
    """
    load_pyarrow()
    counts = {"items": 0, "not_judged": 0}
    with whole_folder(Path(out), is_ours=is_dataset, force=force) as new:
        numbers = summarise(folder)
        scores = list(numbers.scores)
        schema = _schema(scores)
        (new / "data").mkdir()
        with _Parts(new / "data", schema, rows_per_file) as parts:
            for item in items_in_order(folder):
                parts.add(_row(item, scores, folder.manifest), text_size(item.row))
                counts["not_judged" if item.judgment is None else "items"] += 1
            unseen = folder.manifest.input.rows - parts.rows
        if not parts.rows:
            raise InputError(
                "the run holds no rows yet, and `datasets` opens no dataset without any",
                where=str(folder.path),
                todo="Judge something first.",
            )
        counts["files"] = parts.name_all()
        text = card(folder.manifest, numbers, schema, rows=parts.rows)
        (new / _CARD).write_text(text, encoding="utf-8", errors="replace")
    counts["not_judged"] += max(0, unseen)
    return counts


def is_dataset(folder: Path) -> bool:
    """Whether a folder holds what `export_huggingface` wrote, and nothing else."""
    if {entry.name for entry in folder.iterdir()} != {_CARD, "data"}:
        return False
    data = folder / "data"
    if not data.is_dir() or not all(_PART.fullmatch(part.name) for part in data.iterdir()):
        return False
    with (folder / _CARD).open("rb") as opened:
        return MARKER.encode("ascii") in opened.read(100)


class _Parts:
    """Writes rows into one Parquet file after the other."""

    def __init__(self, folder: Path, schema: Any, rows_per_file: int) -> None:
        self._folder = folder
        self._schema = schema
        self._most = rows_per_file
        self._writer: Any = None
        self._gathered: list[dict[str, object]] = []
        self._size = 0
        self._rows_in_file = 0
        self._files: list[Path] = []
        self.rows = 0

    def add(self, row: dict[str, object], size: int) -> None:
        """Take a row; its size is that of its texts, in characters."""
        self.rows += 1
        self._rows_in_file += 1
        self._gathered.append(row)
        self._size += size
        full = self._rows_in_file >= self._most
        if full or len(self._gathered) >= _ROWS_AT_ONCE or self._size >= _TEXT_AT_ONCE:
            self._flush()
        if full:
            self._end_file()

    def name_all(self) -> int:
        """Give the files their final names, which tell how many there are."""
        for number, file in enumerate(self._files):
            file.rename(file.with_name(f"part-{number:05}-of-{len(self._files):05}.parquet"))
        return len(self._files)

    def _flush(self) -> None:
        pa = load_pyarrow()
        if self._writer is None:
            file = self._folder / f"{len(self._files)}.parquet"
            self._files.append(file)
            self._writer = pa.parquet.ParquetWriter(file, self._schema)
        self._writer.write_table(pa.Table.from_pylist(self._gathered, schema=self._schema))
        self._gathered, self._size = [], 0

    def _end_file(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            self._rows_in_file = 0
            writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None and self._gathered:
            self._flush()
        self._end_file()


def _schema(scores: Sequence[str]) -> Any:
    pa = load_pyarrow()
    text = pa.string()
    fields = [(name, text) for name in _OWN]
    fields.append(("contexts", pa.list_(pa.struct([("text", text), ("doc_id", text)]))))
    fields.append(("options", pa.list_(pa.struct([("letter", text), ("text", text)]))))
    fields += [column for column in judgment_columns(scores) if column[0] not in _FROM_ROW]
    return pa.schema(fields, metadata={"basanite.schema": SCHEMA_NAME})


def _row(item: Item, scores: Sequence[str], manifest: Manifest) -> dict[str, object]:
    row, judgment = item.row, item.judgment
    whole: dict[str, object] = {}
    if judgment is not None:
        whole |= judgment_row(judgment, scores)
        whole["id"] = whole.pop("subject_id")
        whole["message"] = _public(judgment.message, manifest)
        whole["notes"] = [_public(note, manifest) for note in judgment.notes]
    if row is not None:
        whole |= _own(row)
    if isinstance(row, InvalidRow):
        whole["status"] = UnscoredReason.INVALID_ROW.value
        whole.setdefault("message", public_text(row.message, manifest))
    else:
        whole["status"] = NOT_JUDGED if judgment is None else "judged"
    missing = NOT_REPORTED if judgment is not None else str(whole["status"])
    for name in scores:
        if whole.get(f"score_{name}") is None and whole.get(f"score_{name}_unscored") is None:
            whole[f"score_{name}_unscored"] = missing
    return {name: _storable(value) for name, value in whole.items()}


def _own(row: Answer | InvalidRow) -> dict[str, object]:
    own: dict[str, object] = {name: getattr(row, name) for name in ("id", "task", "agent", "trial")}
    if isinstance(row, Answer):
        own |= {"question": row.question, "answer": row.answer, "truth": row.truth}
        own["human"] = json.dumps(row.human)
        if row.contexts is not None:
            own["contexts"] = [one.model_dump() for one in row.contexts]
        if row.options is not None:
            own["options"] = [
                {"letter": letter, "text": text} for letter, text in row.options.items()
            ]
    return own


def _public(text: str | None, manifest: Manifest) -> str | None:
    return None if text is None else public_text(text, manifest)


def _storable(value: object) -> object:
    if isinstance(value, dict):
        return {name: storable(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_storable(one) for one in value]
    return storable(value)
