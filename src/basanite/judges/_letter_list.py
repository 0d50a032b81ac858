"""Lists of letters as people and models write them; what is no list in whole is not read."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed|fbox)\{([^{}]*)\}")
_LATEX_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_FENCE = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.DOTALL)
_EMPHASIS = re.compile(r"\*+|__+|`+|(?<!\w)_|_(?!\w)")
_LETTER = r"(?:\(\s*[A-Za-z]\s*\)|\[\s*[A-Za-z]\s*\]|[\"'“‘]\s*[A-Za-z]\s*[\"'”’]|[A-Za-z][.)]?)"
_BETWEEN = r"(?:\s*(?:[,;/&+|]|\band\b)\s*(?:\band\b\s*)?|\s+|(?<=[)\]]))"
_LIST = re.compile(rf"\s*[\[{{(]?\s*{_LETTER}(?:{_BETWEEN}{_LETTER})*\s*[\]}})]?[.,;!]*\s*")
_BEGINNING = re.compile(
    rf"\s*(?:[-•]\s+)?(?:[A-Z]\b|\([A-Za-z]\)|{_LETTER}\s*(?:[,;/&+|]|(?:and|or)\b))"
)
_FIRST = re.compile(
    r"[^\w\n]*(?:[A-Za-z](?![A-Za-z])|[A-Z]{2,26}(?!\w)|(?i:only|both|options?|choices?|letters?"
    r"|answers?|none|no|all)\b)",
)
_JOINED = re.compile(r"\s*[A-Z]{2,26}[.,;!]*\s*")
_ONE = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_LABELLED = re.compile(
    r"\s*(?:[-•*]\s+)?(?:options?\s+)?[(\[]?(?P<letter>[A-Za-z])(?:[)\].:]+\s*|\s+[-–—:=]\s+)"
    r"(?P<text>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_EXPLAINED = re.compile(r"(?<=[A-Z])\)? ?\([^()\n]{2,200}\)")
_WORD_BEFORE = re.compile(r"\s*(?:(?:only|both|options?|choices?|letters?|answers?)\b\s*)+", re.I)
_ONLY = re.compile(r"\s+only\s*\.?\s*\Z", re.I)
_NONE = re.compile(
    r"none(?: of (?:the above|these|them|the (?:given )?(?:options|choices|answers)))?"
    r"(?: (?:is|are) (?:correct|right|true))?"
    r"|no (?:option|choice|answer)s? (?:is|are) (?:correct|right|true)",
)
_ALL = re.compile(
    r"all(?: of)?(?: (?:the above|these|them|(?:the )?(?:options|choices|answers)|above))?"
    r"(?: (?:is|are) (?:correct|right|true))?",
)
_JSON_FIELDS = frozenset({"answer", "answers", "choice", "choices", "letter", "letters"})
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Choice:
    """The letters of a list."""

    letters: tuple[str, ...]
    """Those among the options, sorted."""
    strangers: tuple[str, ...] = ()
    """Those that are not, sorted."""
    worded: bool = field(default=False, compare=False)
    """Whether it holds the text of an option; that makes no other choice of it."""


def cleaned(text: str) -> str:
    """Take marks of Markdown and LaTeX off, and write look-alike letters as plain ones."""
    plain = unicodedata.normalize("NFKC", text).replace("\r\n", "\n")
    # What a reasoning model thought before is no answer.
    plain = plain.rpartition("</think>")[2].strip()
    fenced = _FENCE.match(plain)
    plain = fenced[1] if fenced else plain
    for _ in range(3):  # \boxed{\text{A}}
        plain = _LATEX.sub(r"\1", plain) if _LATEX.fullmatch(plain.strip("$ ")) else plain
        plain = plain.strip("$ ") if plain.startswith("$") else plain
    plain = _EMPHASIS.sub("", _LATEX_TEXT.sub(r"\1", plain))
    # Runs of white space say nothing, and they would make patterns slow.
    plain = re.sub(r" ?\n ?", "\n", re.sub(r"[^\S\n]+", " ", plain))
    return re.sub(r"\n{3,}", "\n\n", plain).strip()


def shown(text: str) -> str:
    """Give the beginning of a text for a message."""
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= _LONGEST_SHOWN else f"{flat[:_LONGEST_SHOWN]}…")


class ListReader:
    """Reads a text that in whole is a list of letters or options.

    Args:
        options: upper-case letter to text of each option.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options
        self._texts: dict[str, list[str]] = {}
        for letter, text in options.items():
            self._texts.setdefault(_folded(cleaned(text)), []).append(letter)
        self.longest = 2000 + sum(map(len, options.values()))
        """Characters that a list can have; a longer text is none, and need not be tried."""

    def read(self, text: str) -> Choice | None:
        """Read letters, or options by their texts; None where it is no such list."""
        text = text.strip()
        if not text or len(text) > self.longest:
            return None
        by_json = self._read_json(text)
        if by_json is not None:
            return by_json
        # "B (T cells), D (six)": what stands in brackets behind a letter explains it.
        bare = _EXPLAINED.sub("", text)
        for read, given in (
            (self._read_item, text),
            (self._read_lines, text),
            (self.read_bare, bare),
        ):
            choice = read(given)
            if choice is not None:
                return choice
        return None

    def read_bare(self, text: str) -> Choice | None:
        """Read letters without their options' texts, or a word for none or for all."""
        word = self._by_word(text)
        if word is not None:
            return word
        before = _WORD_BEFORE.match(text)
        text = _ONLY.sub("", text[before.end() :] if before else text)
        if _LIST.fullmatch(text):
            found = _ONE.findall(text)
            return self._choice(letter.upper() for letter in found)
        # "AC", but not a word of letters that are no options: that is a word.
        if _JOINED.fullmatch(text):
            letters = re.findall(r"[A-Z]", text)
            if letters == sorted(set(letters)) and set(letters) <= set(self.options):
                return self._choice(letters)
        return None

    def starts_like_letters(self, text: str, place: int = 0) -> bool:
        """Whether a list of letters may begin at a place, and may have gone wrong there."""
        return _BEGINNING.match(text, place) is not None

    def may_begin(self, text: str) -> bool:
        """Whether a text may begin with a list or an option: a cheap check before dear ones."""
        if _FIRST.match(text):
            return True
        beginning = _folded(text[:200])
        return any(beginning.startswith(said[:20]) for said in self._texts)

    def stranger(self, choice: Choice) -> str:
        """Say which letters are none of the options."""
        names = ", ".join(choice.strangers)
        there = ", ".join(self.options)
        return f"{names} is not among the options ({there})"

    def _choice(self, letters: Iterable[str], *, worded: bool = False) -> Choice:
        named, there = set(letters), set(self.options)
        return Choice(tuple(sorted(named & there)), tuple(sorted(named - there)), worded)

    def _by_text(self, text: str) -> Choice | None:
        folded = _folded(text)
        letters = self._texts.get(folded, [])
        # Two options with one text can't be told apart by it. A single letter is a letter,
        # also where some option's text is that letter.
        if len(folded) < 2:
            return None
        return self._choice(letters, worded=True) if len(letters) == 1 else None

    def _by_word(self, text: str) -> Choice | None:
        folded = _folded(text)
        for pattern, letters in ((_NONE, ()), (_ALL, tuple(self.options))):
            if pattern.fullmatch(folded):
                # "None" is the option that says so, where there is one.
                own = [one for said, one in self._texts.items() if pattern.fullmatch(said)]
                if len(own) > 1:
                    return None
                return self._choice(own[0] if own else letters)
        return None

    def _read_json(self, text: str) -> Choice | None:
        if text[0] not in '[{"':
            return None
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, dict):
            fields = [name for name in value if str(name).lower() in _JSON_FIELDS]
            value = value[fields[0]] if len(fields) == 1 else None
        if isinstance(value, str):
            return self.read(value) if value.strip()[:1] not in '[{"' else None
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            return None
        return self._joined([self._read_item(one) for one in value])

    def _read_lines(self, text: str) -> Choice | None:
        lines = [line for line in text.split("\n") if line.strip()]
        return self._joined([self._read_item(line) for line in lines]) if len(lines) > 1 else None

    def _read_item(self, text: str) -> Choice | None:
        """Read letters, or one option with or without its text."""
        text = re.sub(r"^\s*[-•]\s+", "", text)
        # The text of an option first: it may be a letter itself, as in "A) C".
        for read in (self._by_text, self._by_label, self.read_bare):
            choice = read(text)
            if choice is not None:
                return choice
        return None

    def _by_label(self, text: str) -> Choice | None:
        found = _LABELLED.fullmatch(text)
        own = None if found is None else self.options.get(found["letter"].upper())
        if found is None or own is None or _folded(cleaned(own)) != _folded(found["text"]):
            return None
        return self._choice([found["letter"].upper()], worded=True)

    def _joined(self, items: list[Choice | None]) -> Choice | None:
        if any(item is None for item in items):
            return None
        read = [item for item in items if item is not None]
        letters = [letter for item in read for letter in (*item.letters, *item.strangers)]
        return self._choice(letters, worded=any(item.worded for item in read))


def _folded(text: str) -> str:
    """Fold what makes no other text: case, white space, marks around it."""
    return " ".join(text.casefold().split()).strip(" .,;:!\"'“”‘’")
