"""Quotes are looked up in the text they should stand in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.judges import QuoteSource

TEXT = "CD14+ monocytes make up 11.2 %\nof all cells; the “rest” are  T cells. Straße."


@pytest.mark.parametrize(
    ("words", "match", "found"),
    [
        ("make up 11.2 %", "exact", "make up 11.2 %"),
        ("  make up ", "exact", "make up"),
        ("cd14 Monocytes make up 11.2 % of all cells", "fuzzy", TEXT[:43]),
        ('the "rest" are T cells.', "fuzzy", "the “rest” are  T cells"),
        ("STRASSE", "fuzzy", "Straße"),
        ("B cells", "missing", None),
        ("ells the", "missing", None),
        ("S, THE", "missing", None),
        ("…", "missing", None),
    ],
)
def test_find(words: str, match: str, found: str | None) -> None:
    quote = QuoteSource(TEXT).find(words)
    assert quote is not None
    assert quote.match == match
    assert quote.text == words.strip()
    assert (TEXT[slice(*quote.span)] if quote.span else None) == found


def test_no_words_are_no_quote() -> None:
    assert QuoteSource(TEXT).find(" \n") is None


def test_places_are_those_of_the_whole_text() -> None:
    start = TEXT.index("the ")
    source = QuoteSource(TEXT[start:], start)
    exact, fuzzy = source.find("T cells"), source.find("t CELLS")
    assert exact is not None and fuzzy is not None
    assert exact.span == fuzzy.span == (TEXT.index("T cells"), TEXT.index("T cells") + 7)


@given(st.text(min_size=1), st.data())
def test_any_part_of_a_text_is_found_to_the_letter(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = QuoteSource(text).find(text[start:end])
    if quote is not None:
        assert quote.match == "exact"
        assert quote.span is not None and text[slice(*quote.span)] == quote.text


@given(st.text(alphabet="aB c.ß1", min_size=1), st.text(alphabet="aB c.ß1", min_size=1))
def test_a_fuzzy_span_holds_the_words_letters(text: str, words: str) -> None:
    quote = QuoteSource(text).find(words)
    if quote is not None and quote.match == "fuzzy":
        assert quote.span is not None

        def letters(s: str) -> str:
            return "".join(c for c in s.casefold() if c.isalnum())

        assert letters(words) in letters(text[slice(*quote.span)])
