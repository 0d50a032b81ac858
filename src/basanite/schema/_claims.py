"""Claims, the verdicts on them, and the quotes that verdicts rest on."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, model_validator

from ..errors import UnscoredReason
from ._base import Model


class Label(StrEnum):
    """What a text says of a claim (natural language inference)."""

    ENTAILED = "entailed"
    NEUTRAL = "neutral"
    CONTRADICTED = "contradicted"


class Quote(Model):
    """Words that a model gives as evidence, checked against the text they should stand in."""

    text: str
    match: Literal["exact", "fuzzy", "missing"]
    """`exact`: there to the letter; `fuzzy`: there but for case, white space and punctuation."""
    span: tuple[int, int] | None = None
    """Start and end in characters of the source text; None where the quote is missing."""


class Claim(Model):
    """One atomic statement that can be true or false by itself."""

    id: str
    """`a1, a2, …` for claims of the answer, `t1, t2, …` for claims of the truth."""
    side: Literal["answer", "truth"]
    text: str
    triplet: tuple[str, str, str] | None = None
    """Subject, relation, object, where the claim was given or asked for as one."""


class ClaimVerdict(Model):
    """What one text says of one claim: a label, or the reason why there is none."""

    claim_id: str
    against: str = Field(pattern=r"^(truth|answer|context:\d+)$")
    """The text that the claim was held against; contexts are counted from 0."""
    label: Label | None = None
    quote: Quote | None = None
    unscored_reason: UnscoredReason | None = None

    @model_validator(mode="after")
    def _label_or_reason(self) -> ClaimVerdict:
        if (self.label is None) == (self.unscored_reason is None):
            raise ValueError("a verdict has either a label or an unscored_reason")
        return self
