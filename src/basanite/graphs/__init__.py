"""LangGraph graphs that wire extractors and judges into pipelines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
