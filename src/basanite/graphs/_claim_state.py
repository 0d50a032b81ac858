"""Between the state of `claim_entailment` and what extractors, checker and scores speak."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UnscoredReason
from ..extractors import Side
from ..judges import Checked, ClaimOutcomes, Outcome
from ..schema import Answer, Claim, ClaimVerdict, Label, Usage
from ._state import Json, JudgeState
from ._updates import filled


def given_claims(subject: Answer, side: Side) -> list[Claim] | None:
    """Claims that the input holds already: all of them, as they are."""
    texts = subject.answer_claims if side == "answer" else subject.truth_claims
    if texts is None:
        return None
    return [
        Claim(id=f"{side[0]}{number}", side=side, text=text)
        for number, text in enumerate(texts, start=1)
    ]


def checked(parts: Sequence[Checked[ClaimVerdict]], given: Sequence[Claim]) -> JudgeState:
    """Turn verdicts, and the claims that the input gave, into an update of the state."""
    usage = sum((part.usage for part in parts[1:]), parts[0].usage) if parts else Usage()
    verdicts = [verdict for part in parts for verdict in part.verdicts.values()]
    return filled(
        {
            "claims": [claim.model_dump(mode="json") for claim in given],
            "verdicts": [verdict.model_dump(mode="json") for verdict in verdicts],
            "replies": [reply.model_dump(mode="json") for part in parts for reply in part.replies],
            "usage": usage.model_dump(),
            "notes": [note for part in parts for note in part.notes],
            "problems": [problem for part in parts for problem in part.problems],
        }
    )


def outcomes_of(state: JudgeState, sides: Sequence[Side], width: int | None) -> ClaimOutcomes:
    """Read what is known of each claim out of the state.

    Args:
        state: after the checks.
        sides: whose claims were asked for.
        width: number of contexts; None if claims are not held against contexts.
    """
    missing = state.get("missing", {})
    known = {
        (verdict["claim_id"], verdict["against"]): _outcome(verdict)
        for verdict in state.get("verdicts", [])
    }
    ids: dict[str, list[object]] = {"answer": [], "truth": []}
    for claim in state.get("claims", []):
        ids[str(claim["side"])].append(claim["id"])

    def reason(side: Side) -> UnscoredReason | None:
        if side not in sides:
            return UnscoredReason.NOT_REQUESTED
        return UnscoredReason(missing[side]) if side in missing else None

    def row(side: Side, against: str) -> list[Outcome] | UnscoredReason:
        return reason(side) or [known[one, against] for one in ids[side]]

    def grid(side: Side) -> list[list[Outcome]] | UnscoredReason:
        if not width:
            return UnscoredReason.NOT_REQUESTED if width is None else UnscoredReason.NO_CONTEXTS
        columns = [f"context:{number}" for number in range(width)]
        return reason(side) or [[known[one, against] for against in columns] for one in ids[side]]

    return ClaimOutcomes(
        answer=row("answer", "truth"),
        truth=row("truth", "answer"),
        answer_contexts=grid("answer"),
        truth_contexts=grid("truth"),
    )


def _outcome(verdict: Json) -> Outcome:
    label = verdict["label"]
    if label is None:
        return UnscoredReason(str(verdict["unscored_reason"]))
    return Label(str(label))
