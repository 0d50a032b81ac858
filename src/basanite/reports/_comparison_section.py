"""The section that holds runs against each other."""

from __future__ import annotations

from collections.abc import Sequence

from ._comparison import Comparison, Comparisons, compare_runs
from ._figure import Figure
from ._forest import ForestRow, forest
from ._render import render
from ._run import ReadRun
from ._section import Section
from ._strip import BEYOND, Axis, axis_around_zero, scale, strip


def comparison(runs: Sequence[ReadRun]) -> Section | None:
    """Differences of each pair of runs on the items that both scored; absent for one run."""
    if len(runs) < 2:
        return None
    found = compare_runs(runs)
    by_score = {
        score: Comparisons(tuple(pair for pair in found.made if pair.score == score))
        for score in dict.fromkeys(pair.score for pair in found.made)
    }
    body = render(
        "comparison.html.j2",
        runs={run.letter: run for run in runs},
        found=found,
        of_score=by_score.__getitem__,
        axes={score: difference_axis(pairs) for score, pairs in by_score.items()},
        scale=scale,
        strip=strip,
        beyond=BEYOND,
    )
    return Section("comparison", "Comparison of runs", body)


def difference_axis(found: Comparisons) -> Axis:
    """Give one range around 0 for all differences and their intervals."""
    estimates = [pair.difference.mean for pair in found.made]
    return axis_around_zero(
        value for mean in estimates for value in (mean.value, mean.low, mean.high)
    )


def difference_plots(runs: Sequence[ReadRun]) -> list[Figure]:
    """Draw the differences of all pairs of runs, a figure for each score."""
    found = compare_runs(runs)
    made: list[Figure] = []
    for score in dict.fromkeys(pair.score for pair in found.made):
        pairs = tuple(pair for pair in found.made if pair.score == score)
        rows: list[ForestRow] = []
        for pair in pairs:
            # Two names seldom fit beside the numbers, so that they have a line of their own.
            rows.append(ForestRow(_name(pair, runs)))
            rows.append(ForestRow(f"{pair.first} − {pair.second}", pair.difference.mean))
        axis = difference_axis(Comparisons(pairs))
        made.append(forest(f"differences-{score}", f"difference of {score}", rows, axis))
    return made


def _name(pair: Comparison, runs: Sequence[ReadRun]) -> str:
    titles = {run.letter: run.title for run in runs}
    return f"{titles[pair.first]} − {titles[pair.second]}"
