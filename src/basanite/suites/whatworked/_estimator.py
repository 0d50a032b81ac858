"""What an estimator is: observations in, a whole table with its uncertainty out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._observations import Observations


@dataclass(frozen=True, eq=False)
class Interval:
    """Lower and upper ends, and the level that they were made for."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """A completed table, and perhaps how sure its maker is."""

    table: NDArray[np.float64]
    """Utility of each cell from 0 to 1, (n_cells,); measured cells hold what was measured."""
    cells: Interval | None = None
    """Of each cell."""
    effects: Interval | None = None
    """Of each conditional effect, in the order of `Space.edges`."""


class Estimator(Protocol):
    """Completes a table from what was measured."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    def complete(self, seen: Observations) -> Estimate:
        """Give the whole table."""
        ...


class Design(Protocol):
    """Says what to measure next."""

    def next(self, seen: Observations, costs: NDArray[np.float64] | None = None) -> int | None:
        """Give the next cell, or None where all are measured.

        Args:
            seen: what was measured.
            costs: of a measurement of each cell, where they differ: what is gained is divided
                by it.
        """
        ...
