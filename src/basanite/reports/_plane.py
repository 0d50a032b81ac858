"""The plane of a plot with two axes: where values lie in it, its grid, ticks and titles."""

from __future__ import annotations

from dataclasses import dataclass

from ._figure import WIDTH, Mark, line, numbers, words
from ._strip import Axis


@dataclass(frozen=True, slots=True)
class Plane:
    """Two axes in a drawing, in pixels from its upper left corner."""

    across: Axis
    up: Axis
    left: float
    right: float = WIDTH - 10
    top: float = 14.0
    bottom: float = 210.0

    @property
    def height(self) -> float:
        """Height of a drawing that holds the plane and what stands below it."""
        return self.bottom + 38

    def at(self, across: float, up: float) -> tuple[float, float]:
        """Give the place of a pair of values; beyond an axis it is the axis' end."""
        return (
            self.left + self.across.share(across) * (self.right - self.left),
            self.bottom - self.up.share(up) * (self.bottom - self.top),
        )

    def frame(self, across: str, up: str) -> list[Mark]:
        """Draw grid, ticks and the axis below, with the titles of both axes."""
        marks: list[Mark] = []
        for tick, text in zip(self.up.ticks, numbers(self.up.ticks), strict=True):
            _, y = self.at(self.across.low, tick)
            marks.append(line("grid", (self.left, y), (self.right, y)))
            marks.append(words("small", self.left - 6, y + 3.5, text, "end"))
        for tick, text in zip(self.across.ticks, numbers(self.across.ticks), strict=True):
            x, _ = self.at(tick, self.up.low)
            marks.append(line("axis", (x, self.bottom), (x, self.bottom + 4)))
            marks.append(words("small", x, self.bottom + 16, text, "middle"))
        marks.append(line("axis", (self.left, self.bottom), (self.right, self.bottom)))
        middle = (self.left + self.right) / 2
        marks.append(words("label", middle, self.bottom + 32, across, "middle"))
        marks.append(words("small", 0, 8, up))
        return marks
