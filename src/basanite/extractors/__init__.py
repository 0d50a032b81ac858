"""Text in, structure out: the claims that a text makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy

if TYPE_CHECKING:
    from ._claims import ClaimExtractor, ExtractOptions
    from ._extraction import Extraction, Extractor, Side, make_claims
    from ._frozen import ClaimStore, FrozenClaims, LedgerClaims, MemoryClaims
    from ._reading import ClaimForm
    from ._sentences import SentenceSplitter

_HOMES = {
    "ClaimExtractor": "_claims",
    "ClaimForm": "_reading",
    "ClaimStore": "_frozen",
    "ExtractOptions": "_claims",
    "Extraction": "_extraction",
    "Extractor": "_extraction",
    "FrozenClaims": "_frozen",
    "LedgerClaims": "_frozen",
    "MemoryClaims": "_frozen",
    "SentenceSplitter": "_sentences",
    "Side": "_extraction",
    "make_claims": "_extraction",
}

__all__ = [
    "ClaimExtractor",
    "ClaimForm",
    "ClaimStore",
    "ExtractOptions",
    "Extraction",
    "Extractor",
    "FrozenClaims",
    "LedgerClaims",
    "MemoryClaims",
    "SentenceSplitter",
    "Side",
    "make_claims",
]


__getattr__ = lazy(__name__, _HOMES)
