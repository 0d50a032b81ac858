"""The rows that are scored: one run of one agent on one task."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from ...errors import InputError, RowError
from ...store import Columns, RawRow, read_rows
from ._tasks import find_task

SOTA = "SOTA"
"""Name of the player that the state of the art is in the ratings."""
LARGEST = 1e100
"""Largest size of a score."""

_COLUMNS = Columns(
    required=("agent", "task", "seed", "score", "valid"),
    known=frozenset({"agent", "task", "seed", "score", "valid", "cost"}),
)
_TOLD = 3
"""Most problems that one message names."""
_SHOWN = 40
"""Most characters of a value in a message."""


@dataclass(frozen=True, slots=True)
class AirsRun:
    """One run.

    Raises:
        InputError: an unknown task, an empty or reserved name, a valid run without a score, or
            a score that is no finite number or that the task's metric can't give.
    """

    agent: str
    task: str
    seed: str
    """Tells the runs of an agent on a task apart."""
    score: float | None
    """In the task's own metric. Where the run is not valid it is not used, and may be None."""
    valid: bool
    """Whether the run gave a submission that could be scored."""
    cost: float | None = None
    """In any one currency; None where it is not known."""

    def __post_init__(self) -> None:
        task = find_task(self.task)
        for name, value in (("agent", self.agent), ("seed", self.seed)):
            if not value.strip():
                raise InputError(f"{name} is empty", todo=f"Name the {name}.")
        if self.agent == SOTA:
            raise InputError(
                f"no agent can be called {SOTA}", todo="That is the state of the art's own name."
            )
        if not isinstance(self.valid, bool):
            raise InputError(f"valid is {spelt(self.valid)}", todo="Give true or false.")
        if self.score is not None:
            number_of(self.score, "score")
        if self.cost is not None and number_of(self.cost, "cost") < 0:
            raise InputError(f"the cost is {self.cost:g}, less than nothing")
        if self.valid and self.score is None:
            raise InputError(
                "the run is valid and has no score", todo="Give its score, or valid: false."
            )
        refusal = task.refusal(self.score) if self.valid and self.score is not None else None
        if refusal is not None:
            raise InputError(refusal, todo="Give the metric in its own unit, or valid: false.")

    @property
    def key(self) -> tuple[str, str, str]:
        """What may stand only once: agent, task, seed."""
        return self.agent, self.task, self.seed


def read_runs(path: str | Path) -> list[AirsRun]:
    """Read a file of runs.

    Args:
        path: JSONL, CSV or Parquet with `agent`, `task`, `seed`, `score` and `valid`, and perhaps
            `cost`. A run that is not valid has the score null (an empty cell in CSV), or one
            that is not used.

    Raises:
        RowError: rows can't be used; the message names the first three and the reasons. Nothing
            is scored from what is left, since the rows that are missing could decide it.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    in_csv = path.suffix.lower() == ".csv"
    return collect_runs(
        path, ((raw.number, _parsed(raw, in_csv=in_csv)) for raw in read_rows(path, _COLUMNS))
    )


def collect_runs(path: Path, rows: Iterable[tuple[int, AirsRun | str]]) -> list[AirsRun]:
    """Take all runs, or refuse the file with the reasons of its rows.

    Args:
        path: for the message.
        rows: each row's number, and its run or what is wrong with it.

    Raises:
        RowError: a row can't be used, or stands twice.
        InputError: there are no rows.
    """
    runs: list[AirsRun] = []
    problems: list[str] = []
    first: dict[object, int] = {}
    for number, run in rows:
        if isinstance(run, str):
            problems.append(f"row {number}: {run}")
        elif first.setdefault(run.key, number) != number:
            same = f"is the same agent, task and seed as row {first[run.key]}"
            problems.append(f"row {number}: {same}")
        else:
            runs.append(run)
    if problems:
        more = len(problems) - _TOLD
        told = "; ".join(problems[:_TOLD]) + (f"; and {more} more" if more > 0 else "")
        raise RowError(told, where=str(path), todo="Correct these rows.")
    if not runs:
        raise InputError("holds no rows", where=str(path), todo="Give it some.")
    return runs


def check_runs(runs: Iterable[AirsRun]) -> list[AirsRun]:
    """Refuse no runs at all, and runs that stand twice.

    Raises:
        InputError: as said.
    """
    seen: set[object] = set()
    checked = list(runs)
    for run in checked:
        if run.key in seen:
            raise InputError(
                f"two runs have the agent {run.agent[:80]!r}, the task {run.task!r} and the "
                f"seed {run.seed[:80]!r}",
                todo="Name the seeds of an agent on a task differently.",
            )
        seen.add(run.key)
    if not checked:
        raise InputError("there are no runs to score", todo="Give some.")
    return checked


def number_of(value: object, name: str) -> float:
    """Take a value as a number.

    Raises:
        InputError: it is no number, not finite, or beyond `LARGEST`.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"the {name} is {spelt(value)}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise InputError(
            f"the {name} is {spelt(value)}, not a finite number",
            todo="A run without a usable score is valid: false with score: null.",
        )
    return number


def name_of(record: Mapping[str, object], name: str) -> str:
    """Take a column as a name.

    Raises:
        InputError: it is missing, or neither text nor a whole number.
    """
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        raise InputError(f"{name} is missing")
    if not isinstance(value, str):
        raise InputError(f"{name} is {spelt(value)} and must be text or a whole number")
    return value


def number_in(record: Mapping[str, object], name: str, *, in_csv: bool) -> float | None:
    """Take a column as a number; None where it is null, or an empty cell.

    Raises:
        InputError: it is something else.
    """
    value = record.get(name)
    if in_csv and isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"the {name} is {spelt(value)}, not a number") from None
    return None if value is None else number_of(value, name)


def reason_of(error: InputError) -> str:
    """Give what an error says of a row, with what to do, without the full stop at its end."""
    return str(error).rstrip(".")


def spelt(value: object) -> str:
    """A value as it stands in JSON, short, its control characters escaped."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    return f"`{text[:_SHOWN]}`"


def _parsed(raw: RawRow, *, in_csv: bool) -> AirsRun | str:
    if raw.record is None or raw.problem is not None:
        return raw.problem or "can't be read"
    try:
        return _run(raw.record, in_csv=in_csv)
    except InputError as error:
        return reason_of(error)


def _run(record: Mapping[str, object], *, in_csv: bool) -> AirsRun:
    if "score" not in record:
        raise InputError("score is missing", todo="Where there is none, write null")
    return AirsRun(
        agent=name_of(record, "agent"),
        task=name_of(record, "task"),
        seed=name_of(record, "seed"),
        score=number_in(record, "score", in_csv=in_csv),
        valid=_flag(record, in_csv=in_csv),
        cost=number_in(record, "cost", in_csv=in_csv),
    )


_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def _flag(record: Mapping[str, object], *, in_csv: bool) -> bool:
    if "valid" not in record:
        raise InputError("valid is missing", todo="Give true or false")
    value = record["valid"]
    if in_csv and isinstance(value, str):
        value = _FLAGS.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise InputError(f"valid is {spelt(value)}", todo="Give true or false")
    return value


def agents_of(runs: Iterable[AirsRun]) -> Iterator[str]:
    """Give the agents' names, each once, in order."""
    yield from sorted({run.agent for run in runs})
