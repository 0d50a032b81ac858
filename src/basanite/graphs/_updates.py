"""Updates of a judge's state: what its nodes give back, in plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..errors import ItemError, UnscoredReason
from ..extractors import Side
from ..llm import replies_of, usage_of
from ..schema import Score
from ._state import Json, JudgeState, add_usage

_LISTS = ("claims", "facts", "verdicts", "fact_verdicts", "replies", "notes", "problems")


def blank_text(subject: Json) -> tuple[UnscoredReason, str] | None:
    """Why a subject can't be judged at all, if so."""
    if not str(subject["answer"]).strip():
        return UnscoredReason.EMPTY_ANSWER, "the answer holds nothing but white space"
    if not str(subject["truth"]).strip():
        return UnscoredReason.INVALID_ROW, "the truth holds nothing but white space"
    return None


def failed_side(side: Side, what: str, error: ItemError) -> JudgeState:
    """Note that a part of one text could not be made, and go on with the rest."""
    return {
        "missing": {side: error.reason.value},
        "problems": [f"{what} of the {side}: {error}"],
        "replies": [reply.model_dump(mode="json") for reply in replies_of(error)],
        "usage": usage_of(error).model_dump(),
    }


def joined(updates: Sequence[JudgeState]) -> JudgeState:
    """Join what ran at the same time, in a fixed order, into one update of the state."""
    usage: Json = {}
    missing: dict[str, str] = {}
    for update in updates:
        usage = add_usage(usage, update.get("usage", {}))
        missing |= update.get("missing", {})
    plain = [cast("dict[str, list[object]]", update) for update in updates]
    lists = {name: [one for part in plain for one in part.get(name, [])] for name in _LISTS}
    return filled({**lists, "usage": usage, "missing": missing})


def filled(update: Json) -> JudgeState:
    """Leave empty parts out: each part that a node writes costs time."""
    return cast("JudgeState", {name: value for name, value in update.items() if value})


def dumped(scores: dict[str, Score]) -> Json:
    """Give scores as plain JSON; by hand, since this runs for each score of each item."""
    plain: Json = {}
    for name, score in scores.items():
        if score.unscored_reason is not None:
            plain[name] = {"unscored_reason": score.unscored_reason.value}
        else:
            plain[name] = {"value": score.value}
            if score.low is not None or score.high is not None:
                plain[name] = {"value": score.value, "low": score.low, "high": score.high}
    return plain
