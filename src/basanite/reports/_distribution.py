"""How the values of one score spread: counts per bar, and their drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._figure import WIDTH, Figure, Mark, fitted, line, numbers, rect, upright, words
from ._forest import said_of
from ._run import ReadRun
from ._scale import RATING, Scale, known
from ._summary import ScoreSummary

MANY = 200
"""From this many scored items on, bars are half as wide."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 288.0, 60.0, 172.0
_HEIGHT = 210.0
_LACK = (318.0, 24.0)
"""Left side and width of the bar of what is unscored."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The items whose value lies from `low` up to `high` (the last bar holds its end too)."""

    low: float
    high: float
    count: int

    @property
    def text(self) -> str:
        """The range, or the one value, in words."""
        if self.low == self.high:
            return f"{self.low:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of one score in one run."""

    run: ReadRun
    score: str
    summary: ScoreSummary
    bars: tuple[Bar, ...]

    @property
    def unscored(self) -> int:
        """Items without a value; they are in no bar."""
        return self.summary.n_total - self.summary.n_scored

    @property
    def tallest(self) -> int:
        """The largest count, unscored items among them."""
        return max([self.unscored, *(bar.count for bar in self.bars)])


def distributions(runs: Sequence[ReadRun], score: str, scale: Scale) -> list[Distribution]:
    """Count the values of one score in each run that has it, all on the same bars."""
    having = [run for run in runs if score in run.summary.scores]
    most = max((run.summary.scores[score].n_scored for run in having), default=0)
    edges = _edges(scale, fine=most >= MANY)
    return [
        Distribution(
            run=run,
            score=score,
            summary=run.summary.scores[score],
            bars=_count(
                list(known(run.tally.scores.get(score))), edges, discrete=bool(scale.steps)
            ),
        )
        for run in having
    ]


def _edges(scale: Scale, *, fine: bool) -> list[float]:
    if scale.steps:
        return list(scale.steps)
    bars = (8 if scale.known == RATING else 10) * (2 if fine else 1)
    low, high = scale.axis.low, scale.axis.high
    return [round(low + step * (high - low) / bars, 10) for step in range(bars + 1)]


def _count(values: Sequence[float], edges: list[float], *, discrete: bool) -> tuple[Bar, ...]:
    if discrete:
        return tuple(Bar(edge, edge, sum(value == edge for value in values)) for edge in edges)
    counts = [0] * (len(edges) - 1)
    width = (edges[-1] - edges[0]) / len(counts)
    for value in values:
        # 0.3 divided by 0.1 is 2.9999999999999996: an edge belongs to the bar on its right.
        place = int((value - edges[0]) / width + 1e-9)
        counts[min(place, len(counts) - 1)] += 1
    return tuple(
        Bar(low, high, count)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def panel(found: Distribution, scale: Scale, tallest: int) -> Figure:
    """Draw one run's bars; `tallest` is the count that all panels of a figure share."""
    ticks = count_ticks(tallest)
    top = max(ticks[-1], tallest, 1)

    def height(count: int) -> float:
        return (_BOTTOM - _TOP) * count / top

    marks = [
        words("title", 0, 14, fitted(f"{found.run.letter} · {found.run.title}", WIDTH, 12)),
        words("soft", 0, 29, _said(found)),
    ]
    for tick in ticks:
        y = _BOTTOM - height(tick)
        marks.append(line("grid", (_LEFT, y), (WIDTH - 8, y)))
        marks.append(words("small", _LEFT - 6, y + 3.5, f"{tick:,}", "end"))
    bars = _bars(found, scale, height)
    marks += [mark for mark in bars if mark.role != "count"]
    marks += _mean(found, scale)
    marks += [mark for mark in bars if mark.role == "count"]
    marks.append(line("axis", (_LEFT, _BOTTOM), (_RIGHT, _BOTTOM)))
    marks += _x_axis(found, scale)
    marks.append(upright("label", 10, (_TOP + _BOTTOM) / 2, "items"))
    title = fitted(f"{found.score} ({scale.unit})", _RIGHT - _LEFT)
    marks.append(words("label", (_LEFT + _RIGHT) / 2, _HEIGHT - 5, title, "middle"))
    name = f"distribution-{found.score}-{found.run.letter}"
    return Figure(name, _alt(found, scale), _HEIGHT, tuple(marks))


def _said(found: Distribution) -> str:
    mean = found.summary.mean
    said = said_of(mean).partition(", n ")[0]
    counts = f"{mean.n:,} of {found.summary.n_total:,} scored"
    return f"{counts} · mean {said}" if mean.value is not None else counts


def _alt(found: Distribution, scale: Scale) -> str:
    bars = ", ".join(f"{bar.text}: {bar.count}" for bar in found.bars if bar.count)
    return (
        f"Distribution of {found.score} ({scale.unit}) in run {found.run.letter}, "
        f"{found.run.title}. {_said(found)}. Items per value: {bars or 'none'}. "
        f"Unscored: {found.unscored}."
    )


def _x(scale: Scale, value: float) -> float:
    if scale.steps:
        # Each value has a place of its own width, its bar in the middle.
        low, step = scale.steps[0], (_RIGHT - _LEFT) / len(scale.steps)
        return _LEFT + (value - low + 0.5) * step
    return _LEFT + scale.axis.share(value) * (_RIGHT - _LEFT)


def _bars(found: Distribution, scale: Scale, height: Callable[[int], float]) -> list[Mark]:
    marks: list[Mark] = []
    counted = len(found.bars) <= 10
    for bar in found.bars:
        if scale.steps:
            half = min(22.0, (_RIGHT - _LEFT) / len(scale.steps) * 0.35)
            left, right = _x(scale, bar.low) - half, _x(scale, bar.low) + half
        else:
            left, right = _x(scale, bar.low) + 0.6, _x(scale, bar.high) - 0.6
        if bar.count:
            tall = height(bar.count)
            marks.append(rect("bar", left, _BOTTOM - tall, right - left, tall))
            if counted:
                place = ((left + right) / 2, _BOTTOM - tall - 3)
                marks.append(words("count", *place, f"{bar.count:,}", "middle"))
    left, width = _LACK
    middle = left + width / 2
    tall = height(found.unscored)
    if found.unscored:
        marks.append(rect("lack", left, _BOTTOM - tall, width, tall))
    marks.append(words("count", middle, _BOTTOM - tall - 3, f"{found.unscored:,}", "middle"))
    marks.append(line("axis", (left - 6, _BOTTOM), (left + width + 6, _BOTTOM)))
    marks.append(words("small", middle, _BOTTOM + 15, "unscored", "middle"))
    return marks


def _mean(found: Distribution, scale: Scale) -> list[Mark]:
    value = found.summary.mean.value
    if value is None:
        return []
    x = _x(scale, value)
    return [
        line("mean", (x, _TOP - 11), (x, _BOTTOM)),
        words("small", min(max(x, _LEFT + 14), _RIGHT - 14), _TOP - 14, "mean", "middle"),
    ]


def _x_axis(found: Distribution, scale: Scale) -> list[Mark]:
    ticks = list(scale.steps) or scale.axis.ticks
    marks: list[Mark] = []
    for tick, text in zip(ticks, numbers(ticks), strict=True):
        x = _x(scale, tick)
        marks.append(line("axis", (x, _BOTTOM), (x, _BOTTOM + 4)))
        marks.append(words("small", x, _BOTTOM + 15, text, "middle"))
    return marks


def count_ticks(tallest: int) -> list[int]:
    """Give three to five round counts from 0 on, the last of them at least the largest count."""
    unit = 1
    while True:
        for step in (unit, 2 * unit, 5 * unit):
            if 4 * step >= tallest:
                last = -(-max(tallest, 1) // step)
                return [step * place for place in range(last + 1)]
        unit *= 10
