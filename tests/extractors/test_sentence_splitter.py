"""Claims without a model."""

from __future__ import annotations

from basanite.extractors import Extractor, SentenceSplitter


async def test_sentences_are_claims() -> None:
    text = """# Findings
- Monocytes are 11 % of cells (Fig. 2).
2. B cells are rarer. Are they? ---
B cells are rarer.
"""
    extraction = await SentenceSplitter().extract(text, side="truth")
    assert [claim.text for claim in extraction.claims] == [
        "Findings",
        "Monocytes are 11 % of cells (Fig. 2).",
        "B cells are rarer.",
    ]
    assert [claim.id for claim in extraction.claims] == ["t1", "t2", "t3"]
    assert extraction.usage.calls == 0
    assert isinstance(SentenceSplitter(), Extractor)
    assert SentenceSplitter().identity.kind == "none"


async def test_nothing_is_stated() -> None:
    assert (await SentenceSplitter().extract(" … ?! ", side="answer")).claims == ()
