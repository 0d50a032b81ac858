"""What an extractor of claims gives back, and the shape that all of them share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from pydantic import JsonValue

from ..schema import Claim, ModelIdentity, RawReply, Usage

Side = Literal["answer", "truth"]


@dataclass(frozen=True, slots=True)
class Extraction:
    """The claims of one text, with all that it took to get them."""

    claims: tuple[Claim, ...]
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    """What a reader should know, such as that the text was split."""


@runtime_checkable
class Extractor(Protocol):
    """Takes the claims out of a text."""

    @property
    def identity(self) -> ModelIdentity:
        """The model that it asks; of kind `none` where it asks none."""
        ...

    @property
    def prompts(self) -> dict[str, str]:
        """Name of each prompt to its SHA-256."""
        ...

    @property
    def options(self) -> dict[str, JsonValue]:
        """Settings and parser version: all else that changes the claims."""
        ...

    async def extract(self, text: str, *, side: Side, question: str = "") -> Extraction:
        """Take the claims out of a text.

        Args:
            text: the answer or the truth.
            side: which of both; gives the ids their letter (`a1`, `t1`).
            question: what the text answers, to resolve references.

        Raises:
            ItemError: the text could not be read; see `UnscoredReason`.
        """
        ...


def make_claims(texts: Iterable[str | tuple[str, str, str]], side: Side) -> tuple[Claim, ...]:
    """Number texts or triplets as claims, in order, without the repeated and the empty ones.

    Two texts are the same if they differ in case, white space or their last full stop only.
    A triplet's text is its three parts with spaces between.
    """
    claims: dict[str, Claim] = {}
    for given in texts:
        triplet = None if isinstance(given, str) else _stripped(given)
        text = " ".join((given if isinstance(given, str) else " ".join(given)).split())
        key = text.casefold().rstrip(".")
        if key and key not in claims:
            number = f"{side[0]}{len(claims) + 1}"
            claims[key] = Claim(id=number, side=side, text=text, triplet=triplet)
    return tuple(claims.values())


def _stripped(triplet: tuple[str, str, str]) -> tuple[str, str, str]:
    subject, relation, obj = (" ".join(part.split()) for part in triplet)
    return subject, relation, obj
