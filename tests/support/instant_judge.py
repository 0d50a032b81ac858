"""A judge that answers at once, with judgments of the size that the claims judge gives."""

from __future__ import annotations

from functools import cache

from basanite.judges import Judge
from basanite.schema import (
    Answer,
    Claim,
    ClaimVerdict,
    Fingerprint,
    Judgment,
    Label,
    ModelIdentity,
    Quote,
    RawReply,
    Sampling,
    Score,
    Usage,
)
from basanite.store import RunFolder

FINGERPRINT = Fingerprint(
    judge="instant",
    parser_version="instant-1",
    prompts={"check": "c" * 64, "extract": "e" * 64},
    model=ModelIdentity(name="none", kind="none"),
    sampling=Sampling(),
)

_LABELS = tuple(Label)
_VARIANTS = 97
"""Different judgments; a prime, so that tasks and agents don't meet the same ones always."""
_GENES = ("CD8A", "MS4A1", "NKG7", "LYZ", "PPBP", "GNLY", "FCGR3A", "CST3", "IL7R")


def make_row(number: int, *, tasks: int, agents: int) -> Answer:
    """Make answer `number`: each agent answers all tasks, then come the next trials."""
    task, sweep = number % tasks, number // tasks
    gene, other = _GENES[task % len(_GENES)], _GENES[(task + 1) % len(_GENES)]
    share = 5 + number % 60
    return Answer(
        id=f"{number:07d}",
        question=f"In sample {task}, which cells express {gene}, and does the share of those "
        "cells move when doublets are filtered before the counts are normalised?",
        answer=f"{gene} marks a cluster of {share} % of the cells in sample {task}, next to a "
        f"cluster that expresses {other}. The share falls by {share % 7 + 1} points when doublets "
        "are filtered first, because doublets carry the markers of both clusters. After "
        f"normalisation the fold change of {other} stays the same. The effect does not depend on "
        "the number of highly variable genes. A second clustering with another resolution "
        f"gives {share % 5 + 6} clusters and the same order of shares.",
        # The same for all answers to a task.
        truth=f"{gene} marks {5 + task % 60} % of the cells in sample {task}. Their share falls "
        "when the doublet filter is applied before normalisation. The number of variable genes "
        f"has no effect on it. {other} is not a marker of that cluster.",
        task=f"sample {task}",
        agent=f"agent-{sweep % agents}",
        trial=str(sweep // agents),
    )


class InstantJudge:
    """Gives one of a few ready judgments under the subject's own names."""

    name = "instant"
    score_names = ("f1", "precision", "recall")
    fingerprint = FINGERPRINT

    async def judge(self, subject: Answer) -> Judgment:
        mine = {
            "subject_id": subject.id,
            "subject_digest": subject.digest,
            "task": subject.task,
            "agent": subject.agent,
            "trial": subject.trial,
        }
        return _variant(int(subject.id) % _VARIANTS).model_copy(update=mine)


class InstantRecipe:
    """The recipe (`suites.Recipe`) of `InstantJudge`."""

    fingerprint = FINGERPRINT

    def judge_in(self, folder: RunFolder) -> Judge:
        del folder
        return InstantJudge()


@cache
def _variant(number: int) -> Judgment:
    claims = [_claim(side, index, number) for side in ("answer", "truth") for index in range(4)]
    verdicts = [_verdict(claim, number) for claim in claims]
    share = {
        side: sum(v.label is Label.ENTAILED for v in verdicts if v.claim_id[0] == side) / 4
        for side in "at"
    }
    both = share["a"] + share["t"]
    return Judgment(
        subject_id="any",
        subject_digest="0" * 64,
        task="any",
        judge=FINGERPRINT.judge,
        primary="f1",
        scores={
            "f1": Score(value=2 * share["a"] * share["t"] / both if both else 0.0),
            "precision": Score(value=share["a"]),
            "recall": Score(value=share["t"]),
        },
        claims=tuple(claims),
        verdicts=tuple(verdicts),
        replies=tuple(_reply(side, claims, verdicts) for side in ("answer", "truth")),
        usage=Usage(calls=2, prompt_tokens=1400 + number, completion_tokens=260, seconds=1.5),
        score_mode="labels",
        fingerprint=FINGERPRINT.digest,
    )


def _claim(side: str, index: int, number: int) -> Claim:
    gene = _GENES[(number + index) % len(_GENES)]
    text = f"{gene} marks {number + index} % of the cells, and the filter lowers that share."
    return Claim.model_validate({"id": f"{side[0]}{index + 1}", "side": side, "text": text})


def _verdict(claim: Claim, number: int) -> ClaimVerdict:
    label = _LABELS[(number * 7 + int(claim.id[1:]) ** 2) % len(_LABELS)]
    quote = Quote(text=claim.text[:60], match="exact", span=(number, number + 60))
    against = "truth" if claim.side == "answer" else "answer"
    return ClaimVerdict(claim_id=claim.id, against=against, label=label, quote=quote)


def _reply(side: str, claims: list[Claim], verdicts: list[ClaimVerdict]) -> RawReply:
    parts = [
        f'"{claim.id}": {{"quote": "{claim.text[:60]}", "label": "{verdict.label}"}}'
        for claim, verdict in zip(claims, verdicts, strict=True)
        if claim.side == side
    ]
    return RawReply(role=f"check:{side}", text="{" + ", ".join(parts) + "}", finish_reason="stop")
