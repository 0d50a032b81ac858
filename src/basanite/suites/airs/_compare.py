"""Ratings of two agents, compared in the same draws."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError
from ...stats import Estimate, Resample, percentile_estimate
from ._scores import AirsScores

_MIN_TASKS = 5


@dataclass(frozen=True, slots=True)
class EloDifference:
    """How far one agent is rated above another."""

    first: str
    second: str
    difference: Estimate
    """First minus second; 400 points are odds of ten to one in a game between two runs."""
    share_above: float | None
    """Share of the draws in which the first is rated higher; no p-value."""


def elo_differences(scores: AirsScores, baseline: str | None = None) -> tuple[EloDifference, ...]:
    """Give the differences of ratings with intervals from paired draws.

    Both ratings are from the same draw of tasks and seeds, so that what is hard for all
    cancels.

    Args:
        scores: what was scored.
        baseline: compare each other agent with this one; None for all pairs.

    Raises:
        InputError: fewer than two agents, or no agent of the baseline's name.
    """
    agents = list(scores.agents)
    if len(agents) < 2:
        raise InputError("there is only one agent", todo="Give another one's runs.")
    if baseline is not None and baseline not in agents:
        raise InputError(
            f"there is no agent {baseline!r}", todo=f"Name one of {', '.join(agents)}."
        )
    pairs = [
        (first, second)
        for number, first in enumerate(agents)
        for second in (agents[number + 1 :] if baseline is None else [baseline])
        if first != second
    ]
    return tuple(_pair(scores, *pair) for pair in pairs)


def _pair(scores: AirsScores, first: str, second: str) -> EloDifference:
    import numpy as np

    ratings = [scores.agents[name].elo.value for name in (first, second)]
    counts = (0, len(scores.tasks))
    if ratings[0] is None or ratings[1] is None:
        none = Estimate(None, None, None, *counts, "players separate")
        return EloDifference(first, second, none, None)
    value = ratings[0] - ratings[1]
    if scores.options.resample is not Resample.MEMBERS and len(scores.tasks) < _MIN_TASKS:
        few = Estimate(value, None, None, *counts, f"fewer than {_MIN_TASKS} tasks")
        return EloDifference(first, second, few, None)
    names = list(scores.agents)
    drawn = scores.elo_replicates
    apart = drawn[:, names.index(first)] - drawn[:, names.index(second)]
    found = percentile_estimate(value, apart, scores.options.plan.level, counts)
    usable = apart[~np.isnan(apart)]
    share = float((usable > 0).mean()) if len(usable) else None
    return EloDifference(first, second, found, share)
