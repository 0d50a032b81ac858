"""What a judge gives back."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue, model_validator

from ..errors import UnscoredReason
from ._base import Model
from ._claims import Claim, ClaimVerdict
from ._facts import ChoiceReading, Fact, FactVerdict
from ._model import Usage


class Score(Model):
    """One number, or the reason why there is none. Never both, never a stand-in."""

    value: float | None = Field(default=None, allow_inf_nan=False)
    low: float | None = Field(default=None, allow_inf_nan=False)
    high: float | None = Field(default=None, allow_inf_nan=False)
    """Bounds, where the judge can give them."""
    unscored_reason: UnscoredReason | None = None

    @model_validator(mode="after")
    def _value_or_reason(self) -> Score:
        if (self.value is None) == (self.unscored_reason is None):
            raise ValueError("a score has either a value or an unscored_reason")
        return self


class RawReply(Model):
    """One reply of a model as it came, for the drill-down; failed attempts included."""

    role: str
    """What was asked for, such as `extract:answer` or `check:truth`."""
    text: str
    finish_reason: str | None = None
    cached: bool = False
    error: UnscoredReason | None = None
    """Why this reply was not used; None where it was."""
    detail: str | None = None
    """What exactly was wrong with it."""


class Judgment(Model):
    """The result of one judge on one subject."""

    schema_version: Literal[1] = 1
    subject_id: str
    subject_digest: str
    """`Answer.digest` of what was judged; empty for a row that could not be read."""
    task: str
    agent: str | None = None
    trial: str | None = None
    judge: str
    primary: str
    """The name in `scores` that stands for the whole."""
    scores: dict[str, Score]
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[ClaimVerdict, ...] = ()
    """Of claims, and of the answer's facts against the truth."""
    facts: tuple[Fact, ...] = ()
    fact_verdicts: tuple[FactVerdict, ...] = ()
    """Of the truth's facts against the answer."""
    choice: ChoiceReading | None = None
    replies: tuple[RawReply, ...] = ()
    usage: Usage = Usage()
    score_mode: str
    """How the primary score was made, such as `labels` or `token-overlap`."""
    probability_mass: float | None = None
    """Share (0 to 1) of the model's probability that fell on valid values, where the mode has one
    and the server shows it."""
    probabilities: dict[str, float] | None = None
    """Probability of each valid value, normalised to sum to 1, where the mode has them."""
    fingerprint: str
    """Digest of the judge's `Fingerprint`; the manifest holds it whole."""
    message: str | None = None
    """What went wrong, in words, where a score is missing."""
    notes: tuple[str, ...] = ()
    """What a reader should know, such as that the text was split into windows."""
    human: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _primary_is_a_score(self) -> Judgment:
        if self.primary not in self.scores:
            raise ValueError(f"primary {self.primary!r} is not among the scores")
        return self

    @property
    def final(self) -> bool:
        """Whether judging again can't help: no score is missing for an outside cause."""
        reasons = (score.unscored_reason for score in self.scores.values())
        return not any(reason is not None and reason.outside for reason in reasons)
