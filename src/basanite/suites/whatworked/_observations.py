"""What an agent has measured, as estimators take it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ._space import Space


@dataclass(frozen=True, eq=False)
class Observations:
    """Measured cells of one workflow, each once.

    With code equivalences the cells are representatives, and all that an estimator does it does
    on the representatives' levels.
    """

    space: Space
    cells: NDArray[np.int64]
    """In the order in which they were measured, (n,)."""
    values: NDArray[np.float64]
    """Mean over the runs of each cell, (n,)."""
    counts: NDArray[np.int64] | None = None
    """Runs of each cell; one each where None."""
    noise_sd: float | None = None
    """Standard deviation of one run where the workflow is noisy and it is known."""
    classes: NDArray[np.int64] | None = field(default=None, repr=False)

    @classmethod
    def from_masks(
        cls,
        space: Space,
        measured: Mapping[str, float],
        classes: NDArray[np.int64] | None = None,
    ) -> Observations:
        """Take utilities by mask, in the order in which they were measured.

        With `classes`, the first value of each class stands for all of it.

        Raises:
            InputError: an unknown mask, or none at all.
        """
        found: dict[int, float] = {}
        for mask, value in measured.items():
            cell = space.cell(mask)
            found.setdefault(int(classes[cell]) if classes is not None else cell, float(value))
        if not found:
            raise InputError("nothing was measured", todo="Give at least one measurement.")
        return cls(space, np.array(list(found)), np.array(list(found.values())), classes=classes)

    @property
    def all_cells(self) -> NDArray[np.int64]:
        """The cell whose levels stand for each cell, (n_cells,)."""
        return np.arange(self.space.n_cells) if self.classes is None else self.classes

    def candidates(self) -> NDArray[np.int64]:
        """Cells that are not measured: with equivalences, their representatives."""
        free = np.ones(self.space.n_cells, dtype=bool)
        if self.classes is not None:
            free = self.classes == np.arange(self.space.n_cells)
        free[self.cells] = False
        return np.flatnonzero(free)

    def overwrite(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Put what was measured over a table; a noisy measurement is not put over it."""
        table = table.copy()
        if self.noise_sd is None:
            table[self.cells] = self.values
            if self.classes is not None:
                own = np.isin(self.classes, self.cells)
                table[own] = table[self.classes[own]]
        return table

    def joined(self, cell: int, value: float) -> Observations:
        """Give the observations with one more run."""
        counts = self.counts if self.counts is not None else np.ones(self.cells.size, dtype=int)
        at = np.flatnonzero(self.cells == cell)
        if at.size:
            values, counts = self.values.copy(), counts.copy()
            values[at] += (value - values[at]) / (counts[at] + 1)
            counts[at] += 1
            cells = self.cells
        else:
            cells, values = np.append(self.cells, cell), np.append(self.values, value)
            counts = np.append(counts, 1)
        kept = None if (counts == 1).all() else counts
        return Observations(self.space, cells, values, kept, self.noise_sd, self.classes)
