"""Export to Parquet: one row per judgment, one group of columns per score.

The columns, in this order (`SCHEMA_NAME` in the file's metadata changes when they do):

===================== ======= =====================================================
column                type    holds
===================== ======= =====================================================
subject_id            string  the row's id in the input
subject_digest        string  SHA-256 of what was judged
task                  string  what intervals are clustered by
agent, trial          string  null where the input names none
judge                 string  name of the judge
primary               string  name of the score that stands for the whole
score_mode            string  how the primary score was made
probability_mass      double  null where the mode has none
fingerprint           string  digest of the judge's fingerprint
message               string  what went wrong; null where nothing did
notes                 list    of strings
human                 string  people's labels, as a JSON object
claims, verdicts,     string  as JSON arrays of the schema's objects
facts, fact_verdicts
choice                string  what was chosen, as a JSON object; null where there is none
probabilities         string  of each valid value, as a JSON object; null where there are none
calls, cached_calls,  int64   what was used
calls_without_usage,
prompt_tokens,
completion_tokens
seconds               double  sum of the calls' durations
score_NAME            double  per score: its value, null where it is unscored
score_NAME_low,       double  its bounds, null where there are none
score_NAME_high
score_NAME_unscored   string  why it has no value, null where it has one
===================== ======= =====================================================

Rows stand in the order of the input, scores in the order in which they are first met. Half a
surrogate pair, which Parquet can't hold, becomes U+FFFD.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ..schema import Judgment, Usage
from ._arrow import load_pyarrow
from ._files import atomic_file
from ._folder import RunFolder
from ._ordered import items_in_order
from ._record import storable_text

SCHEMA_NAME = "basanite.judgments/2"

_ROWS_AT_ONCE = 500
_IDENTITY = (
    "subject_id",
    "subject_digest",
    "task",
    "agent",
    "trial",
    "judge",
    "primary",
    "score_mode",
)
_LISTS = ("human", "claims", "verdicts", "facts", "fact_verdicts")
_OBJECTS = ("choice", "probabilities")
_COUNTS = tuple(name for name in Usage.model_fields if name != "seconds")


def export_parquet(folder: RunFolder, out: str | Path) -> dict[str, int]:
    """Write one row per judgment; the columns are listed above.

    Args:
        folder: the run.
        out: a file.

    Returns:
        `items`: how many judgments were written.

    Raises:
        MissingExtra: pyarrow is not installed.
        InputError: the path can't be a file.
        StorageError: it can't be written.
    """
    pa = load_pyarrow()
    # Parquet fixes its columns before its first row, so the scores are looked for first.
    scores = list(dict.fromkeys(name for one in folder.judgments() for name in one.scores))
    schema = pa.schema(judgment_columns(scores), metadata={"basanite.schema": SCHEMA_NAME})
    items = 0
    with atomic_file(Path(out)) as file, pa.parquet.ParquetWriter(file, schema) as writer:
        for rows in _batches(folder, scores):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            items += len(rows)
    return {"items": items}


def judgment_columns(scores: Sequence[str]) -> list[tuple[str, Any]]:
    """Give the names and Arrow types of the columns listed above."""
    pa = load_pyarrow()
    fields = [(name, pa.string()) for name in _IDENTITY]
    fields.append(("probability_mass", pa.float64()))
    fields.extend((name, pa.string()) for name in ("fingerprint", "message"))
    fields.append(("notes", pa.list_(pa.string())))
    fields.extend((name, pa.string()) for name in (*_LISTS, *_OBJECTS))
    fields.extend((name, pa.int64()) for name in _COUNTS)
    fields.append(("seconds", pa.float64()))
    for name in scores:
        fields.extend((f"score_{name}{end}", pa.float64()) for end in ("", "_low", "_high"))
        fields.append((f"score_{name}_unscored", pa.string()))
    return fields


def _batches(folder: RunFolder, scores: Sequence[str]) -> Iterator[list[dict[str, object]]]:
    judgments = (item.judgment for item in items_in_order(folder))
    rows = (judgment_row(one, scores) for one in judgments if one is not None)
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        yield batch


def judgment_row(judgment: Judgment, scores: Sequence[str]) -> dict[str, object]:
    """Give the values of the columns listed above."""
    whole = judgment.model_dump(mode="json", exclude={"replies", "scores", "usage"})
    row: dict[str, object] = {name: whole[name] for name in _IDENTITY}
    row |= {name: whole[name] for name in ("probability_mass", "fingerprint", "message", "notes")}
    row |= {name: json.dumps(whole[name]) for name in _LISTS}
    row |= {name: None if whole[name] is None else json.dumps(whole[name]) for name in _OBJECTS}
    row |= judgment.usage.model_dump()
    for name in scores:
        score = judgment.scores.get(name)
        if score is not None:
            row[f"score_{name}"] = score.value
            row[f"score_{name}_low"] = score.low
            row[f"score_{name}_high"] = score.high
            row[f"score_{name}_unscored"] = score.unscored_reason
    return {name: storable(value) for name, value in row.items()}


def storable(value: object) -> object:
    """Give a value that Parquet can hold: half a surrogate pair becomes U+FFFD."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
