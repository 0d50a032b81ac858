"""Reading a rating out of a reply: from its answer field, and from nowhere else.

Read are, in this order: the field `rating` (or `score`) of the reply's JSON object, or a bare JSON
number; a `<rating>` or `<score>` tag; statements such as "Rating: 4", "score = 4/5" or "**Score**:
4 out of 5"; a reply that is nothing but a number. Several statements must agree. Not read are
numbers in running text, in a reasoning field, and in an echo of the scale ("Rating: 1-5"). A
number beside the scale, or between two of its steps, is no rating.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..llm import read_json

PARSER_VERSION = "rating-1"

_FIELDS = ("rating", "score")
_NUMBER = (
    r"(?<![-−–+.,\d])(?P<number>\d+(?:\.\d+)?)(?![\d%]|\.\d|,\d)"
    r"(?:\s*(?:/|out\s+of)\s*(?P<of>\d+))?"
)
_STATED = re.compile(
    r"\b(?:rating|score)\b(?:\s*\([^()\n]{0,60}\))?"
    rf"(?:[\s*_\"'`:=]|\bis\b|\bof\b|\s[-–]\s)*?{_NUMBER}",
    re.IGNORECASE,
)
_TAG = re.compile(rf"<(?P<tag>rating|score)>\s*{_NUMBER}\s*</(?P=tag)>", re.IGNORECASE)
_ALONE = re.compile(rf"[\s*_`\"'(\[]*{_NUMBER}[\s*_`\"')\].]*")
_RANGE = re.compile(r"\s*(?:-|–|−|to|through)\s*\d", re.IGNORECASE)
_CHOICE = re.compile(r"\s*(?:or|and|,|;)\s*\d", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Scale:
    """The whole numbers that a rating may be."""

    low: int = 1
    high: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high:
            raise ValueError(f"a scale runs from a number up to a higher one, not {self}")

    @property
    def values(self) -> tuple[int, ...]:
        """From the lowest to the highest."""
        return tuple(range(self.low, self.high + 1))

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class ReadRating:
    """A rating and where it stands."""

    value: int
    start: int
    """Place of its first digit in the reply."""


def read_rating(text: str, scale: Scale) -> ReadRating:
    """Read the one rating of a reply.

    Args:
        text: the reply, without what a reasoning model thought before.
        scale: what it may be.

    Raises:
        ValueError: there is none, several that differ, or one that is not on the scale; in words
            that can be sent back to the model.
    """
    try:
        value = read_json(text)
    except ValueError:
        if "{" in text:
            # Half an object: what looks like a statement in it may be a part of the reasoning.
            raise ValueError(_wanted(scale)) from None
    else:
        return _of_json(value, text, scale)
    for pattern in (_TAG, _STATED):
        found = [one for one in pattern.finditer(text) if not _RANGE.match(text, one.end())]
        if found:
            return _agreed(found, text, scale)
    alone = _ALONE.fullmatch(text)
    if alone is None:
        raise ValueError(_wanted(scale))
    return _agreed([alone], text, scale)


def _of_json(value: object, text: str, scale: Scale) -> ReadRating:
    if isinstance(value, dict):
        fields = [name for name in _FIELDS if name in value]
        if not fields:
            raise ValueError(_wanted(scale))
        start = _field_start(text, fields[0])
        return ReadRating(_on_scale(value[fields[0]], scale), _first_digit(text, start))
    return ReadRating(_on_scale(value, scale), _first_digit(text, 0))


def _field_start(text: str, name: str) -> int:
    """Find where a top-level field's value begins; what stands inside of strings is skipped."""
    depth, place, start = 0, 0, 0
    while place < len(text):
        string = _STRING.match(text, place)
        if string is None:
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(text[place], 0)
            place += 1
            continue
        place = string.end()
        colon = re.compile(r"\s*:\s*").match(text, place)
        if depth == 1 and colon is not None and string.group() == f'"{name}"':
            start = colon.end()  # the last one counts, as for a JSON reader
    return start


def _first_digit(text: str, start: int) -> int:
    found = re.compile(r"\d").search(text, start)
    return start if found is None else found.start()


def _on_scale(value: object, scale: Scale) -> int:
    """Take a whole number of the scale, also as 4.0, "4" and "4/5"."""
    if isinstance(value, str):
        found = _ALONE.fullmatch(value)
        if found is None:
            raise ValueError(_wanted(scale))
        return _number(found, scale)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(_wanted(scale))
    if value not in scale.values:
        raise ValueError(f"{value} is no rating: {_wanted(scale)}")
    return int(value)


def _agreed(found: list[re.Match[str]], text: str, scale: Scale) -> ReadRating:
    if any(_CHOICE.match(text, one.end()) for one in found):
        raise ValueError(f"it names more than one rating: {_wanted(scale)}")
    values = {_number(one, scale) for one in found}
    if len(values) > 1:
        raise ValueError(f"it states {len(values)} different ratings: {_wanted(scale)}")
    return ReadRating(values.pop(), found[-1].start("number"))


def _number(found: re.Match[str], scale: Scale) -> int:
    value = float(found["number"])
    if found["of"] is not None and int(found["of"]) != scale.high:
        raise ValueError(f"a rating out of {found['of'][:20]}: {_wanted(scale)}")
    if value not in scale.values:
        raise ValueError(f"{found['number'][:20]} is no rating: {_wanted(scale)}")
    return int(value)


def _wanted(scale: Scale) -> str:
    return f'it needs the form {{"rating": N}} with one whole number N from {scale}'
