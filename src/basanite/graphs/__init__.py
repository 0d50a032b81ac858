"""LangGraph graphs that wire extractors and judges into pipelines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._as_judge import JudgeProfile, as_judge
    from ._claim_entailment import ClaimParts, build_claim_entailment, claim_entailment_plan
    from ._plan import JudgePlan
    from ._state import JudgeState

_HOMES = {
    "ClaimParts": "_claim_entailment",
    "JudgePlan": "_plan",
    "JudgeProfile": "_as_judge",
    "JudgeState": "_state",
    "as_judge": "_as_judge",
    "build_claim_entailment": "_claim_entailment",
    "claim_entailment_plan": "_claim_entailment",
}

__all__ = [
    "ClaimParts",
    "JudgePlan",
    "JudgeProfile",
    "JudgeState",
    "as_judge",
    "build_claim_entailment",
    "claim_entailment_plan",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
