"""Results as boards: one of ratings, or one for each of the four multiple-choice scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import InputError, ItemError
from ...judges import CHOICE_SCORES, choice_scores, read_letters
from ...reports import Board, BoardRow
from ._published import published_set
from ._questions import Kind, QuestionSet
from ._results import NO_REASON, HeurekaResult, check_results

RATINGS = (1.0, 5.0)
"""Lowest and highest rating of the rubric."""

_TITLES = {Kind.OPEN: "HeurekaBench, open questions", Kind.CHOICE: "HeurekaBench, multiple choice"}
_CLUSTERS = "Intervals and tests take the questions of one paper together: they share its data."


@dataclass(frozen=True)
class AskedQuestions:
    """What was asked: ids, papers, and where it is known, options and right letters."""

    papers: Mapping[str, str]
    """Question id to paper, for all questions."""
    kind: Kind
    categories: Mapping[str, str] = field(default_factory=dict)
    questions: QuestionSet | None = None
    """None where the ids of a published set are all that there is."""

    @classmethod
    def of(cls, questions: QuestionSet) -> AskedQuestions:
        """Take a question file's."""
        return cls(questions.papers, questions.kind, questions.categories, questions)

    @classmethod
    def published(cls, name: str) -> AskedQuestions:
        """Take the ids of a published set, such as `oeq`.

        Raises:
            InputError: there is none of that name.
        """
        found = published_set(name)
        return cls(found.papers, found.kind)


def heureka_boards(
    rows: Sequence[HeurekaResult], asked: AskedQuestions, lowest: float = RATINGS[0]
) -> list[Board]:
    """Make the boards of some results; questions of one paper are a cluster.

    Args:
        rows: results of one kind, of any number of agents.
        asked: what was asked; letters need a question file, which holds the right ones.
        lowest: lowest rating that is taken. HeurekaBench's own judge weighs ratings by the
            probabilities of the three likeliest tokens and counts one that is no digit as 0, so
            that its scores may lie below 1: give 0 for those.

    Returns:
        One board of ratings, or those of accuracy, recall, precision and F1.

    Raises:
        InputError: unknown questions, rows that stand twice, ratings beyond the scale, results
            of another kind than the questions, or letters without a question file.
    """
    rows = check_results(rows, asked.papers)
    if rows[0].kind is not asked.kind:
        raise InputError(
            f"the results are of {rows[0].kind.value} questions, and those asked "
            f"are {asked.kind.value}",
            todo="Name the question file that they belong to with --questions.",
        )
    if asked.kind is Kind.OPEN:
        return [_ratings(rows, asked, lowest)]
    return _letters(rows, asked)


def read_answer(row: HeurekaResult, questions: QuestionSet) -> tuple[str, ...] | str:
    """Read the letters of an answer, or give the reason why there are none."""
    if row.answer is None:
        return row.unscored_reason or NO_REASON
    options = questions.by_id[row.task].question.options or {}
    try:
        return read_letters(row.answer, options)
    except ItemError as error:
        return error.reason.value


def _ratings(rows: Sequence[HeurekaResult], asked: AskedQuestions, lowest: float) -> Board:
    for row in rows:
        if row.score is not None and not lowest <= row.score <= RATINGS[1]:
            raise InputError(
                f"the rating is {row.score:g}, not from {lowest:g} to {RATINGS[1]:g}",
                where=row.place,
                todo="Correct it; --lowest 0 takes what HeurekaBench's own judge gives below 1.",
            )
    notes = [_CLUSTERS]
    zeros = sum(row.score == 0 for row in rows)
    if zeros:
        notes.append(
            f"{zeros} ratings are exactly 0, which the rubric does not have: HeurekaBench's batch "
            "judge gives 0 where it can't read its own reply. Leave those out as unscored."
        )
    made = tuple(_row(row, asked, row.score, row.unscored_reason or NO_REASON) for row in rows)
    return Board(_TITLES[Kind.OPEN], "rating", made, (lowest, RATINGS[1]), notes=tuple(notes))


def _letters(rows: Sequence[HeurekaResult], asked: AskedQuestions) -> list[Board]:
    if asked.questions is None:
        raise InputError(
            "letters can't be scored without the questions' right ones",
            todo="Name the question file (mcq.json) with --questions.",
        )
    made: dict[str, list[BoardRow]] = {name: [] for name in CHOICE_SCORES}
    for row in rows:
        chosen = read_answer(row, asked.questions)
        right = asked.questions.by_id[row.task].question.right or ()
        scores = None if isinstance(chosen, str) else choice_scores(chosen, right)
        for name in CHOICE_SCORES:
            value = None if scores is None else scores[name]
            made[name].append(_row(row, asked, value, str(chosen)))
    return [
        Board(_TITLES[Kind.CHOICE], name, tuple(of_name), (0, 1), notes=(_CLUSTERS,))
        for name, of_name in made.items()
    ]


def _row(row: HeurekaResult, asked: AskedQuestions, value: float | None, reason: str) -> BoardRow:
    return BoardRow(
        row.agent,
        row.task,
        row.trial,
        value,
        reason if value is None else None,
        row.cost,
        asked.categories.get(row.task),
        asked.papers[row.task],
    )
