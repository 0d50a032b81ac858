"""HeurekaBench's published figures and the ids of its questions: package data, numbers only."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from pydantic import Field, JsonValue

from ...errors import InputError
from ...schema import Model
from ._questions import Kind


class PublishedSet(Model):
    """The ids of one published question file."""

    kind: Kind
    questions: dict[str, dict[str, tuple[int, ...]]]
    """Paper, number of the insight, numbers of its questions."""

    @property
    def papers(self) -> dict[str, str]:
        """Question id to paper."""
        return {
            f"{paper}/insight #{insight}/Question{number}": paper
            for paper, insights in self.questions.items()
            for insight, numbers in insights.items()
            for number in numbers
        }

    @property
    def n_insights(self) -> int:
        """Number of insights."""
        return sum(map(len, self.questions.values()))


class PublishedResult(Model):
    """One mean of a published table."""

    table: int
    agent: str
    llm: str = Field(alias="model")
    """The model that the agent ran with."""
    set: str
    measure: str
    value: float
    """A rating from 1 to 5, or a share."""
    runs: int
    sd_runs: float | None = None
    """Across runs; None where none was published."""
    critic: str | None = None
    retriever: bool | None = None


class HeurekaFigures(Model):
    """All that ships of the benchmark."""

    source: str
    licence: str
    sets: dict[str, PublishedSet]
    results: tuple[PublishedResult, ...]
    critics: tuple[dict[str, JsonValue], ...]
    """One run without and one with an end-critic, and the groups made from the former."""
    experts: dict[str, JsonValue]
    """Agreement of the judge with the mode and the median of experts."""
    codematcher: dict[str, JsonValue]


@cache
def published_figures() -> HeurekaFigures:
    """Read the package data."""
    text = (files(__package__) / "data" / "published.json").read_text(encoding="utf-8")
    return HeurekaFigures.model_validate(json.loads(text))


def published_set(name: str) -> PublishedSet:
    """Give one published set's ids.

    Raises:
        InputError: there is none of that name.
    """
    sets = published_figures().sets
    if name not in sets:
        raise InputError(
            f"{name[:80]!r} is no published set", todo=f"Name one of {', '.join(sets)}."
        )
    return sets[name]
