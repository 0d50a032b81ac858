"""The section that shows how scores spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._distribution import Distribution, distributions, panel
from ._figure import Figure, stacked
from ._render import render
from ._run import ReadRun, score_scale, shown_scores
from ._section import Section


@dataclass(frozen=True, slots=True)
class ScorePlots:
    """One score: a panel for each run that has it, all with the same bars and height."""

    score: str
    primary_of: list[str]
    found: list[Distribution]
    panels: list[Figure]


def distribution(runs: Sequence[ReadRun]) -> Section | None:
    """Show a plot of each score and run; primary scores first, the others folded away."""
    if not any(run.summary.n_total for run in runs):
        return None
    plots = score_plots(runs)
    body = render(
        "distribution.html.j2",
        first=[found for found in plots if found.primary_of],
        others=[found for found in plots if not found.primary_of],
    )
    return Section("distributions", "Distributions", body)


def score_plots(runs: Sequence[ReadRun]) -> list[ScorePlots]:
    """Count and draw each score that some item has, or should have."""
    made: list[ScorePlots] = []
    for score in shown_scores(runs):
        scale = score_scale(runs, score)
        found = distributions(runs, score, scale)
        tallest = max(one.tallest for one in found)
        made.append(
            ScorePlots(
                score=score,
                primary_of=[run.letter for run in runs if run.summary.primary == score],
                found=found,
                panels=[panel(one, scale, tallest) for one in found],
            )
        )
    return made


def distribution_plots(runs: Sequence[ReadRun]) -> list[Figure]:
    """Give one figure a score, its runs' panels below each other."""
    return [
        stacked(f"distribution-{plots.score}", plots.panels, gap=20.0)
        for plots in score_plots(runs)
    ]
