"""LangGraph graphs that wire extractors and judges into pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy

if TYPE_CHECKING:
    from ._as_judge import JudgeProfile, as_judge
    from ._claim_entailment import ClaimParts, build_claim_entailment, claim_entailment_plan
    from ._geval import FactParts, RatingParts, build_geval, geval_plan
    from ._plan import JudgePlan
    from ._state import JudgeState

_HOMES = {
    "ClaimParts": "_claim_entailment",
    "FactParts": "_geval",
    "JudgePlan": "_plan",
    "JudgeProfile": "_as_judge",
    "JudgeState": "_state",
    "RatingParts": "_geval",
    "as_judge": "_as_judge",
    "build_claim_entailment": "_claim_entailment",
    "build_geval": "_geval",
    "claim_entailment_plan": "_claim_entailment",
    "geval_plan": "_geval",
}

__all__ = [
    "ClaimParts",
    "FactParts",
    "JudgePlan",
    "JudgeProfile",
    "JudgeState",
    "RatingParts",
    "as_judge",
    "build_claim_entailment",
    "build_geval",
    "claim_entailment_plan",
    "geval_plan",
]


__getattr__ = lazy(__name__, _HOMES)
