"""Means with their intervals below each other, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..stats import Estimate
from ._figure import WIDTH, Figure, Mark, dot, fitted, line, numbers, shape, words
from ._strip import BEYOND, Axis
from ._text import percent

_LEFT, _RIGHT, _ROW, _HEAD = 16.0, 344.0, 34.0, 24.0


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line: a name and its estimate, or a heading where there is no estimate."""

    name: str
    estimate: Estimate | None = None
    hollow: bool = False
    """Drawn as the baseline is."""


def forest(
    name: str, title: str, rows: Sequence[ForestRow], axis: Axis, level: float = 0.95
) -> Figure:
    """Draw a row of text above each interval, so that long names fit a narrow column.

    Args:
        name: the figure's name.
        title: what the axis measures, with its unit.
        rows: names with estimates; headings between them.
        axis: the range. An interval that goes on beyond it ends in an arrow.
        level: confidence level of the intervals, for the words.
    """
    heights = [_HEAD if row.estimate is None else _ROW for row in rows]
    bottom = sum(heights) + 4
    marks = [line("grid", (_x(axis, tick), 4), (_x(axis, tick), bottom)) for tick in axis.ticks]
    if axis.low < 0 < axis.high:
        marks.append(line("zero", (_x(axis, 0), 4), (_x(axis, 0), bottom)))
    top, beyond = 4.0, False
    for row, height in zip(rows, heights, strict=True):
        if row.estimate is None:
            marks.append(words("title", 0, top + 16, fitted(row.name, WIDTH, 12)))
        else:
            marks += _row(row, row.estimate, axis, top)
            beyond = beyond or any(axis.leaves(row.estimate.low, row.estimate.high))
        top += height
    marks += _axis(axis, title, bottom)
    height = bottom + 36
    if beyond:
        height += 14
        marks.append(words("small", WIDTH / 2, height - 4, BEYOND, "middle"))
    said = "; ".join(f"{row.name}: {said_of(row.estimate)}" for row in rows if row.estimate)
    alt = f"{title}, means with {percent(level)} intervals. {said}."
    return Figure(name, alt, height, tuple(marks))


def said_of(estimate: Estimate) -> str:
    """Write an estimate in a few characters."""
    if estimate.value is None:
        return "nothing scored"
    text = f"{estimate.value:.2f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    return f"{text}, n {estimate.n}".replace("-", "−")


def _x(axis: Axis, value: float) -> float:
    return _LEFT + axis.share(value) * (_RIGHT - _LEFT)


def _row(row: ForestRow, estimate: Estimate, axis: Axis, top: float) -> list[Mark]:
    said = said_of(estimate)
    y = top + 25
    room = WIDTH - 6.2 * len(said) - 12
    marks = [
        words("label", 0, top + 13, fitted(row.name, room)),
        words("soft", WIDTH, top + 13, said, "end"),
    ]
    if estimate.low is not None and estimate.high is not None:
        left, right = _x(axis, estimate.low), _x(axis, estimate.high)
        below, above = axis.leaves(estimate.low, estimate.high)
        marks.append(line("interval", (left, y), (right, y)))
        marks.append(_end(left, y, -1, beyond=below))
        marks.append(_end(right, y, 1, beyond=above))
    if estimate.value is not None:
        x = _x(axis, estimate.value)
        if row.hollow:
            marks.append(shape("hollow", (x, y - 4.5), (x + 4.5, y), (x, y + 4.5), (x - 4.5, y)))
        else:
            marks.append(dot("dot", x, y))
    return marks


def _end(x: float, y: float, side: int, *, beyond: bool) -> Mark:
    if beyond:
        return shape("beyond", (x + 9 * side, y), (x, y - 4.5), (x, y + 4.5))
    return line("interval", (x, y - 3.5), (x, y + 3.5))


def _axis(axis: Axis, title: str, y: float) -> list[Mark]:
    marks = [line("axis", (_LEFT, y), (_RIGHT, y))]
    for tick, text in zip(axis.ticks, numbers(axis.ticks), strict=True):
        x = _x(axis, tick)
        marks.append(line("axis", (x, y), (x, y + 4)))
        marks.append(words("small", x, y + 15, text, "middle"))
    marks.append(words("label", WIDTH / 2, y + 31, title, "middle"))
    return marks
