"""Games between runs: each run of one agent against each of another on the same task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._study import Study, TaskRuns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SOTA_COPIES = 10
"""Runs that the state of the art counts as on each task."""
_NEAR, _NEAR_PART = 1e-6, 1e-5
"""Scores that differ by no more than this, and this part of the second, are tied."""


@dataclass(frozen=True, slots=True, eq=False)
class Games:
    """What was won; all arrays are (task, player, player), the state of the art the last one."""

    won: Floats
    """How many games the first player won against the second."""
    tied: Floats
    """How many ended in a tie; symmetric."""

    @property
    def points(self) -> Floats:
        """Games won, and half of those tied."""
        return self.won + self.tied / 2

    @property
    def n_games(self) -> int:
        """All games, each counted once."""
        return round(float(self.won.sum() + self.tied.sum() / 2))


def outcomes(runs: TaskRuns) -> Floats:
    """Give (run, run) for one task: 1 where the first beats the second, 0.5 for a tie, else 0.

    The state of the art is one more run, the last. A run that is not valid loses to one that
    is, and two of them tie. Runs of the same agent are compared too, and not to be counted.
    Which of two players is the second matters to ties in the last digit: it is the later name,
    and always the state of the art.
    """
    import numpy as np

    scores = np.append(np.where(runs.valid, runs.scores, 0.0), runs.task.s_sota)
    valid = np.append(runs.valid, True)
    goodness = -scores if runs.task.lower_is_better else scores
    first, second = np.meshgrid(goodness, goodness, indexing="ij", sparse=True)
    tied = np.abs(first - second) <= _NEAR + _NEAR_PART * np.abs(second)
    both = valid[:, np.newaxis] & valid
    better = np.where(both, first > second, valid[:, np.newaxis] > valid)
    # valid == valid.T without both: neither is valid.
    tied = np.where(both, tied, valid[:, np.newaxis] == valid)
    upper = np.triu(np.where(tied, 0.5, better), 1)
    return upper + np.tril(1.0 - upper.T, -1)


def count_games(study: Study) -> Games:
    """Count all games."""
    import numpy as np

    players = len(study.agents) + 1
    won = np.zeros((len(study.tasks), players, players))
    tied = np.zeros_like(won)
    for number, runs in enumerate(study.tasks):
        table = outcomes(runs)
        copies = np.ones(len(table))
        copies[-1] = SOTA_COPIES
        place = np.ix_([number], [*runs.agents, -1], [*runs.agents, -1])
        won[place] = _summed((table == 1.0) * copies[:, np.newaxis] * copies, runs)
        tied[place] = _summed((table == 0.5) * copies[:, np.newaxis] * copies, runs)
    same = np.arange(players)
    won[:, same, same] = tied[:, same, same] = 0.0
    return Games(won, tied)


def _summed(table: Floats, runs: TaskRuns) -> Floats:
    """Add up runs by player."""
    import numpy as np

    starts = np.append(runs.starts, len(runs.scores))
    rows = np.add.reduceat(table, starts, axis=0)
    summed: Floats = np.add.reduceat(rows, starts, axis=1)
    return summed


def battle_rounds(games: Games, rounds: int, seed: int) -> Floats:
    """Give (round, player, player): points after drawing as many games as there were.

    Games are drawn one by one, as published, as if they were independent; each run is in
    hundreds of them.
    """
    import numpy as np

    won, tied = games.won.sum(axis=0), games.tied.sum(axis=0)
    above = np.triu_indices(len(won), 1)
    kinds = np.concatenate([won[above], won.T[above], tied[above]])
    random = np.random.default_rng(seed)
    drawn = random.multinomial(round(kinds.sum()), kinds / kinds.sum(), size=rounds)
    first, second, ties = np.split(drawn.astype(float), 3, axis=1)
    points = np.zeros((rounds, *won.shape))
    points[:, above[0], above[1]] = first + ties / 2
    points[:, above[1], above[0]] = second + ties / 2
    return points
