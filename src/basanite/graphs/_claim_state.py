"""Between the state of `claim_entailment` and what extractors, checker and scores speak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..errors import UnscoredReason
from ..extractors import Side
from ..judges import Checked, ClaimOutcomes, Outcome
from ..schema import Answer, Claim, ClaimVerdict, Label, Score, Usage
from ._state import Json, JudgeState, add_usage


def blank_text(subject: Json) -> tuple[UnscoredReason, str] | None:
    """Why a subject can't be judged at all, if so."""
    if not str(subject["answer"]).strip():
        return UnscoredReason.EMPTY_ANSWER, "the answer holds nothing but white space"
    if not str(subject["truth"]).strip():
        return UnscoredReason.INVALID_ROW, "the truth holds nothing but white space"
    return None


def given_claims(subject: Answer, side: Side) -> list[Claim] | None:
    """Claims that the input holds already: all of them, as they are."""
    texts = subject.answer_claims if side == "answer" else subject.truth_claims
    if texts is None:
        return None
    return [
        Claim(id=f"{side[0]}{number}", side=side, text=text)
        for number, text in enumerate(texts, start=1)
    ]


def joined(updates: Sequence[JudgeState]) -> JudgeState:
    """Join what ran at the same time, in a fixed order, into one update of the state."""
    usage: Json = {}
    missing: dict[str, str] = {}
    for update in updates:
        usage = add_usage(usage, update.get("usage", {}))
        missing |= update.get("missing", {})
    return _filled(
        {
            "claims": [claim for update in updates for claim in update.get("claims", [])],
            "replies": [reply for update in updates for reply in update.get("replies", [])],
            "usage": usage,
            "notes": [note for update in updates for note in update.get("notes", [])],
            "problems": [text for update in updates for text in update.get("problems", [])],
            "missing": missing,
        }
    )


def checked(parts: Sequence[Checked[ClaimVerdict]], given: Sequence[Claim]) -> JudgeState:
    """Turn verdicts, and the claims that the input gave, into an update of the state."""
    usage = sum((part.usage for part in parts[1:]), parts[0].usage) if parts else Usage()
    verdicts = [verdict for part in parts for verdict in part.verdicts.values()]
    return _filled(
        {
            "claims": [claim.model_dump(mode="json") for claim in given],
            "verdicts": [verdict.model_dump(mode="json") for verdict in verdicts],
            "replies": [reply.model_dump(mode="json") for part in parts for reply in part.replies],
            "usage": usage.model_dump(),
            "notes": [note for part in parts for note in part.notes],
            "problems": [problem for part in parts for problem in part.problems],
        }
    )


def _filled(update: JudgeState) -> JudgeState:
    """Leave empty parts out: each part that a node writes costs time."""
    return cast(JudgeState, {name: value for name, value in update.items() if value})


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


def dumped(scores: dict[str, Score]) -> Json:
    # By hand: this runs eleven times per item.
    return {
        name: {"value": score.value}
        if score.unscored_reason is None
        else {"unscored_reason": score.unscored_reason.value}
        for name, score in scores.items()
    }
