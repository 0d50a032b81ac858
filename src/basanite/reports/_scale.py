"""What a score's values are: shares, ratings, or numbers on a scale of their own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ._strip import Axis
from ._tally import Column

MAX_STEPS = 12
"""Whole-numbered values get a bar each where there are at most this many."""

Range = tuple[float, float]
"""The lowest and the highest value that a score can have."""

SHARE: Range = (0.0, 1.0)
RATING: Range = (1.0, 5.0)
"""What people and judges rate on unless the judge says otherwise."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of one score over all runs, for axes and bars."""

    known: Range | None
    """The score's range; None where only its values are known, and the axis is made from them."""
    axis: Axis
    steps: tuple[float, ...] = ()
    """The values that there can be, where they are few whole numbers; else empty."""

    @property
    def unit(self) -> str:
        """The unit in a few words, for the title of an axis."""
        if self.known is None:
            return "own unit"
        if self.steps == SHARE:
            return "0 or 1"
        kind = "share" if self.known == SHARE else "rating"
        return f"{kind}, {self.known[0]:g} to {self.known[1]:g}"


def ranges(
    name: str, values: Iterable[float], declared: Range | None = None
) -> frozenset[Range | None]:
    """Give the ranges that all values could lie on; None stands for one that is not known.

    Values that are all 1 could be shares or ratings, so that there may be two; a score that is
    called a rating is no share. What the judge declares is believed of ratings, unless some
    value lies beyond it.
    """
    low, high = _ends(values)
    is_rating = "rating" in name.lower()
    if is_rating and declared is not None and declared[0] <= low and high <= declared[1]:
        return frozenset({declared})
    found: set[Range | None] = set()
    if not is_rating and _within(low, high, SHARE):
        found.add(SHARE)
    if _within(low, high, RATING):
        found.add(RATING)
    return frozenset(found or {None})


def scale_of(name: str, values: Sequence[float], declared: Range | None = None) -> Scale:
    """Give the scale of a score from its values in all runs, and from what judges declare."""
    possible = ranges(name, values, declared)
    whole = all(value == int(value) for value in values)
    if SHARE in possible:
        return Scale(SHARE, Axis(), SHARE if whole and values else ())
    known = next(iter(possible - {None}), None)
    low, high = _ends(values) if known is None else known
    start, end = math.floor(low), math.ceil(high)
    end = max(end, start + 1)
    few = whole and end - start < MAX_STEPS
    steps = tuple(float(value) for value in range(start, end + 1)) if few else ()
    return Scale(known, Axis(float(start), float(end)), steps)


def known(column: Column | None) -> Iterator[float]:
    """Give the values of a column that are there."""
    if column is not None:
        yield from (value for value in column.values if not math.isnan(value))


def _within(low: float, high: float, possible: Range) -> bool:
    return possible[0] <= low and high <= possible[1]


def _ends(values: Iterable[float]) -> Range:
    found = list(values)
    return (min(found), max(found)) if found else SHARE
