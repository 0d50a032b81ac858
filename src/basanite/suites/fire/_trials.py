"""The rows that are scored: precision, recall and F1 of one trial's claims."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ...errors import InputError
from ...store import Columns
from .._rows import name_of, number_in, number_of, parsed_rows, spelt, text_in
from ._tasks import FireTasks, fire_tasks

MEASURES = ("precision", "recall", "f1")
NOT_GIVEN = "not_given"
"""Reason of a missing score that came without one."""
_COLUMNS = Columns(
    required=("agent", "task", "trial", "f1"),
    known=frozenset({"agent", "task", "trial", *MEASURES, "cost", "unscored_reason"}),
)


@dataclass(frozen=True, slots=True)
class FireTrial:
    """One run of one agent on one task.

    Raises:
        InputError: an empty name, a score that is no number from 0 to 1, a cost below 0,
            neither an F1 nor a reason or both.
    """

    agent: str
    task: str
    trial: str
    """Tells the runs of an agent on a task apart."""
    f1: float | None
    precision: float | None = None
    """Share (0 to 1) of the conclusion's claims that the truth entails; None where not known."""
    recall: float | None = None
    """Share (0 to 1) of the truth's claims that the conclusion entails; None where not known."""
    cost: float | None = None
    """What the run cost, in US dollars; None where it is not known."""
    unscored_reason: str | None = None
    """Why there is no F1."""

    def __post_init__(self) -> None:
        for name in ("agent", "task", "trial"):
            if not getattr(self, name).strip():
                raise InputError(f"{name} is empty", todo=f"Name the {name}.")
        for name in MEASURES:
            value = getattr(self, name)
            if value is not None and not 0 <= number_of(value, name) <= 1:
                raise InputError(
                    f"{name} is {spelt(value)}",
                    todo="Scores are shares from 0 to 1; --percent reads scores from 0 to 100.",
                )
        if self.cost is not None and number_of(self.cost, "cost") < 0:
            raise InputError(f"cost is {spelt(self.cost)}", todo="Give one of 0 or more.")
        if (self.f1 is None) == (self.unscored_reason is None):
            both = "both an f1 and" if self.f1 is not None else "neither an f1 nor"
            raise InputError(f"has {both} an unscored_reason", todo="Give one of the two.")

    @property
    def key(self) -> tuple[str, str, str]:
        """What may stand only once: agent, task, trial."""
        return self.agent, self.task, self.trial

    @property
    def off(self) -> float:
        """How far F1 is from 2PR / (P + R); 0 where that is not known."""
        if self.f1 is None or self.precision is None or self.recall is None:
            return 0.0
        return abs(self.f1 - harmonic(self.precision, self.recall))


def harmonic(precision: float, recall: float) -> float:
    """Give ``2PR / (P + R)``, and 0 where either is 0."""
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def read_trials(
    path: str | Path, tasks: FireTasks | None = None, *, percent: bool = False
) -> list[FireTrial]:
    """Read a file of trials.

    Args:
        path: JSONL, CSV or Parquet with `agent`, `task`, `trial`, `precision`, `recall` and
            `f1`, and perhaps `cost` and `unscored_reason`. Without `f1`, it is computed from
            the two others. A trial that could not be scored has `f1` null (an empty cell).
        tasks: the tasks that are known; left out, those of the benchmark.
        percent: the scores go from 0 to 100 instead of from 0 to 1.

    Raises:
        RowError: rows can't be used: an unknown task, a trial that stands twice, a score that
            is out of range, no number or a boolean. The message names the first three. Nothing
            is scored from what is left, since the rows that are missing could decide it.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    known = tasks or fire_tasks()

    def parse(record: Mapping[str, object], /, *, in_csv: bool) -> FireTrial:
        trial = _trial(record, in_csv=in_csv, unit=100.0 if percent else 1.0)
        known.find(trial.task)
        return trial

    rows = parsed_rows(
        path,
        _COLUMNS,
        parse,
        key=lambda trial: trial.key,
        same="agent, task and trial",
    )
    return [trial for _, trial in rows]


def check_trials(trials: Iterable[FireTrial], tasks: FireTasks) -> list[FireTrial]:
    """Refuse no trials at all, trials that stand twice, and tasks that are not known.

    Raises:
        InputError: as said.
    """
    seen: set[object] = set()
    checked = list(trials)
    for trial in checked:
        tasks.find(trial.task)
        if trial.key in seen:
            raise InputError(
                "stands twice",
                where="agent {}, task {}, trial {}".format(*trial.key),
                todo="Name the trials of an agent on a task differently.",
            )
        seen.add(trial.key)
    if not checked:
        raise InputError("there are no trials to score", todo="Give some.")
    return checked


def trial_lines(trials: Iterable[FireTrial]) -> bytes:
    """Give trials as JSON, one a line; what is not known is left out, but for `f1`."""
    lines = []
    for trial in trials:
        record = {k: v for k, v in asdict(trial).items() if v is not None or k == "f1"}
        lines.append(json.dumps(record, allow_nan=False) + "\n")
    return "".join(lines).encode("ascii")


def _trial(record: Mapping[str, object], *, in_csv: bool, unit: float) -> FireTrial:
    scores: dict[str, float | None] = {}
    for name in MEASURES:
        value = number_in(record, name, in_csv=in_csv)
        if value is not None and not 0 <= value <= unit:
            hint = "" if unit > 1 else "; --percent reads scores from 0 to 100"
            raise InputError(f"{name} is {spelt(value)}, not from 0 to {unit:g}{hint}")
        scores[name] = None if value is None else value / unit
    precision, recall, f1 = (scores[name] for name in MEASURES)
    reason = text_in(record, "unscored_reason")
    if f1 is None and precision is not None and recall is not None:
        f1 = harmonic(precision, recall)
    if f1 is None and reason is None:
        if "f1" not in record:
            raise InputError("f1 is missing", todo="Where there is none, write null")
        reason = NOT_GIVEN
    return FireTrial(
        agent=name_of(record, "agent"),
        task=name_of(record, "task"),
        trial=name_of(record, "trial"),
        f1=f1,
        precision=precision,
        recall=recall,
        cost=number_in(record, "cost", in_csv=in_csv),
        unscored_reason=reason,
    )
