"""A method: what to measure, and what to make of it. And its path through a workflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._observations import Observations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._estimator import Design, Estimate, Estimator
    from ._reference import Reference


@dataclass(frozen=True, slots=True)
class Method:
    """A design with an estimator."""

    name: str
    design: Design
    estimator: Estimator


@dataclass(frozen=True, eq=False)
class Step:
    """What a method says after a budget."""

    budget: float
    spent: float
    seen: Observations
    estimate: Estimate


def run_path(
    method: Method,
    reference: Reference,
    budgets: Sequence[float],
    *,
    equivalences: bool = False,
    seed: int | Sequence[int] = 0,
) -> list[Step]:
    """Let a method measure up to each of some budgets.

    The designs look at no budget, so that a smaller one is the beginning of a larger one.

    Args:
        method: what measures and estimates.
        reference: what is measured. Where it is noisy, each measurement is its value and a
            normal error, drawn by the seed.
        budgets: in measurements beyond the two anchors, or in the reference's costs.
        equivalences: tell the method which cells run the same code.
        seed: of the errors.

    Returns:
        One step per budget, in the order of the budgets.
    """
    measure = _Measure(reference, seed)
    seen = measure.anchors(equivalences)
    found: dict[float, Step] = {}
    spent = 0.0
    planned: int | None = None
    for budget in sorted(set(budgets)):
        while True:
            if planned is None:
                planned = method.design.next(seen, reference.costs)
            price = 1.0 if reference.costs is None or planned is None else reference.costs[planned]
            if planned is None or not affordable(spent, price, budget):
                break
            seen = seen.joined(planned, measure(planned))
            spent += price
            planned = None
        found[budget] = Step(budget, spent, seen, method.estimator.complete(seen))
    return [found[budget] for budget in budgets]


def affordable(spent: float, price: float, budget: float) -> bool:
    """Say whether a budget holds a price beside what is spent, but for rounding of the sum."""
    return spent + price <= budget * (1 + 1e-12)


class _Measure:
    """Gives utilities as a workflow's runs would."""

    def __init__(self, reference: Reference, seed: int | Sequence[int]) -> None:
        self._reference = reference
        self._rng = np.random.default_rng(seed)

    def __call__(self, cell: int) -> float:
        value = float(self._reference.values[cell])
        if self._reference.noise is None:
            return value
        return value + float(self._rng.normal(0.0, self._reference.noise.sd))

    def anchors(self, equivalences: bool) -> Observations:
        reference = self._reference
        classes = reference.classes if equivalences else None
        cells = reference.space.anchors
        if classes is not None:
            cells = (int(classes[cells[0]]), int(classes[cells[1]]))
        noise_sd = None if reference.noise is None else reference.noise.sd
        distinct = list(dict.fromkeys(cells))
        values = np.array([self(cell) for cell in distinct])
        return Observations(reference.space, np.array(distinct), values, None, noise_sd, classes)
