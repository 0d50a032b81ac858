"""The figures of agents on HeurekaBench, ours and as published.

Ours: each question counts once (its trials averaged first), what has no value is counted by its
reason, the interval takes the questions of one paper together, and all four multiple-choice scores
share one denominator.

As published, for comparison: each run by itself, then the mean over runs and the standard deviation
across them. Open questions: the plain mean over what a run has a rating for, so that questions
without one are left out in silence. Multiple choice: accuracy over all questions, recall, precision
and F1 over those with a prediction, and letters split at commas without stripping
(`judges.PublishedMetrics`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ...judges import ChoiceBaselines, PublishedMetrics
from ...reports import Board, board_numbers
from ._boards import RATINGS, AskedQuestions, heureka_boards
from ._questions import Kind
from ._results import HeurekaResult

SCHEMA = "basanite.suite.heureka.score/1"


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure as the paper gives it: mean over runs, and how runs differ."""

    mean: float | None
    """None where no run has a value."""
    sd_runs: float | None
    """Sample standard deviation of the runs' figures; None for fewer than two."""
    runs: int
    """Runs with a value."""


@dataclass(frozen=True)
class HeurekaScores:
    """Figures of all agents."""

    kind: Kind
    boards: tuple[Board, ...]
    published: Mapping[str, Mapping[str, PublishedFigure]]
    """Agent to figure's name to figure."""
    baselines: Mapping[str, Mapping[str, float | None]] | None
    """What answers without thought reach on these questions; None for open ones."""
    asked: AskedQuestions
    level: float = 0.95

    def bounds(self, agent: str, board: Board) -> tuple[float, float]:
        """Give the mean over all questions asked if each one without a value had the worst one,
        and if it had the best one: what the missing values could change.
        """
        ends = [end for end in board.scale if end is not None]
        means = [cell.mean for cell in board.cells[agent].values() if cell.mean is not None]
        total, n = math.fsum(means), len(self.asked.papers)
        low, high = ((total + end * (n - len(means))) / n for end in ends)
        return low, high

    def to_json(self) -> dict[str, JsonValue]:
        """Give all figures in the envelope `basanite.suite.heureka.score/1`."""
        baselines: JsonValue = None
        if self.baselines is not None:
            baselines = {name: dict(means) for name, means in self.baselines.items()}
        return {
            "schema": SCHEMA,
            "kind": self.kind.value,
            "level": self.level,
            "n_questions": len(self.asked.papers),
            "n_papers": len(set(self.asked.papers.values())),
            "agents": {agent: self._agent(agent) for agent in sorted(self.boards[0].agents)},
            "baselines": baselines,
            "notes": list(self.boards[0].notes),
        }

    def _agent(self, agent: str) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        groups: dict[str, JsonValue] = {}
        for board in self.boards:
            numbers = board_numbers(board, self.level).of(agent)
            name = board.measure
            found |= numbers.mean.to_json(name)
            found[f"{name}_sd_questions"] = numbers.sd_tasks
            found[f"{name}_sd_runs"] = numbers.sd_runs
            found[f"{name}_bounds"] = [*self.bounds(agent, board)]
        for name, figure in self.published[agent].items():
            found[f"{name}_published"] = figure.mean
            found[f"{name}_published_sd_runs"] = figure.sd_runs
        numbers = board_numbers(self.boards[0], self.level).of(agent)
        tried = self.boards[0].cells[agent].keys()
        for group, one in numbers.groups.items():
            groups[group] = {"mean": one.value, "n_questions_scored": one.n}
        unscored: dict[str, JsonValue] = dict(numbers.unscored)
        found["n_questions_scored"] = numbers.mean.n
        found["n_papers_scored"] = numbers.mean.n_clusters
        found["n_trials"] = numbers.n_trials
        found["n_scored"] = numbers.n_scored
        found["n_runs"] = len({row.trial for row in self.boards[0].rows if row.agent == agent})
        found["unscored"] = unscored
        found["unscored_questions"] = [*numbers.unscored_tasks]
        found["missing_questions"] = [*sorted(self.asked.papers.keys() - tried)]
        found["groups"] = groups
        return found


def score_results(
    rows: Sequence[HeurekaResult],
    asked: AskedQuestions,
    *,
    lowest: float = RATINGS[0],
    level: float = 0.95,
) -> HeurekaScores:
    """Score the results of some agents, of one kind of questions.

    Args:
        rows: results; see `read_results`.
        asked: what was asked.
        lowest: see `heureka_boards`.
        level: confidence level of the intervals.

    Raises:
        InputError: see `heureka_boards`; or a bad level.
    """
    boards = heureka_boards(rows, asked, lowest)
    published: dict[str, dict[str, PublishedFigure]] = {}
    for agent in boards[0].agents:
        runs: dict[str, list[HeurekaResult]] = {}
        for row in rows:
            if row.agent == agent:
                runs.setdefault(row.trial, []).append(row)
        published[agent] = _over_runs([_as_published(one, asked) for one in runs.values()])
    return HeurekaScores(
        asked.kind, tuple(boards), published, question_baselines(asked), asked, level
    )


def question_baselines(asked: AskedQuestions) -> dict[str, dict[str, float | None]] | None:
    """Give what answers without thought reach; None where the right letters are not known."""
    if asked.questions is None or asked.kind is Kind.OPEN:
        return None
    baselines = ChoiceBaselines()
    for placed in asked.questions.placed():
        baselines.add(placed.question.options or {}, placed.question.right or ())
    return baselines.means()


def _as_published(rows: Sequence[HeurekaResult], asked: AskedQuestions) -> dict[str, float | None]:
    """Give one run's figures."""
    if asked.kind is Kind.OPEN:
        ratings = [row.score for row in rows if row.score is not None]
        return {"rating": math.fsum(ratings) / len(ratings) if ratings else None}
    assert asked.questions is not None
    answers = {row.task: row.answer for row in rows}
    metrics = PublishedMetrics()
    for placed in asked.questions.placed():
        metrics.add(answers.get(placed.id), placed.question.right or ())
    return {
        name.removeprefix("published_"): value
        for name, value in metrics.figures().items()
        if "micro" not in name
    }


def _over_runs(runs: Sequence[Mapping[str, float | None]]) -> dict[str, PublishedFigure]:
    found: dict[str, PublishedFigure] = {}
    for name in runs[0]:
        values = [value for run in runs if (value := run[name]) is not None]
        mean = math.fsum(values) / len(values) if values else None
        sd = statistics.stdev(values) if len(values) > 1 else None
        found[name] = PublishedFigure(mean, sd, len(values))
    return found
