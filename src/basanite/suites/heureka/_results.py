"""Results of agents on HeurekaBench: a row is one trial on one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import InputError
from ...store import Columns, RawRow, RunFolder, read_rows
from .._rows import collect_rows, is_csv, name_in, name_of, number_in, number_of, spelt
from ._questions import Kind

NO_REASON = "not_given"
"""Reason of a missing score or answer that came without one."""
FIRST_TRIAL = "1"
"""Name of the trial where the rows name none."""

_COLUMNS = Columns(
    required=("agent", "task"),
    known=frozenset({"agent", "task", "trial", "score", "answer", "unscored_reason", "cost"}),
)
_RATING = "rating"
_NO_SCORE = "Where there is none, write null and an unscored_reason."


@dataclass(frozen=True, slots=True)
class HeurekaResult:
    """One trial of one agent on one question: a judge's rating, letters, or why there is none.

    Raises:
        InputError: a name is empty, both a rating and letters, a number that is none (booleans
            and NaN are none), or a reason beside a rating or an answer.
    """

    agent: str
    task: str
    """The question's id."""
    kind: Kind
    trial: str = FIRST_TRIAL
    score: float | None = None
    """Rating of an open question's answer."""
    answer: str | None = None
    """Letters chosen, as they were written."""
    unscored_reason: str | None = None
    cost: float | None = None
    where: str | None = field(default=None, compare=False)
    """File and row that it came from, for messages; None where it is from no file."""

    def __post_init__(self) -> None:
        for name in ("agent", "task", "trial"):
            if not getattr(self, name).strip():
                raise InputError(f"{name} is empty")
        if self.score is not None:
            number_of(self.score, "score", todo=_NO_SCORE)
        if self.cost is not None and number_of(self.cost, "cost") < 0:
            raise InputError(f"cost is {spelt(self.cost)}", todo="Give one of 0 or more.")
        given = self.score if self.kind is Kind.OPEN else self.answer
        other = self.answer if self.kind is Kind.OPEN else self.score
        if other is not None:
            raise InputError("holds both a score and an answer", todo="Give one of the two.")
        if given is not None and self.unscored_reason is not None:
            raise InputError(
                f"has an unscored_reason, {self.unscored_reason[:40]!r}, beside its "
                f"{'score' if self.kind is Kind.OPEN else 'answer'}",
                todo="Give one of the two.",
            )

    @property
    def key(self) -> tuple[str, str, str]:
        """What may stand only once: agent, question, trial."""
        return self.agent, self.task, self.trial

    @property
    def place(self) -> str:
        """Where it stands and whose it is, for messages."""
        whose = f"agent {self.agent[:80]}, task {self.task[:80]}, trial {self.trial[:80]}"
        return whose if self.where is None else f"{self.where}, {whose}"


def read_results(path: str | Path) -> list[HeurekaResult]:
    """Read a file of results.

    Args:
        path: JSONL, CSV or Parquet with `agent`, `task` (the question's id), `score` for open
            questions or `answer` for multiple choice, and perhaps `trial`, `cost` and
            `unscored_reason`. What is missing is null, or an empty cell in CSV.

    Raises:
        RowError: rows can't be used; the message names the first three and the reasons. Nothing
            is scored from what is left, since the rows that are missing could decide it.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    raws = list(read_rows(path, _COLUMNS))
    kind = _kind_of_file(raws, path)
    rows = collect_rows(
        path,
        raws,
        lambda record: _row(record, kind, in_csv=is_csv(path)),
        key=lambda row: row.key,
        same="agent, task and trial",
    )
    return [replace(row, where=f"{path}, row {number}") for number, row in rows]


def results_of_answers(
    answers: Mapping[str, str], agent: str, trial: str = FIRST_TRIAL, where: str | None = None
) -> list[HeurekaResult]:
    """Give letters by question id, as HeurekaBench's results hold them, as rows.

    Args:
        answers: letters by question id.
        agent: whose they are.
        trial: names the run.
        where: the file that they came from, for messages.
    """
    return [
        HeurekaResult(agent, task, Kind.CHOICE, trial, answer=answer, where=where)
        for task, answer in answers.items()
    ]


def results_of_run(folder: RunFolder, agent: str, trial: str = FIRST_TRIAL) -> list[HeurekaResult]:
    """Give the primary scores of a judged run as ratings of open questions.

    The ids of the judged rows are the questions' ids, as `judge_rows` writes them.

    Args:
        folder: a run that `basanite judge` made.
        agent: whose answers were judged.
        trial: names the run, where the rows themselves name no trial.

    Raises:
        InputError: the judge gave no ratings.
    """
    found: list[HeurekaResult] = []
    for judgment in folder.judgments():
        if judgment.primary != _RATING:
            raise InputError(
                f"was scored by {judgment.judge} ({judgment.primary}), which gives no ratings",
                where=str(folder.path),
                todo="Judge open questions with geval; give letters as AGENT=answers.json.",
            )
        score = judgment.scores[judgment.primary]
        reason = None if score.unscored_reason is None else score.unscored_reason.value
        found.append(
            HeurekaResult(
                agent,
                judgment.subject_id,
                Kind.OPEN,
                judgment.trial or trial,
                score=score.value,
                unscored_reason=reason,
                where=str(folder.path),
            )
        )
    return found


def check_results(rows: Iterable[HeurekaResult], known: Iterable[str]) -> list[HeurekaResult]:
    """Refuse no rows, rows that stand twice or are of both kinds, and unknown questions.

    Args:
        rows: results from any source.
        known: ids of the questions that there are.

    Raises:
        InputError: as said.
    """
    checked, there = list(rows), set(known)
    seen: set[object] = set()
    for row in checked:
        if row.task not in there:
            raise InputError(
                f"there is no question {row.task[:80]!r} ({len(there)} are known)",
                where=row.place,
                todo="Ids are PAPER/INSIGHT/QuestionN; name the question file with --questions.",
            )
        if row.key in seen:
            raise InputError("stands twice", where=row.place, todo="Name the trials differently.")
        seen.add(row.key)
    if not checked:
        raise InputError("there are no results", todo="Give some.")
    if len({row.kind for row in checked}) > 1:
        raise InputError("some rows are ratings and others letters", todo="Score them apart.")
    return checked


def _kind_of_file(raws: list[RawRow], path: Path) -> Kind:
    if not raws:
        raise InputError("holds no rows", where=str(path), todo="Give it some.")
    held = {name for raw in raws for name in ("score", "answer") if name in (raw.record or ())}
    if len(held) != 1:
        raise InputError(
            "has both score and answer" if held else "has neither score nor answer",
            where=str(path),
            todo="Give `score` (open questions) or `answer` (letters).",
        )
    return Kind.OPEN if "score" in held else Kind.CHOICE


def _row(record: Mapping[str, object], kind: Kind, *, in_csv: bool) -> HeurekaResult:
    column = "score" if kind is Kind.OPEN else "answer"
    if column not in record and not in_csv:
        raise InputError(f"{column} is missing", todo="Where there is none, write null")
    return HeurekaResult(
        name_of(record, "agent"),
        name_of(record, "task"),
        kind,
        name_in(record, "trial") or FIRST_TRIAL,
        score=number_in(record, "score", in_csv=in_csv, todo=_NO_SCORE),
        answer=_answer(record),
        unscored_reason=name_in(record, "unscored_reason"),
        cost=number_in(record, "cost", in_csv=in_csv),
    )


def _answer(record: Mapping[str, object]) -> str | None:
    value = record.get("answer")
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        # Not "none": that may be what one of the options says.
        return ",".join(value) if value else "[]"
    if value is not None and not isinstance(value, str):
        raise InputError(f"the answer is {spelt(value)}, not text or a list of letters")
    return value
