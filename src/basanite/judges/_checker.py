"""Checking claims against a text: entailed, contradicted, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ..errors import UnscoredReason
from ..llm import ChatModel, Prompt
from ..schema import ClaimVerdict, Label, Quote
from ._checking import CheckOptions, StatementChecker
from ._form import LabelForm

PARSER_VERSION = "entailment-1"


class EntailmentChecker(StatementChecker[ClaimVerdict]):
    """Asks a model whether a text entails, contradicts or says nothing of each claim.

    Labels of a text's windows are merged: entailed if any window entails the claim, else
    contradicted if any contradicts it, else neutral. A window that could not be checked might have
    entailed the claim: without it only "entailed" stands.

    Args:
        model: whom to ask.
        options: see `CheckOptions`.
        replicate: number of the repeat; equal requests of another replicate are asked anew.
    """

    def __init__(
        self, model: ChatModel, options: CheckOptions | None = None, *, replicate: int = 0
    ) -> None:
        super().__init__(_form(), model, options, replicate=replicate)


_RANKS = {Label.ENTAILED: 0, None: 1, Label.CONTRADICTED: 2, Label.NEUTRAL: 3}


@cache
def _form() -> LabelForm[ClaimVerdict]:
    return LabelForm(
        prompt=Prompt.load("basanite.judges", "prompts/entailment"),
        role="check",
        noun="claims",
        parser_version=PARSER_VERSION,
        fields={"label": tuple(label.value for label in Label)},
        silent={"label": Label.NEUTRAL.value},
        verdict=_verdict,
        failed=_failed,
        rank=lambda verdict: _RANKS[verdict.label],
    )


def _verdict(
    claim_id: str, against: str, values: Mapping[str, str], quote: Quote | None
) -> ClaimVerdict:
    label = Label(values["label"])
    return ClaimVerdict(claim_id=claim_id, against=against, label=label, quote=quote)


def _failed(claim_id: str, against: str, reason: UnscoredReason) -> ClaimVerdict:
    return ClaimVerdict(claim_id=claim_id, against=against, unscored_reason=reason)
