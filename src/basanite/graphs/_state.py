"""The state of judges' graphs: plain JSON, so that any checkpointer can keep it."""

from __future__ import annotations

import operator
from typing import Annotated

# Not that of `typing`: before Python 3.12 pydantic can make no schema of it.
from typing_extensions import TypedDict

from ..schema import Usage

Json = dict[str, object]


def add_usage(left: Json, right: Json) -> Json:
    """Add two usages, as dumped (the state's reducer)."""
    if not left or not right:
        return left or right
    return (Usage.model_validate(left) + Usage.model_validate(right)).model_dump()


def join(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Join two mappings; what was there first stays (the state's reducer)."""
    return right | left


class JudgeState(TypedDict, total=False):
    """What every judge's graph takes and leaves behind, so that `as_judge` can read it."""

    subject: Json
    """The `Answer` to judge, as dumped. The only key of the input."""
    claims: Annotated[list[Json], operator.add]
    """`Claim`s, as dumped."""
    verdicts: Annotated[list[Json], operator.add]
    """`ClaimVerdict`s, as dumped."""
    facts: Annotated[list[Json], operator.add]
    """`Fact`s, as dumped."""
    fact_verdicts: Annotated[list[Json], operator.add]
    """`FactVerdict`s, as dumped."""
    replies: Annotated[list[Json], operator.add]
    """`RawReply`s, as dumped, failed attempts included."""
    usage: Annotated[Json, add_usage]
    """`Usage`, as dumped."""
    notes: Annotated[list[str], operator.add]
    """What a reader should know."""
    problems: Annotated[list[str], operator.add]
    """What went wrong, in words."""
    missing: Annotated[dict[str, str], join]
    """Parts that could not be made, each with its `UnscoredReason`."""
    probabilities: dict[str, float]
    """Probability of each valid value, where the score is made of them."""
    probability_mass: float
    """Share of the model's probability that fell on valid values, where that is known."""
    scores: Json
    """`Score`s by name, as dumped."""
