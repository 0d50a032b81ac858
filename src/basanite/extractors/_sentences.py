"""Claims without a model: each sentence is one."""

from __future__ import annotations

import re

from pydantic import JsonValue

from ..llm import sentence_spans
from ..schema import ModelIdentity
from ._extraction import Extraction, Side, make_claims

PARSER_VERSION = "sentences-1"

_MARKUP = re.compile(r"^(?:[-*•–#>]+|\(?\d{1,3}[.)])\s+")


class SentenceSplitter:
    """Takes each sentence for a claim (an `Extractor` without a model).

    It costs nothing and invents nothing, but its claims are neither atomic nor self-contained:
    a sentence with two statements is one claim, and "it" stays "it".
    """

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity(name="sentences", kind="none")

    @property
    def prompts(self) -> dict[str, str]:
        return {}

    @property
    def options(self) -> dict[str, JsonValue]:
        return {"extractor": "sentences", "extractor_parser": PARSER_VERSION}

    async def extract(self, text: str, *, side: Side, question: str = "") -> Extraction:
        sentences = (text[start:end].strip() for start, end in sentence_spans(text))
        stripped = (_MARKUP.sub("", sentence) for sentence in sentences)
        stating = (one for one in stripped if _states(one))
        return Extraction(make_claims(stating, side))


def _states(sentence: str) -> bool:
    """Whether a sentence can state something: it holds a letter or digit and is no question."""
    return any(map(str.isalnum, sentence)) and not sentence.endswith(("?", "？"))
