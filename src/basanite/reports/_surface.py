"""The page of a workflow of which every configuration has been run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ._figure import WIDTH, Figure, Mark, dot, line, words
from ._page import write_page
from ._plane import Plane
from ._plots import write_figures
from ._render import render
from ._section import Section
from ._strip import Axis, axis_around_zero, scale, strip

_STEPS = 9
_LEAST_APART = 11.0


@dataclass(frozen=True, slots=True)
class FactorRow:
    """A factor's effects: changes of utility, over all settings of the other factors."""

    factor: str
    description: str
    levels: tuple[str, ...]
    mean: float
    least: float
    most: float
    helps: int
    """Settings in which it helps."""
    harms: int


@dataclass(frozen=True, slots=True)
class Reversal:
    """A factor that helps in one setting and harms in another."""

    factor: str
    helps_at: str
    most: float
    harms_at: str
    least: float
    floor: float
    """The smaller of the two effects, as a share of the table's range."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What a method recovers by budget: (budget, recovery)."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class SurfaceReport:
    """All that the page shows."""

    title: str
    description: str
    facts: tuple[tuple[str, str], ...]
    effects: tuple[FactorRow, ...]
    interactions: Mapping[tuple[str, str], float]
    """By pair of factors, in their order."""
    reversals: tuple[Reversal, ...]
    equal: tuple[tuple[str, ...], ...]
    """Configurations that put the same out."""
    rules: tuple[str, ...]
    curves: tuple[Curve, ...]
    budget_unit: str = "measurements"

    def interaction(self, a: str, b: str) -> float | None:
        """Give the interaction of two factors in either order; None for one with itself."""
        return self.interactions.get((a, b), self.interactions.get((b, a)))

    def shade(self, value: float) -> int:
        """Give a step of the heat scale by size."""
        most = max(map(abs, self.interactions.values()), default=0.0)
        return 0 if not most else round(_STEPS * abs(value) / most)


def surface_sections(report: SurfaceReport) -> list[Section]:
    """Give the sections: about, effects, interactions, reversals, equal outputs, how hard."""
    axis = axis_around_zero([end for one in report.effects for end in (one.least, one.most)])
    made = [
        ("about", "About", render("surface_about.html.j2", report=report)),
        (
            "effects",
            "Effects",
            render("surface_effects.html.j2", report=report, axis=axis, strip=strip, scale=scale),
        ),
        ("interactions", "Interactions", render("surface_pairs.html.j2", report=report)),
        ("reversals", "Sign reversals", render("surface_reversals.html.j2", report=report)),
        ("equal", "Equal outputs", render("surface_equal.html.j2", report=report)),
    ]
    if report.curves:
        figure = curve_plot(report)
        body = render("surface_curve.html.j2", report=report, figure=figure)
        made.append(("hard", "How hard", body))
    return [Section(*one) for one in made]


def write_surface_report(report: SurfaceReport, out: Path) -> None:
    """Write one self-contained HTML page. It appears whole or not at all.

    Raises:
        OSError: the file can't be written.
    """
    write_page(surface_sections(report), out, report.title)


def surface_plots(report: SurfaceReport, folder: Path) -> list[Path]:
    """Write the curve as `hardness.svg`, black on white.

    Raises:
        InputError: the folder is a file.
        OSError: it can't be written.
    """
    return write_figures([curve_plot(report)] if report.curves else [], folder)


def curve_plot(report: SurfaceReport) -> Figure:
    """Draw recovery against budget, a line for each method with its name at the end."""
    budgets = sorted({budget for curve in report.curves for budget, _ in curve.points})
    across = Axis(budgets[0], max(budgets[-1], budgets[0] + 1))
    plane = Plane(across, Axis(0.0, 1.0), left=34.0, right=WIDTH - 74)
    unit = f"budget ({report.budget_unit})"
    marks = plane.frame(unit, "effect recovery")
    ends = []
    for curve in report.curves:
        places = [plane.at(budget, recovery) for budget, recovery in curve.points]
        if len(places) > 1:
            marks.append(line("span", *places))
        marks += [dot("dot", x, y, 2.5) for x, y in places]
        ends.append((places[-1][1], places[-1][0], curve.name))
    marks += _names(sorted(ends))
    said = "; ".join(
        f"{curve.name}: "
        + ", ".join(f"{value:.2f} at {budget:g}" for budget, value in curve.points)
        for curve in report.curves
    )
    alt = f"Effect recovery by {unit}. {said}."
    return Figure("hardness", alt, plane.height, tuple(marks))


def _names(ends: list[tuple[float, float, str]]) -> list[Mark]:
    """Write the names beside the lines' ends, none over another."""
    marks, last = [], float("-inf")
    for y, x, name in ends:
        last = max(y, last + _LEAST_APART)
        marks.append(words("label", x + 6, last + 3.5, name))
    return marks


__all__ = [
    "Curve",
    "FactorRow",
    "Reversal",
    "SurfaceReport",
    "curve_plot",
    "surface_plots",
    "surface_sections",
    "write_surface_report",
]
