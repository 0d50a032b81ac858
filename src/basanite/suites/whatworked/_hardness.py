"""How hard a workflow is to learn: what each built-in method recovers, by budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ._methods import METHODS, method_named
from ._metrics import score_table
from ._path import run_path
from ._reference import orders_of

if TYPE_CHECKING:
    from ._reference import Reference

_BUDGETS = (0, 2, 4, 6, 8, 12, 16, 24, 32, 48)
_MOST_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class HardnessPoint:
    """A method's figures at a budget, over orders of the factors."""

    method: str
    budget: float
    """Measurements beyond the two anchors, or cost where the reference has costs."""
    recovery: float
    """Mean."""
    recovery_sd: float | None
    """Standard deviation over orders; None for a single one."""
    exact: float
    """Share of orders in which the best configuration is found."""

    def to_json(self) -> dict[str, object]:
        """Give the figures by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def default_budgets(reference: Reference) -> tuple[float, ...]:
    """Give budgets up to three quarters of the cells, at most 48, in the reference's unit."""
    most = _MOST_SHARE * (reference.space.n_cells - 2)
    unit = 1.0 if reference.costs is None else float(reference.costs.mean())
    return tuple(n * unit for n in _BUDGETS if n <= most)


def hardness(
    reference: Reference,
    *,
    methods: Sequence[str] = METHODS,
    budgets: Sequence[float] | None = None,
    orders: int = 4,
    seed: int = 0,
) -> tuple[HardnessPoint, ...]:
    """Let each method measure and estimate up to each budget, in several orders of the factors.

    Ties are broken by the order of factors, so that a single order would show its luck.

    Args:
        reference: the workflow.
        methods: some of `METHODS`.
        budgets: rising; `default_budgets` where left out.
        orders: how many orders, drawn by the seed.
        seed: of the orders and of the method `random`, which has another seed in each order.

    Raises:
        InputError: an unknown method, no orders, or budgets that don't rise.
    """
    chosen = default_budgets(reference) if budgets is None else tuple(budgets)
    if orders < 1 or not chosen or any(b <= a for a, b in pairwise(chosen)):
        raise InputError(f"{orders} orders and the budgets {list(chosen)}"[:200])
    found = []
    sample = _sample(reference.space.k, orders, seed)
    for name in methods:
        scores = []
        for number, order in enumerate(sample):
            moved = reference.relabelled(order)
            steps = run_path(
                method_named(name, seed=seed + number), moved, chosen, seed=(seed, number)
            )
            scores.append([score_table(moved.truth, step.estimate.table) for step in steps])
        for place, budget in enumerate(chosen):
            own = [row[place] for row in scores]
            recoveries = [one.recovery for one in own]
            sd = float(np.std(recoveries, ddof=1)) if len(own) > 1 else None
            exact = float(np.mean([one.exact for one in own]))
            found.append(HardnessPoint(name, budget, float(np.mean(recoveries)), sd, exact))
    return tuple(found)


def _sample(k: int, n: int, seed: int) -> list[tuple[int, ...]]:
    every = orders_of(k, max(n, 24), seed)
    if n >= len(every):
        return every
    picked = np.random.default_rng(seed).choice(len(every), n, replace=False)
    return [every[one] for one in sorted(picked.tolist())]
