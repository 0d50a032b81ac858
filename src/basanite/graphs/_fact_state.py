"""Between the state of `geval` and what extractors, labeller, checker and scores speak."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..errors import UnscoredReason
from ..extractors import Side
from ..judges import Checked, FactOutcomes
from ..schema import Claim, ClaimVerdict, Fact, FactLabel, FactVerdict, Label, Model
from ._state import Json, JudgeState
from ._updates import filled

V = TypeVar("V")
L = TypeVar("L", FactLabel, Label)


def facts_of(claims: Iterable[Claim]) -> list[Fact]:
    """Take an extractor's claims for facts; one without parts is a conclusion alone."""
    facts = []
    for claim in claims:
        condition, trend, conclusion = claim.triplet or ("", "", claim.text)
        facts.append(
            Fact(
                id=claim.id,
                side=claim.side,
                condition=condition,
                trend=trend,
                conclusion=conclusion,
            )
        )
    return facts


def given_facts(parts: Sequence[tuple[str, str, str]], side: Side) -> list[Fact]:
    """Number facts that the input holds already: all of them, as they are."""
    return [
        Fact(id=f"{side[0]}{n}", side=side, condition=one[0], trend=one[1], conclusion=one[2])
        for n, one in enumerate(parts, start=1)
    ]


def labelled(checked: Checked[FactVerdict]) -> JudgeState:
    """Turn verdicts on the truth's facts into an update of the state."""
    return _update("fact_verdicts", list(checked.verdicts.values()), checked)


def confronted(checked: Checked[ClaimVerdict]) -> JudgeState:
    """Turn verdicts on the answer's facts into an update of the state."""
    return _update("verdicts", list(checked.verdicts.values()), checked)


def fact_outcomes(state: JudgeState) -> FactOutcomes:
    """Read what is known of each fact out of the state."""
    missing = state.get("missing", {})
    verdicts = {
        str(one["fact_id"] if "fact_id" in one else one["claim_id"]): one
        for one in (*state.get("fact_verdicts", ()), *state.get("verdicts", ()))
    }
    ids: dict[str, list[str]] = {"answer": [], "truth": []}
    for fact in state.get("facts", []):
        ids[str(fact["side"])].append(str(fact["id"]))

    def reason(side: Side) -> UnscoredReason | None:
        return UnscoredReason(missing[side]) if side in missing else None

    return FactOutcomes(
        truth=reason("truth") or [_label(verdicts[one], FactLabel) for one in ids["truth"]],
        answer=reason("answer") or [_label(verdicts[one], Label) for one in ids["answer"]],
    )


def _update(name: str, verdicts: Sequence[Model], checked: Checked[V]) -> JudgeState:
    return filled(
        {
            name: [verdict.model_dump(mode="json") for verdict in verdicts],
            "replies": [reply.model_dump(mode="json") for reply in checked.replies],
            "usage": checked.usage.model_dump(),
            "notes": list(checked.notes),
            "problems": list(checked.problems),
        }
    )


def _label(verdict: Json, kind: type[L]) -> L | UnscoredReason:
    label = verdict["label"]
    if label is None:
        return UnscoredReason(str(verdict["unscored_reason"]))
    return kind(str(label))
