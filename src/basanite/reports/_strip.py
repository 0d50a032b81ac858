"""Numbers as small drawings: a dot with its interval on an axis, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 240.0, 20.0, 8.0

BEYOND = "◂ ▸ the interval goes on beyond the axis"
"""What the arrows at the end of a drawn interval mean, in every legend."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The range that the strips of one table share."""

    low: float = 0.0
    high: float = 1.0

    def share(self, value: float) -> float:
        """Give the place of a value from 0 to 1; beyond the axis it is the axis' end."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def x(self, value: float) -> float:
        """Give the place of a value in a strip; beyond the axis it is the axis' end."""
        return round(MARGIN + self.share(value) * (WIDTH - 2 * MARGIN), 2)

    def leaves(self, low: float | None, high: float | None) -> tuple[bool, bool]:
        """Tell whether an interval goes on beyond the lower and the upper end."""
        slack = 1e-9 * (self.high - self.low)
        return (
            low is not None and low < self.low - slack,
            high is not None and high > self.high + slack,
        )

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


def axis_around_zero(values: Iterable[float | None]) -> Axis:
    """Give the smallest even range around 0 that holds all values, such as of differences."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if not largest:
        return Axis(-1.0, 1.0)
    unit = 10.0 ** math.floor(math.log10(largest))
    end = next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= largest * (1 - 1e-9))
    return Axis(-end, end)


def strip(
    axis: Axis,
    value: float | None,
    interval: tuple[float | None, float | None] = (None, None),
    *,
    baseline: bool = False,
) -> Markup:
    """Draw one value; the table's text says the same, so that it is hidden from readers.

    An interval that goes on beyond the axis ends in an arrow there.
    """
    low, high = interval
    parts = [_axis(axis)]
    if low is not None and high is not None:
        left, right = axis.x(low), axis.x(high)
        below, above = axis.leaves(low, high)
        parts.append(f'<path class="range" d="M{left} 10H{right}"/>')
        parts.append(_end(left, -1, beyond=below))
        parts.append(_end(right, 1, beyond=above))
    if value is not None:
        parts.append(_mark(axis.x(value), baseline=baseline))
    return _svg(parts, "strip")


def scale(axis: Axis) -> Markup:
    """Draw the numbers of the axis, for the head of a column of strips."""
    places = ["start", "middle", "middle", "middle", "end"]
    parts = []
    for tick, place in zip(axis.ticks, places, strict=True):
        x = axis.x(tick) + _shift(place)
        parts.append(f'<text x="{x}" y="14" text-anchor="{place}">{_text(tick)}</text>')
    return _svg(parts, "strip scale")


def _text(tick: float) -> str:
    return f"{tick:.3g}".replace("-", "−")


def _shift(place: str) -> float:
    return {"start": -MARGIN, "end": MARGIN}.get(place, 0.0)


def _axis(axis: Axis) -> str:
    ticks = "".join(f"M{axis.x(tick)} 7V13" for tick in axis.ticks)
    zero = f"M{axis.x(0)} 3V17" if axis.low < 0 < axis.high else ""
    return f'<path class="axis" d="M{axis.x(axis.low)} 10H{axis.x(axis.high)}{ticks}{zero}"/>'


def _end(x: float, side: int, *, beyond: bool) -> str:
    if not beyond:
        return f'<path class="range" d="M{x} 7V13"/>'
    tip = x + side * MARGIN
    return f'<path class="mark beyond" d="M{tip} 10L{x} 5.5V14.5z"/>'


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
