"""Numbers as small drawings: a dot with its interval on an axis, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 240.0, 20.0, 8.0


@dataclass(frozen=True, slots=True)
class Axis:
    """The range that the strips of one table share."""

    low: float = 0.0
    high: float = 1.0

    def x(self, value: float) -> float:
        """Give the place of a value in the drawing; beyond the axis it is the axis' end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 2)

    @property
    def ticks(self) -> list[float]:
        """Five values from end to end."""
        return [self.low + step * (self.high - self.low) / 4 for step in range(5)]


def axis_for(values: Iterable[float | None]) -> Axis:
    """Give 0 to 1 where all values lie there (shares), else a whole-numbered range."""
    known = [value for value in values if value is not None]
    if all(0 <= value <= 1 for value in known):
        return Axis()
    return Axis(math.floor(min(known)), max(math.ceil(max(known)), math.floor(min(known)) + 1))


def strip(
    axis: Axis,
    value: float | None,
    interval: tuple[float | None, float | None] = (None, None),
    *,
    baseline: bool = False,
) -> Markup:
    """Draw one value; the table's text says the same, so that it is hidden from readers."""
    low, high = interval
    parts = [_axis(axis)]
    if low is not None and high is not None:
        left, right = axis.x(low), axis.x(high)
        parts.append(f'<path class="range" d="M{left} 7V13M{left} 10H{right}M{right} 7V13"/>')
    if value is not None:
        parts.append(_mark(axis.x(value), baseline=baseline))
    return _svg(parts, "strip")


def scale(axis: Axis) -> Markup:
    """Draw the numbers of the axis, for the head of a column of strips."""
    places = ["start", "middle", "middle", "middle", "end"]
    parts = [
        f'<text x="{axis.x(tick) + _shift(place)}" y="14" text-anchor="{place}">{tick:g}</text>'
        for tick, place in zip(axis.ticks, places, strict=True)
    ]
    return _svg(parts, "strip scale")


def _shift(place: str) -> float:
    return {"start": -MARGIN, "end": MARGIN}.get(place, 0.0)


def _axis(axis: Axis) -> str:
    ticks = "".join(f"M{axis.x(tick)} 7V13" for tick in axis.ticks)
    return f'<path class="axis" d="M{axis.x(axis.low)} 10H{axis.x(axis.high)}{ticks}"/>'


def _mark(x: float, *, baseline: bool) -> str:
    if baseline:
        return f'<path class="mark hollow" d="M{x} 6l4 4l-4 4l-4 -4z"/>'
    return f'<circle class="mark" cx="{x}" cy="10" r="3.5"/>'


def _svg(parts: list[str], classes: str) -> Markup:
    body = "".join(parts)
    # Made of numbers and constants only.
    return Markup(
        f'<svg class="{classes}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" aria-hidden="true" '
        f'focusable="false">{body}</svg>'
    )
