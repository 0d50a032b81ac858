"""Verdicts of one window or of several, with what they took, and how they are merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..errors import ItemError
from ..llm import replies_of, usage_of
from ..schema import Claim, ClaimVerdict, Label, RawReply, Usage


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one window of a text says of some claims."""

    verdicts: dict[str, ClaimVerdict] = field(default_factory=dict)
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @classmethod
    def failed(cls, claims: Iterable[Claim], error: ItemError, against: str) -> Opinion:
        """An opinion without labels: each claim gets the error's reason."""
        verdicts = {
            claim.id: ClaimVerdict(claim_id=claim.id, against=against, unscored_reason=error.reason)
            for claim in claims
        }
        return cls(verdicts, replies_of(error), usage_of(error), problems=(str(error),))

    def __add__(self, other: Opinion) -> Opinion:
        """Join opinions on different claims."""
        return Opinion(
            self.verdicts | other.verdicts,
            self.replies + other.replies,
            self.usage + other.usage,
            self.notes + other.notes,
            self.problems + other.problems,
        )


def merge_opinions(opinions: Sequence[Opinion]) -> Opinion:
    """Merge opinions of several windows, claim by claim.

    Entailed if any window entails the claim, else contradicted if any contradicts it, else
    neutral. A window that could not be checked might have entailed the claim: without it only
    "entailed" stands.
    """
    if len(opinions) == 1:
        return opinions[0]
    whole = sum(opinions[1:], opinions[0])
    given: dict[str, list[ClaimVerdict]] = {}
    for opinion in opinions:
        for claim_id, verdict in opinion.verdicts.items():
            given.setdefault(claim_id, []).append(verdict)
    return replace(whole, verdicts={key: min(some, key=_rank) for key, some in given.items()})


_RANKS = {Label.ENTAILED: 0, None: 1, Label.CONTRADICTED: 2, Label.NEUTRAL: 3}


def _rank(verdict: ClaimVerdict) -> int:
    return _RANKS[verdict.label]
