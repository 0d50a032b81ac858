"""Labelling the facts of a truth by how an answer states each of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from ..errors import UnscoredReason
from ..llm import ChatModel, Prompt
from ..schema import FactLabel, FactVerdict, Quote
from ._checking import CheckOptions, StatementChecker
from ._form import LabelForm

PARSER_VERSION = "facts-1"

_BASES: dict[str, Literal["data", "recall"] | None] = {
    "data": "data",
    "recall": "recall",
    "none": None,
}


class FactLabeller(StatementChecker[FactVerdict]):
    """Asks a model how an answer states each fact of the truth (HeurekaBench's rubric, step 2).

    The model says what the answer states and whether it was derived from the data; that a fact
    which is stated but only recalled counts as partial is applied in code. Labels of an answer's
    windows are merged: the first of present, (not known), incorrect, partial and missing stands.

    Args:
        model: whom to ask.
        options: see `CheckOptions`.
        replicate: number of the repeat; equal requests of another replicate are asked anew.
    """

    def __init__(
        self, model: ChatModel, options: CheckOptions | None = None, *, replicate: int = 0
    ) -> None:
        super().__init__(_form(), model, options, replicate=replicate)


_RANKS = {
    FactLabel.PRESENT: 0,
    None: 1,
    FactLabel.INCORRECT: 2,
    FactLabel.PARTIAL: 3,
    FactLabel.MISSING: 4,
}


@cache
def _form() -> LabelForm[FactVerdict]:
    return LabelForm(
        prompt=Prompt.load("basanite.judges", "prompts/facts"),
        role="label",
        noun="facts",
        parser_version=PARSER_VERSION,
        fields={"label": tuple(label.value for label in FactLabel), "basis": tuple(_BASES)},
        silent={"label": FactLabel.MISSING.value, "basis": "none"},
        verdict=_verdict,
        failed=_failed,
        rank=lambda verdict: _RANKS[verdict.label],
    )


def _verdict(
    fact_id: str, against: str, values: Mapping[str, str], quote: Quote | None
) -> FactVerdict:
    label, basis = FactLabel(values["label"]), _BASES[values["basis"]]
    if label is FactLabel.MISSING:
        basis = None  # what is not stated rests on nothing
    elif label is FactLabel.PRESENT and basis == "recall":
        label = FactLabel.PARTIAL
    return FactVerdict(fact_id=fact_id, label=label, basis=basis, quote=quote)


def _failed(fact_id: str, against: str, reason: UnscoredReason) -> FactVerdict:
    return FactVerdict(fact_id=fact_id, unscored_reason=reason)
