"""Configurations that run the same code: by rules, or by what they put out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._space import Space


@dataclass(frozen=True, slots=True)
class InertRule:
    """While factor `guard` has the level `level`, factor `inert` changes nothing."""

    guard: int
    level: int
    inert: int

    def __str__(self) -> str:
        guard, inert = chr(ord("A") + self.guard), chr(ord("A") + self.inert)
        return f"{guard}={self.level} makes {inert} inert"


def classes_by_rules(space: Space, rules: Iterable[InertRule]) -> NDArray[np.int64]:
    """Give the representative of each cell: its inert factors at their first level.

    Returns:
        A cell for each cell, (n_cells,); a representative is the first cell of its class.

    Raises:
        InputError: a rule names a factor or a level that is not there.
    """
    codes = space.codes.copy()
    rules = tuple(rules)
    for rule in rules:
        if not (0 <= rule.guard < space.k and 0 <= rule.inert < space.k) or not (
            0 <= rule.level < space.levels[rule.guard] and rule.guard != rule.inert
        ):
            raise InputError(f"the rule {rule} does not fit {space.k} factors")
    changed = True
    while changed:  # one rule's inert factor may be another's guard
        before = codes.copy()
        for rule in rules:
            codes[codes[:, rule.guard] == rule.level, rule.inert] = 0
        changed = not np.array_equal(before, codes)
    return space.cells_at(codes)


def classes_by_output(hashes: Sequence[Hashable]) -> NDArray[np.int64]:
    """Give the representative of each cell: the first cell with an equal output.

    Args:
        hashes: one per cell, in the order of cells; None equals no other.
    """
    first: dict[Hashable, int] = {}
    return np.array(
        [cell if one is None else first.setdefault(one, cell) for cell, one in enumerate(hashes)]
    )


def rules_from_classes(space: Space, classes: NDArray[np.int64]) -> tuple[InertRule, ...]:
    """Find the rules with one guard that hold in all cells.

    A factor that is inert everywhere is reported under each guard and level.
    """
    found = []
    high, low = space.edges
    for guard in range(space.k):
        for level in range(space.levels[guard]):
            inside = space.codes[:, guard] == level
            for inert in range(space.k):
                if inert == guard:
                    continue
                along = (space.edge_factor == inert) & inside[high]
                if np.array_equal(classes[high[along]], classes[low[along]]):
                    found.append(InertRule(guard, level, inert))
    return tuple(found)
