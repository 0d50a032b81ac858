"""The normalized score of one run: how far it closes the gap from the worst to the best known.

``phi(s) = -log10 |s - s_opt|`` counts the factors of ten that a score is from the optimum, and
``NS = (phi(s) - phi(s_min)) / (phi(s_sota) - phi(s_min))``: 0 for the worst known score, 1 for the
state of the art, more beyond it.

Published and ours differ in three things. A score that is exactly optimal gets a distance of its
own in the published code, ``|0.999 - s_opt|``: right by chance where the optimum is 1, and 0.999
where it is 0, so that a perfect error of 0 is worth less than the state of the art. We take the
task's resolution as the least distance, for every score: what no test set of this size, or no
figure of this many digits, can tell apart counts the same. The published code gives 100 for an
infinite score, which an infinite error gets too; we take no such runs. And it takes the worst score
of the study at hand for ``s_min``, so that one more agent can change all scores; ours is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ._tasks import AirsTask

    Floats = NDArray[np.float64]


def published_gap(score: float, s_opt: float) -> float:
    """Give the distance to the optimum as published: ``|0.999 - s_opt|`` where it would be 0."""
    return abs(0.999 - s_opt) if score == s_opt else abs(score - s_opt)


def published_normalized(
    scores: Sequence[float], valid: Sequence[bool], task: AirsTask, s_min: float
) -> tuple[float, ...]:
    """Give the normalized score of each run as published.

    In this order: a run that is not valid is 0; what is not a number is 0, which is what all
    runs get where ``phi(s_sota)`` and ``phi(s_min)`` are equal; an infinity of either sign is
    100; what is below 0 is 0.

    Args:
        scores: in the task's metric; those of runs that are not valid are not looked at.
        valid: whether each run is.
        task: its direction, optimum and state of the art.
        s_min: worst score; the published one is that of all agents' valid runs in the study.
    """
    import numpy as np

    base, top = (-np.log10(published_gap(one, task.s_opt)) for one in (s_min, task.s_sota))
    if np.isclose(top, base):
        return (0.0,) * len(scores)
    usable = np.asarray(valid, dtype=bool)
    gaps = np.array([published_gap(one, task.s_opt) for one in np.where(usable, scores, s_min)])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (-np.log10(gaps) - base) / (top - base)
    found = np.where(usable, found, 0.0)
    found = np.where(np.isnan(found), 0.0, found)
    found = np.where(np.isinf(found), 100.0, found)
    return tuple(np.maximum(found, 0.0).tolist())


def normalized(
    scores: Sequence[float], valid: Sequence[bool], task: AirsTask, s_min: float
) -> tuple[float, ...] | None:
    """Give the normalized score of each run, no distance less than the task's resolution.

    A run that is not valid is 0, and so is one that is worse than `s_min`.

    Returns:
        None where `s_min` is no worse than the state of the art: there is no scale then.
    """
    import numpy as np

    def phi(values: Floats) -> Floats:
        found: Floats = -np.log10(np.maximum(np.abs(values - task.s_opt), task.resolution))
        return found

    base, top = phi(np.array([s_min, task.s_sota])).tolist()
    if top <= base or np.isclose(top, base):
        return None
    usable = np.asarray(valid, dtype=bool)
    found = (phi(np.where(usable, scores, s_min)) - base) / (top - base)
    return tuple(np.maximum(found, 0.0).tolist())


def worst_of(scores: Sequence[float], task: AirsTask) -> float:
    """Give the worst of valid scores: the largest error, or the least of what should be high."""
    return max(scores) if task.lower_is_better else min(scores)
