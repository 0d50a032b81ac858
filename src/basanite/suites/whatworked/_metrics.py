"""How well a table of utilities tells what worked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ._space import Space

PROFILE = (0.025, 0.05, 0.1, 0.2, 0.4)
"""Tolerances of the profile, as shares of the truth's range; strict is the third."""
_STRICT = 0.1
NOTHING = 1e-12
"""Differences of utility up to this are rounding."""
_NEAR = 0.02
SIGN_FLOORS = (0.0, 0.01, 0.05, 0.1)
"""Floors of a sign reversal, as shares of the truth's range; the first is 1e-12 of utility."""


@dataclass(frozen=True)
class Truth:
    """A table of true utilities with what scoring needs of it, computed once."""

    space: Space
    values: NDArray[np.float64]
    effects: NDArray[np.float64]
    pairs: NDArray[np.float64]
    effect_size: float
    """Mean size of the effects."""
    spread: float
    """Largest less smallest utility."""
    best: float

    @classmethod
    def of(cls, space: Space, values: NDArray[np.float64]) -> Truth:
        """Take a table, (n_cells,)."""
        high, low = space.edges
        effects = values[high] - values[low]
        best = float(values.max())
        return cls(
            space,
            values,
            effects,
            space.pair_contrasts @ values,
            float(np.abs(effects).mean()),
            best - float(values.min()),
            best,
        )


@dataclass(frozen=True, slots=True)
class TableScore:
    """All figures of one table. Errors are in units of utility."""

    recovery: float
    """max(0, 1 - effect_mae / mean size of the true effects)."""
    effect_mae: float
    """Mean absolute error over all conditional effects."""
    effect_max: float
    """Largest absolute error of a conditional effect."""
    pair_mae: float
    grid_mae: float
    choice: str
    """Mask of the best cell of the table."""
    regret: float
    """What the choice gives away in truth."""
    exact: bool
    near: bool
    """Regret of at most .02."""
    strict: bool
    """No effect is wrong by more than 10 % of the truth's range."""
    profile: tuple[bool, ...]
    """Strict at 2.5, 5, 10, 20 and 40 %."""

    def to_json(self) -> dict[str, object]:
        """Give the figures by name."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "profile": list(self.profile)
        }


def complete(
    predicted: NDArray[np.float64], measured: Mapping[int, float] | None
) -> NDArray[np.float64]:
    """Put measured values over predicted ones."""
    table = np.array(predicted, dtype=float)
    for cell, value in (measured or {}).items():
        table[cell] = value
    return table


def score_table(truth: Truth, table: NDArray[np.float64]) -> TableScore:
    """Score a completed table, (n_cells,) in the order of cells."""
    space = truth.space
    high, low = space.edges
    errors = np.abs(table[high] - table[low] - truth.effects)
    mae, worst = float(errors.mean()), float(errors.max())
    if truth.effect_size <= NOTHING:
        recovery = 1.0 if mae <= NOTHING else 0.0
    else:
        recovery = max(0.0, 1.0 - mae / truth.effect_size)
    choice = space.best(table)
    regret = truth.best - float(truth.values[choice])
    return TableScore(
        recovery=recovery,
        effect_mae=mae,
        effect_max=worst,
        pair_mae=float(np.abs(space.pair_contrasts @ table - truth.pairs).mean()),
        grid_mae=float(np.abs(table - truth.values).mean()),
        choice=space.masks[choice],
        regret=regret,
        exact=regret <= NOTHING,
        near=regret <= _NEAR,
        strict=worst <= max(NOTHING, _STRICT * truth.spread),
        profile=tuple(worst <= max(NOTHING, share * truth.spread) for share in PROFILE),
    )


def sign_reversals(truth: Truth, floor: float = 0.0) -> tuple[int, ...]:
    """Give the factors that help somewhere and harm elsewhere.

    Args:
        truth: the table.
        floor: effects up to this share of the table's range count as none.
    """
    least = max(NOTHING, floor * truth.spread)
    factor = truth.space.edge_factor
    return tuple(
        one
        for one in range(truth.space.k)
        if (truth.effects[factor == one] > least).any()
        and (truth.effects[factor == one] < -least).any()
    )


def noise_ceiling(truth: Truth, noise_sd: float, replicates: int) -> float:
    """Give the recovery that a perfect table can expect where the truth is a mean of replicates.

    The effects of the reference are wrong by a normal error with a standard deviation of
    sqrt(2 / replicates) noise_sd, whose mean size is sqrt(2 / pi) of it.
    """
    if truth.effect_size <= NOTHING:
        return 0.0 if noise_sd > 0 else 1.0
    wrong = np.sqrt(2 / np.pi) * np.sqrt(2 / replicates) * noise_sd
    return float(max(0.0, 1.0 - wrong / truth.effect_size))
