"""Strengths of players from the games between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ELO_PER_UNIT = 400 / math.log(10)
"""Elo points in one unit of strength (a natural logarithm of odds)."""
ELO_MEAN = 1000.0

_STEPS = 100
_ENOUGH = 1e-11
"""A Newton step below this ends the fit; the next one would be its square."""
_LONGEST = 2.0
"""Longest step of a strength: from far away, Newton's own would overshoot."""


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """A fit, or the reason why there is none."""

    strengths: tuple[float, ...] | None
    """Natural log odds with mean 0, one for each player; None where the players separate."""
    groups: tuple[tuple[int, ...], ...]
    """Players by number, those with finite strengths relative to each other in one group; the
    players of a group never lost to those of some other group, or never met them."""

    @property
    def separated(self) -> bool:
        """Whether no finite strengths fit best."""
        return len(self.groups) > 1

    def elo(self) -> tuple[float, ...] | None:
        """Give the strengths as Elo ratings of mean 1000: 400 points are odds of ten to one."""
        if self.strengths is None:
            return None
        return tuple(ELO_MEAN + ELO_PER_UNIT * one for one in self.strengths)


def bradley_terry(wins: Sequence[Sequence[float]], prior: float = 0.0) -> BradleyTerry:
    """Fit strengths by maximum likelihood, so that i beats j with odds ``exp(t_i - t_j)``.

    A tie is half a win for each. The fit is a Newton iteration on the concave log-likelihood,
    the same as a logistic regression without intercept or penalty on one column a player
    (Bradley and Terry, Biometrika 39 (1952), 324-345). Finite strengths exist exactly where,
    however the players are parted in two, someone of each part has beaten someone of the other
    (Ford, Am. Math. Monthly 64 (1957), 28-33): elsewhere the players separate, and there is no
    fit. A prior makes one: so many drawn games between each two players, which is the
    conjugate prior of the model (Davidson and Solomon, Biometrika 60 (1973), 477-487) and
    pulls strengths together.

    Args:
        wins: `wins[i][j]` is the weight of the games that i won against j, not negative; the
            diagonal is not read.
        prior: drawn games added between each two players; 0 for none.

    Raises:
        InputError: the table is not square, has fewer than two players, or holds a number that
            is negative or not finite; or the prior is.
    """
    import numpy as np

    table = np.asarray(wins, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise InputError(
            f"the table of wins has the shape {table.shape}",
            todo="Give one row and one column for each of two or more players.",
        )
    strengths = bradley_terry_many(table[np.newaxis], prior)[0]
    if np.isnan(strengths).any():
        return BradleyTerry(None, _groups(table))
    return BradleyTerry(tuple(strengths.tolist()), (tuple(range(len(table))),))


def bradley_terry_many(wins: Floats, prior: float = 0.0) -> Floats:
    """Fit many tables at once, such as those of a bootstrap.

    Args:
        wins: (table, player, player), as for `bradley_terry`.
        prior: as there.

    Returns:
        Strengths (table, player) with mean 0; a row of NaN where the players separate.

    Raises:
        InputError: as `bradley_terry`.
    """
    import numpy as np

    if not (math.isfinite(prior) and prior >= 0):
        raise InputError(f"the prior is {prior}", todo="Give 0, or a number of drawn games.")
    table = np.array(wins, dtype=np.float64)
    players = np.arange(table.shape[-1])
    table[:, players, players] = 0.0
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise InputError(
            "a number of wins is negative or not finite", todo="Give weights of 0 or more."
        )
    if prior:
        table += prior / 2
        table[:, players, players] = 0.0
    strengths = np.full(table.shape[:2], np.nan)
    connected = _reach(table).all(axis=(1, 2))
    if connected.any():
        strengths[connected] = _newton(table[connected])
    return strengths


def _newton(table: Floats) -> Floats:
    """Climb the log-likelihood of each table; all of them have their top at a finite place."""
    import numpy as np

    # Weights matter only relative to each other: a mean of one game keeps the numbers tame.
    table = table / table.sum(axis=(1, 2), keepdims=True)
    games = table + table.swapaxes(1, 2)
    won = table.sum(axis=2)
    found = np.zeros(table.shape[:2])
    active = np.arange(len(table))
    for _ in range(_STEPS):
        step = _step(found[active], won[active], games[active])
        longest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, _LONGEST / np.maximum(longest, _LONGEST))[:, np.newaxis]
        found[active] += _shortened(table[active], found[active], step)
        active = active[longest > _ENOUGH]
        if not len(active):
            break
    centred: Floats = found - found.mean(axis=1, keepdims=True)
    return centred


def _step(strengths: Floats, won: Floats, games: Floats) -> Floats:
    import numpy as np

    chance = _chances(strengths)
    gradient = won - (games * chance).sum(axis=2)
    curvature = games * chance * chance.swapaxes(1, 2)
    players = np.arange(strengths.shape[1])
    hessian = -curvature
    hessian[:, players, players] = curvature.sum(axis=2)
    # A common shift of all strengths changes nothing; the constant fixes it at none.
    hessian += hessian[:, players, players].mean(axis=1)[:, np.newaxis, np.newaxis] / len(players)
    solved: Floats = np.linalg.solve(hessian, gradient[..., np.newaxis])[..., 0]
    return solved


def _chances(strengths: Floats) -> Floats:
    """Give the probability (table, i, j) that i beats j."""
    import numpy as np

    apart = strengths[:, :, np.newaxis] - strengths[:, np.newaxis, :]
    chances: Floats = 1 / (1 + np.exp(-apart))
    return chances


def _shortened(table: Floats, strengths: Floats, step: Floats) -> Floats:
    """Halve the steps that would lead down."""
    import numpy as np

    before = _log_likelihood(table, strengths)
    for _ in range(30):
        # Rounding alone must not shorten the last steps.
        down = _log_likelihood(table, strengths + step) < before - 1e-12
        if not down.any():
            break
        step = np.where(down[:, np.newaxis], step / 2, step)
    return step


def _log_likelihood(table: Floats, strengths: Floats) -> Floats:
    import numpy as np

    apart = strengths[:, :, np.newaxis] - strengths[:, np.newaxis, :]
    total: Floats = -(table * np.logaddexp(0.0, -apart)).sum(axis=(1, 2))
    return total


def _reach(table: Floats) -> NDArray[np.bool_]:
    """Give (table, i, j): whether a chain of wins leads from i to j."""
    import numpy as np

    players = table.shape[-1]
    reach = (table > 0).astype(np.float32)
    reach[:, np.arange(players), np.arange(players)] = 1.0
    for _ in range(max(1, math.ceil(math.log2(players)))):
        reach = np.minimum(reach @ reach, 1.0)
    return reach > 0


def _groups(table: Floats) -> tuple[tuple[int, ...], ...]:
    import numpy as np

    reach = _reach(table[np.newaxis])[0]
    both = reach & reach.T
    groups = {tuple(int(one) for one in np.flatnonzero(row)) for row in both}
    return tuple(sorted(groups))
