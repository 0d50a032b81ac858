"""Records of other programs, made into runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...errors import InputError
from ...store import Columns, write_atomically
from .._rows import name_of, number_in, parsed_rows, spelt
from ._runs import KEY, NO_SCORE, AirsRun

SUCCESS = "SUCCESS"
"""The status of a run that is valid; with any other it is not."""
_NOT_APPLICABLE = "N/A"

_COLUMNS = Columns(
    required=("task", "seed", "score", "status"),
    known=frozenset({"agent", "scaffold", "model", "task", "seed", "score", "status", "cost"}),
)


def import_runs(path: str | Path) -> list[AirsRun]:
    """Read records in the shape of the published study: a status beside the score.

    Args:
        path: JSONL, CSV or Parquet with `task`, `seed`, `score`, `status`, and `agent` or
            `scaffold` and `model`; perhaps `cost`. A run is valid where its status is
            `SUCCESS`; a score that is missing is null, an empty cell or `N/A`.

    Raises:
        RowError: rows can't be used, such as a run with `SUCCESS` and no score, an unknown task,
            or one that stands twice.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    rows = parsed_rows(
        path,
        _COLUMNS,
        _run,
        key=lambda run: run.key,
        same=KEY,
    )
    return [run for _, run in rows]


def write_runs(runs: Iterable[AirsRun], out: Path) -> None:
    """Write runs as JSONL that `read_runs` reads; the file appears whole or not at all.

    Raises:
        InputError: the path is a folder, or its folder does not exist.
        StorageError: it can't be written.
    """
    lines = (json.dumps(run_record(run), allow_nan=False) + "\n" for run in runs)
    write_atomically(out, "".join(lines).encode("ascii"))


def run_record(run: AirsRun) -> dict[str, object]:
    """Give a run as a row."""
    record: dict[str, object] = {
        "agent": run.agent,
        "task": run.task,
        "seed": run.seed,
        "score": run.score,
        "valid": run.valid,
    }
    return record if run.cost is None else record | {"cost": run.cost}


def _run(record: Mapping[str, object], *, in_csv: bool) -> AirsRun:
    status = record.get("status")
    if not isinstance(status, str) or not status.strip():
        raise InputError(f"status is {spelt(status)}", todo=f"{SUCCESS} marks a valid run")
    if "score" not in record:
        raise InputError("score is missing", todo=f"Where there is none, write {_NOT_APPLICABLE}")
    if record["score"] == _NOT_APPLICABLE:
        record = {**record, "score": None}
    return AirsRun(
        agent=_agent(record),
        task=name_of(record, "task"),
        seed=name_of(record, "seed"),
        score=number_in(record, "score", in_csv=in_csv, todo=NO_SCORE),
        valid=status.strip() == SUCCESS,
        cost=number_in(record, "cost", in_csv=in_csv),
    )


def _agent(record: Mapping[str, object]) -> str:
    if record.get("agent") is not None:
        return name_of(record, "agent")
    return f"{name_of(record, 'scaffold')} {name_of(record, 'model')}"
