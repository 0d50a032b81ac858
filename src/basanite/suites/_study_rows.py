"""The rows of a critic study: one score of one arm on one task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import InputError
from ..store import Columns, RunFolder
from ._rows import name_in, name_of, number_in, number_of, parsed_rows

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
_NO_SCORE = "Where there is no score, give null and an unscored_reason."


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
            number_of(self.score, "score", todo=_NO_SCORE)
        if self.score is not None and self.unscored_reason is not None:
            raise InputError(
                f"there is a score and the unscored_reason {self.unscored_reason[:40]!r}",
                todo="Give one of the two.",
            )

    @property
    def key(self) -> tuple[str | None, str, str, str | None]:
        """What may stand only once: agent, task, arm, trial."""
        return self.agent, self.task, self.arm, self.trial


def read_study(path: str | Path) -> list[StudyRow]:
    """Read a file of scores.

    Args:
        path: JSONL, CSV or Parquet with the columns `task`, `arm` and `score`, and perhaps
            `agent`, `trial` and `unscored_reason`. A score that is null, or an empty cell in
            CSV, is a missing one.

    Raises:
        RowError: rows can't be used; the message names the first three and the reasons. Nothing
            is computed from what is left, since the rows that are missing could decide it.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    rows = parsed_rows(
        path,
        _COLUMNS,
        _row,
        key=lambda row: row.key,
        same="agent, task, arm and trial",
    )
    return [replace(row, where=f"{path}, row {number}") for number, row in rows]


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


def _row(record: Mapping[str, object], *, in_csv: bool) -> StudyRow:
    if "score" not in record:
        raise InputError("score is missing", todo="Where there is none, write null and a reason.")
    return StudyRow(
        name_of(record, "task"),
        name_of(record, "arm"),
        number_in(record, "score", in_csv=in_csv, todo=_NO_SCORE),
        name_in(record, "agent"),
        name_in(record, "trial"),
        name_in(record, "unscored_reason"),
    )
