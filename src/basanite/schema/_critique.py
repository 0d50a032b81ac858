"""What a critic says of a draft, and what became of all drafts."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import model_validator

from ..errors import UnscoredReason
from ._base import Model
from ._judgment import RawReply
from ._model import Usage


class CriticVerdict(StrEnum):
    """What should happen to a draft."""

    ACCEPT = "accept"
    REVISE = "revise"


class Critique(Model):
    """A critic's view of one draft, or the reason why there is none."""

    verdict: CriticVerdict | None = None
    rating: int | None = None
    """How complete the draft is, from 1 to 5; what drafts are compared by."""
    missing: tuple[str, ...] = ()
    """What the draft leaves out or leaves unsupported."""
    checks: tuple[str, ...] = ()
    """Which checks to run, or run again."""
    unscored_reason: UnscoredReason | None = None
    message: str | None = None
    """What went wrong, in words."""
    notes: tuple[str, ...] = ()
    """What a reader should know, such as which steps were summarised."""
    replies: tuple[RawReply, ...] = ()
    usage: Usage = Usage()

    @model_validator(mode="after")
    def _verdict_or_reason(self) -> Critique:
        if (self.verdict is None) == (self.unscored_reason is None):
            raise ValueError("a critique has either a verdict or an unscored_reason")
        if (self.verdict is None) != (self.rating is None):
            raise ValueError("a verdict comes with a rating")
        return self


class Draft(Model):
    """One answer of the agent, with what the critic said of it."""

    round: int
    """0 for the first draft."""
    text: str
    critique: Critique | None = None
    """None where nobody was asked: the text is blank."""


StopReason = Literal[
    "accepted", "rounds_used", "critic_failed", "agent_failed", "agent_limit", "no_draft"
]
"""Why no further draft was asked for.

`accepted`: by the critic. `rounds_used`: all revisions were made. `critic_failed`: it gave no
verdict. `agent_failed`: the agent raised an error in a revision. `agent_limit`: it ran into its
recursion limit there. `no_draft`: it gave no answer, in a revision or at all.
"""


class Criticised(Model):
    """All drafts of one task, which of them is the answer, and why it ended there."""

    schema_version: Literal[1] = 1
    drafts: tuple[Draft, ...]
    chosen: int
    """Index of the draft that is the answer."""
    stop_reason: StopReason
    message: str | None = None
    """What failed, in words."""

    @property
    def answer(self) -> str:
        """Text of the chosen draft."""
        return self.drafts[self.chosen].text

    @property
    def usage(self) -> Usage:
        """What the critic used; the agent's own usage is not known here."""
        used = [one.critique.usage for one in self.drafts if one.critique is not None]
        return sum(used[1:], used[0]) if used else Usage()

    @model_validator(mode="after")
    def _chosen_is_a_draft(self) -> Criticised:
        if not 0 <= self.chosen < len(self.drafts):
            raise ValueError("the chosen draft is not among the drafts")
        return self


def best_draft(drafts: tuple[Draft, ...] | list[Draft]) -> int:
    """Choose the draft that is kept.

    An accepted draft goes before all others, then the higher rating; of equals the later one. A
    draft without a verdict counts as much as the one before it, since it was made from that one by
    following its critique; the first draft without a verdict counts least.

    Returns:
        The index of the draft.

    Raises:
        ValueError: there are no drafts.
    """
    worth: list[tuple[bool, int]] = []
    for draft in drafts:
        critique = draft.critique
        if critique is None or critique.verdict is None:
            worth.append(worth[-1] if worth else (False, 0))
        else:
            worth.append((critique.verdict is CriticVerdict.ACCEPT, critique.rating or 0))
    if not worth:
        raise ValueError("there is no draft to choose from")
    return max(range(len(worth)), key=lambda index: (worth[index], index))
