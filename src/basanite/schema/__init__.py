"""What flows between the parts: pydantic models of subjects, claims, verdicts and judgments."""

from ..errors import UnscoredReason
from ._answer import Answer, Context, InvalidRow
from ._base import Model, canonical_json, digest
from ._claims import Claim, ClaimVerdict, Label, Quote
from ._critique import Criticised, CriticVerdict, Critique, Draft, StopReason, best_draft
from ._facts import FACT_PARTS, ChoiceReading, Fact, FactLabel, FactVerdict
from ._judgment import Judgment, RawReply, Score
from ._model import Fingerprint, ModelIdentity, Sampling, Usage
from ._words import NOT_JUDGED, NOT_REPORTED, NOT_VALIDATED

__all__ = [
    "FACT_PARTS",
    "NOT_JUDGED",
    "NOT_REPORTED",
    "NOT_VALIDATED",
    "Answer",
    "ChoiceReading",
    "Claim",
    "ClaimVerdict",
    "Context",
    "CriticVerdict",
    "Criticised",
    "Critique",
    "Draft",
    "Fact",
    "FactLabel",
    "FactVerdict",
    "Fingerprint",
    "InvalidRow",
    "Judgment",
    "Label",
    "Model",
    "ModelIdentity",
    "Quote",
    "RawReply",
    "Sampling",
    "Score",
    "StopReason",
    "UnscoredReason",
    "Usage",
    "best_draft",
    "canonical_json",
    "digest",
]
