"""From logs to answers that a judge reads, and from judgments to trials that are scored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InputError
from .._rows import spelt
from ._papers import FirePaper, FireTruth
from ._trials import MEASURES, FireTrial

if TYPE_CHECKING:
    from ...store import RunFolder
    from ._run_folders import FireRun


@dataclass(frozen=True, slots=True)
class ImportedAnswers:
    """Conclusions as rows for `basanite judge`, and what is to be known of them."""

    rows: tuple[dict[str, object], ...]
    without: dict[str, int]
    """Why runs have no conclusion, with their counts. Their answers are empty, which a judge
    counts as `empty_answer`."""
    doubts: dict[str, int]
    """What makes conclusions doubtful, with their counts. They are rows like all others."""
    notes: tuple[str, ...]

    def lines(self) -> bytes:
        """Give the rows as JSON, one a line."""
        return "".join(json.dumps(row) + "\n" for row in self.rows).encode("ascii")


def answers_of_runs(
    runs: Iterable[FireRun], questions: Mapping[str, str], truths: Iterable[FireTruth]
) -> ImportedAnswers:
    """Give each run's conclusion with its task's question and truth.

    Args:
        runs: of `read_run_folders`.
        questions: task to question.
        truths: at most one a task.

    Raises:
        InputError: a run's task has no truth or no question, or two runs have the same name.
    """
    known = {truth.task: truth.conclusion for truth in truths}
    rows: list[dict[str, object]] = []
    without: Counter[str] = Counter()
    doubts: Counter[str] = Counter()
    notes: list[str] = []
    for run in runs:
        truth, question = known.get(run.task), questions.get(run.task)
        if not truth or not question:
            missing = "truth" if not truth else "question"
            raise InputError(
                f"there is no {missing} of the task {spelt(run.task)}",
                where=str(run.path),
                todo="Give the benchmark's folder with conclusion.txt, or its utils.py.",
            )
        log = run.log
        if log.no_conclusion is not None:
            without[log.no_conclusion] += 1
        doubts.update(doubt.value for doubt in log.doubts)
        notes += [f"{run.id}: {note}" for note in run.notes]
        rows.append(
            {
                "id": run.id,
                "question": question,
                "answer": log.conclusion or "",
                "truth": truth,
                "task": run.task,
                "agent": run.name,
                "trial": run.trial,
                "no_conclusion": log.no_conclusion,
                "doubts": [doubt.value for doubt in log.doubts],
                "cost": log.cost_usd,
            }
        )
    return ImportedAnswers(tuple(rows), dict(without), dict(doubts), tuple(notes))


def questions_of(papers: Sequence[FirePaper]) -> dict[str, str]:
    """Give task to question, for the tasks whose instruction holds one."""
    return {paper.task: question for paper in papers if (question := paper.question)}


def trials_of_run(run: RunFolder, costs: Mapping[str, float] | None = None) -> list[FireTrial]:
    """Give the judgments of a run of `basanite judge` as trials.

    Args:
        run: judged by claims, with the scores `precision`, `recall` and `f1`.
        costs: id of an answer to what its run cost, in US dollars.

    Raises:
        InputError: the judge gave no such scores, or a judgment names no agent.
    """
    costs = costs or {}
    trials = []
    for judgment in run.judgments():
        where = f"{run.path}, {judgment.subject_id}"
        if "f1" not in judgment.scores:
            names = ", ".join(judgment.scores)
            raise InputError(
                f"the judge {judgment.judge} gave {names}, and no f1",
                where=where,
                todo="Judge with claims.",
            )
        if judgment.agent is None:
            raise InputError("no agent is named", where=where, todo="Give the answers an agent.")
        score = judgment.scores["f1"]
        values = {name: judgment.scores[name].value for name in MEASURES if name in judgment.scores}
        trials.append(
            FireTrial(
                agent=judgment.agent,
                task=judgment.task,
                trial=judgment.trial or judgment.subject_id,
                cost=costs.get(judgment.subject_id),
                unscored_reason=None
                if score.unscored_reason is None
                else score.unscored_reason.value,
                **values,
            )
        )
    if not trials:
        raise InputError("holds no judgments", where=str(run.path), todo="Judge it to the end.")
    return trials
