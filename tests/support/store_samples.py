"""Small, valid records for tests of the store and the engine."""

from __future__ import annotations

from basanite.errors import UnscoredReason
from basanite.schema import (
    Answer,
    Claim,
    ClaimVerdict,
    Context,
    Fingerprint,
    Judgment,
    Label,
    ModelIdentity,
    RawReply,
    Score,
    Usage,
)
from basanite.store import Environment, InputInfo, Manifest

FINGERPRINT = Fingerprint(
    judge="claims", parser_version="1", model=ModelIdentity(name="m", kind="none")
)


def make_answer(id_: str = "q1", **changes: object) -> Answer:
    whole: dict[str, object] = {
        "id": id_,
        "question": "Which cells?",
        "answer": "T cells and B cells.",
        "truth": "T cells, mostly.",
        "task": "cells",
        "contexts": (Context(text="T cells.", doc_id="d1"), Context(text="B cells.")),
    }
    return Answer.model_validate(whole | changes)


def make_judgment(
    id_: str = "q1",
    value: float | None = 0.5,
    reason: UnscoredReason | None = None,
    **changes: object,
) -> Judgment:
    whole: dict[str, object] = {
        "subject_id": id_,
        "subject_digest": "0" * 64,
        "task": "cells",
        "judge": "claims",
        "primary": "f1",
        "scores": {"f1": Score(value=value, unscored_reason=reason)},
        "usage": Usage(calls=1, prompt_tokens=10, completion_tokens=5, seconds=0.1),
        "replies": (RawReply(role="check:truth", text="{}"),),
        "score_mode": "labels",
        "fingerprint": FINGERPRINT.digest,
    }
    return Judgment.model_validate(whole | changes)


def make_verdict(claim: str, against: str, label: Label | None = Label.ENTAILED) -> ClaimVerdict:
    reason = UnscoredReason.TIMEOUT if label is None else None
    return ClaimVerdict(claim_id=claim, against=against, label=label, unscored_reason=reason)


def make_claim(id_: str, triplet: tuple[str, str, str] | None = None) -> Claim:
    side = "answer" if id_.startswith("a") else "truth"
    return Claim.model_validate(
        {"id": id_, "side": side, "text": f"claim {id_}", "triplet": triplet}
    )


def make_manifest(**changes: object) -> Manifest:
    environment = Environment(basanite="0", python="3", platform="test", packages={"numpy": "2"})
    whole: dict[str, object] = {
        **environment.model_dump(),
        "command": ["basanite", "judge"],
        "judge": FINGERPRINT,
        "fingerprint_digest": FINGERPRINT.digest,
        "input": InputInfo(path="in.jsonl", sha256="0" * 64, rows=1),
    }
    return Manifest.model_validate(whole | changes)
