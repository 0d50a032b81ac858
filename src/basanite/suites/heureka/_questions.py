"""HeurekaBench's questions in a structured form: papers, insights, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from pydantic import Field, JsonValue

from ...errors import InputError
from ...schema import Model


class Kind(StrEnum):
    """What a file asks."""

    OPEN = "open"
    CHOICE = "choice"


class HeurekaQuestion(Model):
    """One question of an insight, open or multiple choice."""

    name: str
    """`Question1` and so on: unique within its insight."""
    question: str
    answer: str | None = None
    """What the paper found; of an open question only."""
    options: dict[str, str] | None = None
    """Letter to text; of a multiple-choice question only."""
    right: tuple[str, ...] | None = None
    """Letters that are right, sorted; of a multiple-choice question only."""

    @property
    def kind(self) -> Kind:
        """What it is, by what it holds."""
        return Kind.OPEN if self.options is None else Kind.CHOICE


class HeurekaInsight(Model):
    """A finding of a paper with its questions."""

    paper: str
    insight: str
    """Its name in the file, such as `insight #1`; unique within its paper."""
    questions: tuple[HeurekaQuestion, ...]
    summary: str | None = None
    how: str | None = None
    """How the paper derived it."""
    relevant: str | None = None
    """What is quoted of the paper."""
    data: dict[str, str] = Field(default_factory=dict)
    """Path of each data file, with what it holds."""
    other: dict[str, JsonValue] = Field(default_factory=dict)
    """What else the file says of the insight; kept as it is."""


@dataclass(frozen=True, slots=True)
class PlacedQuestion:
    """A question with where it stands."""

    id: str
    """`PAPER/INSIGHT/QuestionN`."""
    insight: HeurekaInsight
    question: HeurekaQuestion

    @property
    def paper(self) -> str:
        """What intervals are clustered by: questions on one paper share its data."""
        return self.insight.paper


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one file, all open or all multiple choice.

    Raises:
        InputError: no questions, both kinds, a question without what its kind needs, or an
            insight or an id that stands twice; `where` names it.
    """

    insights: tuple[HeurekaInsight, ...]
    categories: Mapping[str, str] = field(default_factory=dict)
    """Question id to its category, where a file of labels was given; see `with_categories`."""

    def __post_init__(self) -> None:
        names = [(one.paper, one.insight) for one in self.insights]
        for insight in self.insights:
            where = f"{insight.paper}/{insight.insight}"
            if names.count((insight.paper, insight.insight)) > 1:
                raise InputError("the insight stands twice", where=where)
            if not insight.questions:
                raise InputError("asks no question", where=where)
        seen: set[str] = set()
        kinds: set[Kind] = set()
        for placed in self.placed():
            if placed.id in seen:
                raise InputError("the question stands twice", where=placed.id)
            seen.add(placed.id)
            kinds.add(placed.question.kind)
            _check(placed)
        if not seen:
            raise InputError("there are no questions", todo="Give at least one.")
        if len(kinds) > 1:
            raise InputError(
                "holds open and multiple-choice questions, whose scores have nothing in common",
                todo="Give a file of each.",
            )

    def placed(self) -> Iterator[PlacedQuestion]:
        """Give all questions, in the order of the file."""
        for insight in self.insights:
            for question in insight.questions:
                yield PlacedQuestion(
                    f"{insight.paper}/{insight.insight}/{question.name}", insight, question
                )

    @cached_property
    def by_id(self) -> dict[str, PlacedQuestion]:
        """All questions by their ids."""
        return {placed.id: placed for placed in self.placed()}

    @property
    def kind(self) -> Kind:
        """What all its questions are."""
        return next(self.placed()).question.kind

    @property
    def papers(self) -> dict[str, str]:
        """Question id to paper."""
        return {placed.id: placed.paper for placed in self.placed()}

    def find(self, id_: str) -> PlacedQuestion:
        """Give one question.

        Raises:
            InputError: there is none of that id.
        """
        if id_ not in self.by_id:
            raise InputError(
                f"there is no question {id_[:80]!r}",
                todo=f"Ids are PAPER/INSIGHT/QuestionN, such as {next(self.placed()).id!r}.",
            )
        return self.by_id[id_]


def _check(placed: PlacedQuestion) -> None:
    one = placed.question
    if not all(map(str.strip, (placed.insight.paper, placed.insight.insight, one.name))):
        raise InputError("paper, insight or question has no name", where=placed.id)
    if not one.question.strip():
        raise InputError("the question is empty", where=placed.id)
    if one.options is None:
        if one.right is not None:
            raise InputError("has right letters and no options", where=placed.id)
        if one.answer is None or not one.answer.strip():
            raise InputError("the answer is empty", where=placed.id)
        return
    if one.answer is not None:
        raise InputError("has options and an answer in words", where=placed.id)
    if len(one.options) < 2 or not all(map(str.strip, one.options.values())):
        raise InputError("needs two options or more, each with a text", where=placed.id)
    if not all(len(letter) == 1 and "A" <= letter <= "Z" for letter in one.options):
        raise InputError("options are named A to Z", where=placed.id)
    if not one.right or list(one.right) != sorted(set(one.right)):
        raise InputError(
            f"right is {list(one.right or ())}",
            where=placed.id,
            todo="Give at least one letter, each once, sorted.",
        )
    strangers = sorted(set(one.right) - one.options.keys())
    if strangers:
        raise InputError(f"{', '.join(strangers)} is right and no option", where=placed.id)
