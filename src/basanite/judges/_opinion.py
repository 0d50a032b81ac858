"""Verdicts of one window or of several, with what they took, and how they are merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from ..errors import ItemError, UnscoredReason
from ..llm import replies_of, usage_of
from ..schema import RawReply, Usage
from ._form import LabelForm, Statement, V


@dataclass(frozen=True, slots=True)
class Opinion(Generic[V]):
    """What one window of a text says of some statements."""

    verdicts: dict[str, V] = field(default_factory=dict)
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    overflown: bool = False
    """Whether no statement could be asked about, since nothing fits into the model's context."""

    def __add__(self, other: Opinion[V]) -> Opinion[V]:
        """Join opinions on different statements."""
        parts = [one for one in (self, other) if one.verdicts]
        return Opinion(
            self.verdicts | other.verdicts,
            self.replies + other.replies,
            self.usage + other.usage,
            self.notes + other.notes,
            self.problems + other.problems,
            bool(parts) and all(one.overflown for one in parts),
        )


def failed_opinion(
    form: LabelForm[V], statements: Iterable[Statement], error: ItemError, against: str
) -> Opinion[V]:
    """Make an opinion without labels: each statement gets the error's reason."""
    verdicts = {one.id: form.failed(one.id, against, error.reason) for one in statements}
    return Opinion(
        verdicts,
        replies_of(error),
        usage_of(error),
        problems=(str(error),),
        overflown=error.reason is UnscoredReason.CONTEXT_OVERFLOW,
    )


def merge_opinions(form: LabelForm[V], opinions: Sequence[Opinion[V]]) -> Opinion[V]:
    """Merge opinions of several windows, statement by statement, by the form's ranks."""
    if len(opinions) == 1:
        return opinions[0]
    whole = sum(opinions[1:], opinions[0])
    given: dict[str, list[V]] = {}
    for opinion in opinions:
        for name, verdict in opinion.verdicts.items():
            given.setdefault(name, []).append(verdict)
    verdicts = {name: min(some, key=form.rank) for name, some in given.items()}
    overflown = all(opinion.overflown for opinion in opinions)
    return replace(whole, verdicts=verdicts, overflown=overflown)
