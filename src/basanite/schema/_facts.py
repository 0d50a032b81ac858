"""Atomic facts of an answer and of its truth, and the verdicts on them (HeurekaBench)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import model_validator

from ..errors import UnscoredReason
from ._base import Model
from ._claims import Quote

FACT_PARTS = ("condition", "trend", "conclusion")
"""The parts of a `Fact`, in order."""


class FactLabel(StrEnum):
    """How an answer states one fact of the truth (HeurekaBench's rubric, step 2)."""

    PRESENT = "present"
    """Stated with the same meaning, and derived from the data."""
    PARTIAL = "partial"
    """Right in part, vague, hedged, or recalled instead of derived from the data."""
    MISSING = "missing"
    """Not stated."""
    INCORRECT = "incorrect"
    """Stated otherwise, so that both can't be true."""


class Fact(Model):
    """One finding: under which condition, which trend, with which conclusion."""

    id: str
    """`a1, a2, …` for facts of the answer, `t1, t2, …` for facts of the truth."""
    side: Literal["answer", "truth"]
    condition: str = ""
    """Where or when it holds: groups, cell types, treatment, comparison."""
    trend: str = ""
    """What is seen there: direction, size, number."""
    conclusion: str = ""
    """What follows from it."""

    @model_validator(mode="after")
    def _states_something(self) -> Fact:
        if not self.text:
            raise ValueError("a fact needs a condition, a trend or a conclusion")
        return self

    @property
    def text(self) -> str:
        """The parts that are there, in one line."""
        return " — ".join(part for part in (self.condition, self.trend, self.conclusion) if part)


class FactVerdict(Model):
    """How the answer states one fact of the truth: a label, or the reason why there is none."""

    fact_id: str
    label: FactLabel | None = None
    """After the rubric: a fact that is present but recalled counts as partial."""
    basis: Literal["data", "recall"] | None = None
    """Whether the answer derives the fact from the data; None where it does not state it."""
    quote: Quote | None = None
    """Words of the answer."""
    unscored_reason: UnscoredReason | None = None

    @model_validator(mode="after")
    def _label_or_reason(self) -> FactVerdict:
        if (self.label is None) == (self.unscored_reason is None):
            raise ValueError("a verdict has either a label or an unscored_reason")
        return self


class ChoiceReading(Model):
    """The letters that were read out of an answer to a multiple-choice question."""

    chosen: tuple[str, ...]
    """Letters of the answer, sorted; empty where it says that none is right."""
    right: tuple[str, ...]
    """Letters of the truth, sorted; empty where none is right."""
    options: int
    """Number of options."""
