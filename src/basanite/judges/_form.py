"""What statements are labelled with: the prompt, the labels, and what a verdict is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from ..errors import UnscoredReason
from ..llm import Prompt
from ..schema import Quote

V = TypeVar("V")


class Statement(Protocol):
    """What is labelled: a `Claim` or a `Fact`."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class LabelForm(Generic[V]):
    """How statements are held against a text, and how a reply becomes verdicts of type `V`."""

    prompt: Prompt
    """With the slots `question`, `source` and `claims`."""
    role: str
    """Names requests (`check:truth`) and settings (`check_parser`)."""
    noun: str
    """What the statements are called in messages, such as `claims`."""
    parser_version: str
    fields: Mapping[str, tuple[str, ...]]
    """What the model gives for each statement after its quote, and the values that it may take.
    `label` is among them."""
    silent: Mapping[str, str]
    """The values that stand where the text is blank: it says nothing, and nobody is asked."""
    verdict: Callable[[str, str, Mapping[str, str], Quote | None], V]
    """Makes a verdict of a statement's id, the name of the text, the values and the quote."""
    failed: Callable[[str, str, UnscoredReason], V]
    """Makes a verdict without a label of an id, the name of the text and the reason."""
    rank: Callable[[V], int]
    """Of several windows' verdicts on one statement, the one of lowest rank stands."""

    @cached_property
    def values(self) -> dict[str, dict[str, str]]:
        """The values of each field by their form in lower case."""
        return {name: {one.lower(): one for one in some} for name, some in self.fields.items()}
