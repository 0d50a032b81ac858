"""Checking that the words which a model gives as evidence stand in the text."""

from __future__ import annotations

from functools import cached_property

from ..schema import Quote


class QuoteSource:
    """A text in which quotes are looked up.

    Args:
        text: the text, or one window of it.
        start: place of the window's first character in the whole text.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self._start = start

    def find(self, words: str) -> Quote | None:
        """Look words up: to the letter first, then but for case, white space and punctuation.

        Returns:
            The quote with its place in the whole text; `missing` where the words are not
            there; None where no words were given.
        """
        words = words.strip()
        if not words:
            return None
        at = self._text.find(words)
        if at >= 0:
            at += self._start
            return Quote(text=words, match="exact", span=(at, at + len(words)))
        span = self._fuzzy(words)
        if span is None:
            return Quote(text=words, match="missing")
        return Quote(text=words, match="fuzzy", span=(span[0] + self._start, span[1] + self._start))

    def _fuzzy(self, words: str) -> tuple[int, int] | None:
        """Find whole words only: without spaces, "t1" would stand in "about 11"."""
        letters, _ = _letters(words)
        folded, places = self._folded
        at = folded.find(letters) if letters else -1
        while at >= 0:
            first, end = places[at], places[at + len(letters) - 1] + 1
            if not _inside_word(self._text, first) and not _inside_word(self._text, end):
                return first, end
            at = folded.find(letters, at + 1)
        return None

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return _letters(self._text)


def _inside_word(text: str, place: int) -> bool:
    """Whether a place splits a word; scripts without spaces have no such places."""
    around = text[place - 1 : place + 1] if place else ""
    return len(around) == 2 and around.isalnum() and around.isascii()


def _letters(text: str) -> tuple[str, list[int]]:
    """Keep letters and digits, case folded; with the place that each came from."""
    kept: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isalnum():
            for folded in character.casefold():
                kept.append(folded)
                places.append(place)
    return "".join(kept), places
