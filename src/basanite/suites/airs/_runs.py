"""The rows that are scored: one run of one agent on one task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError
from ...store import Columns
from .._rows import name_of, number_in, number_of, parsed_rows, spelt
from ._tasks import find_task

SOTA = "SOTA"
"""Name of the player that the state of the art is in the ratings."""

_COLUMNS = Columns(
    required=("agent", "task", "seed", "score", "valid"),
    known=frozenset({"agent", "task", "seed", "score", "valid", "cost"}),
)
KEY = "agent, task and seed"
"""What a run's key consists of, for messages."""
NO_SCORE = "A run without a usable score is valid: false with score: null."


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
            number_of(self.score, "score", todo=NO_SCORE)
        if self.cost is not None and number_of(self.cost, "cost") < 0:
            raise InputError(f"cost is {spelt(self.cost)}", todo="Give one of 0 or more.")
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
    rows = parsed_rows(
        path,
        _COLUMNS,
        _run,
        key=lambda run: run.key,
        same=KEY,
    )
    return [run for _, run in rows]


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


def _run(record: Mapping[str, object], *, in_csv: bool) -> AirsRun:
    if "score" not in record:
        raise InputError("score is missing", todo="Where there is none, write null")
    return AirsRun(
        agent=name_of(record, "agent"),
        task=name_of(record, "task"),
        seed=name_of(record, "seed"),
        score=number_in(record, "score", in_csv=in_csv, todo=NO_SCORE),
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
