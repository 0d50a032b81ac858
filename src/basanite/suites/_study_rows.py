"""The rows of a critic study: one score of one arm on one task."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path

from ..errors import InputError
from ..store import Columns, RawRow, RunFolder, read_rows

ARMS = ("none", "end", "plan", "again")
"""The arms that are compared, in the order in which they are shown."""
BASELINE = "baseline"
"""A further run of the arm `none`: it groups tasks and is compared with nothing."""

NO_REASON = "not_given"
"""Reason of a missing score that came without one."""

_COLUMNS = Columns(
    required=("task", "arm", "score"),
    known=frozenset({"task", "arm", "score", "agent", "trial", "unscored_reason"}),
)
LARGEST = 1e100
"""Largest size of a score: differences, their squares and sums over all rows stay finite."""

_TOLD = 3
"""Most problems that one message names."""
_SHOWN = 40
"""Most characters of a value in a message."""


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One score, or the reason why there is none.

    Raises:
        InputError: an unknown arm, an empty task, a score that is no finite number or beyond
            1e100, or a score together with a reason why there is none.
    """

    task: str
    arm: str
    """`none`, `end`, `plan`, `again` or `baseline`."""
    score: float | None
    """Higher is better, in any unit that all rows share; None where there is none."""
    agent: str | None = None
    trial: str | None = None
    """Names this one of several trials of the same arm on the same task."""
    unscored_reason: str | None = None
    where: str | None = field(default=None, compare=False)
    """File and row that it came from, for messages; None where it is from no file."""

    def __post_init__(self) -> None:
        if not self.task.strip():
            raise InputError("task is empty", todo="Name the task.")
        if self.arm not in (*ARMS, BASELINE):
            raise InputError(
                f"the arm {self.arm[:40]!r} is not known",
                todo=f"Name one of {', '.join((*ARMS, BASELINE))}.",
            )
        if self.score is not None:
            number_of(self.score)
        if self.score is not None and self.unscored_reason is not None:
            raise InputError(
                f"there is a score and the unscored_reason {self.unscored_reason[:40]!r}",
                todo="Give one of the two.",
            )

    @property
    def key(self) -> tuple[str | None, str, str, str | None]:
        """What may stand only once: agent, task, arm, trial."""
        return self.agent, self.task, self.arm, self.trial


def number_of(value: object, shown: str | None = None) -> float:
    """Take a value as a score.

    Args:
        value: what was given.
        shown: how the user wrote it; None for its form in Python.

    Raises:
        InputError: it is no number, not finite, or beyond `LARGEST`.
    """
    shown = repr(value)[:_SHOWN] if shown is None else shown
    missing = "Where there is no score, give null and an unscored_reason."
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"the score is {shown}, not a number", todo=missing)
    try:
        number: float | None = float(value)
    except OverflowError:  # a whole number, or a fraction, beyond all floats
        number = None
    if number is not None and not math.isfinite(number):
        raise InputError(f"the score is {shown}, not a finite number", todo=missing)
    if number is None or abs(number) > LARGEST:
        raise InputError(
            f"the score is {shown}, whose size is beyond {LARGEST:g}",
            todo="Give all scores in a larger unit.",
        )
    return number


def read_study(path: str | Path) -> list[StudyRow]:
    """Read a file of scores.

    Args:
        path: JSONL, CSV or Parquet with the columns `task`, `arm` and `score`, and perhaps
            `agent`, `trial` and `unscored_reason`. A score that is null, or an empty cell in
            CSV, is a missing one.

    Raises:
        InputError: the file, or any of its rows, can't be used. A study is not computed from
            what is left of a damaged file: which rows are missing could decide it.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    in_csv = path.suffix.lower() == ".csv"
    rows: list[StudyRow] = []
    problems: list[str] = []
    first: dict[object, int] = {}
    for raw in read_rows(path, _COLUMNS):
        try:
            row = _row(raw, in_csv=in_csv)
        except InputError as error:
            problems.append(f"row {raw.number}: {error}".rstrip("."))
            continue
        if first.setdefault(row.key, raw.number) != raw.number:
            same = f"is the same agent, task, arm and trial as row {first[row.key]}"
            problems.append(f"row {raw.number}: {same}")
        rows.append(replace(row, where=f"{path}, row {raw.number}"))
    if problems:
        more = len(problems) - _TOLD
        raise InputError(
            "; ".join(problems[:_TOLD]) + (f"; and {more} more" if more > 0 else ""),
            where=str(path),
            todo="Correct these rows.",
        )
    if not rows:
        raise InputError("holds no rows", where=str(path), todo="Give it some.")
    return rows


def rows_of_run(folder: RunFolder, arm: str) -> list[StudyRow]:
    """Give the scores of a judged run as rows of one arm.

    The primary score of each judgment is taken. Several answers to a task by the same agent
    are its trials, told apart by their ids.

    Args:
        folder: a run that `basanite judge` made.
        arm: what the run's answers were made with.

    Raises:
        InputError: an unknown arm, or a score that is beyond 1e100.
    """
    rows = []
    for judgment in folder.judgments():
        score = judgment.scores[judgment.primary]
        where = f"{folder.path}, {judgment.subject_id}"
        try:
            row = StudyRow(
                task=judgment.task or judgment.subject_id,
                arm=arm,
                score=score.value,
                agent=judgment.agent,
                trial=judgment.subject_id,
                unscored_reason=score.unscored_reason,
                where=where,
            )
        except InputError as error:
            raise InputError(error.what, where=where, todo=error.todo) from None
        rows.append(row)
    return rows


def check_rows(rows: Iterable[StudyRow]) -> None:
    """Refuse rows that stand twice, and agents that are named in some rows only.

    Raises:
        InputError: as said.
    """
    seen: set[object] = set()
    agents: set[str | None] = set()
    for row in rows:
        if row.key in seen:
            raise InputError(
                f"two rows have the task {row.task[:80]!r}, the arm {row.arm!r}, the agent "
                f"{row.agent!r} and the trial {row.trial!r}",
                todo="Name the trials of an arm on a task differently.",
            )
        seen.add(row.key)
        agents.add(row.agent)
    if None in agents and len(agents) > 1:
        raise InputError(
            "some rows name an agent and others don't", todo="Name it in all rows, or in none."
        )


def _row(raw: RawRow, *, in_csv: bool) -> StudyRow:
    if raw.record is None or raw.problem is not None:
        raise InputError(raw.problem or "can't be read")
    record = raw.record
    task, arm = _text(record, "task"), _text(record, "arm")
    if task is None or arm is None:
        raise InputError(f"{'task' if task is None else 'arm'} is missing")
    score = _score(record, in_csv=in_csv)
    reason = _text(record, "unscored_reason")
    return StudyRow(task, arm, score, _text(record, "agent"), _text(record, "trial"), reason)


def _text(record: Mapping[str, object], name: str) -> str | None:
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is {_spelt(value)} and must be text or a whole number")
    return value or None


def _score(record: Mapping[str, object], *, in_csv: bool) -> float | None:
    if "score" not in record:
        raise InputError("score is missing", todo="Where there is none, write null and a reason.")
    value, shown = record["score"], _spelt(record["score"])
    if in_csv and isinstance(value, str):
        if not value.strip():
            return None
        shown = _own(value)
        with suppress(ValueError):
            value = float(value)
    if value is None:
        return None
    return number_of(value, shown)


def _spelt(value: object) -> str:
    """A value as it stands in JSON: `true` and not `True`."""
    if isinstance(value, str):
        return repr(value[:_SHOWN])
    return _own(json.dumps(value, default=str))


def _own(text: str) -> str:
    """A text as the user wrote it, short, and with its control characters escaped."""
    return f"`{repr(text[:_SHOWN])[1:-1]}`"
