"""The factors of a workflow and all their combinations: cells, masks, edges, pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_FACTORS = 12
MOST_CELLS = 4096
"""Twelve factors of two levels, or six of four."""
_MOST_LEVELS = 10
"""A level is one digit of a mask."""


@dataclass(frozen=True)
class Factor:
    """One thing that can be changed in a workflow.

    Raises:
        InputError: no name, or fewer than two or more than ten levels, or two of one name.
    """

    name: str
    description: str = ""
    levels: tuple[str, ...] = ("off", "on")
    """The first is the baseline; digit d of a mask is level d."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("a factor has no name", todo="Name it.")
        if not 2 <= len(self.levels) <= _MOST_LEVELS or len(set(self.levels)) < len(self.levels):
            raise InputError(
                f"factor {self.name[:40]!r} has the levels {list(self.levels)[:12]}",
                todo="Give two to ten levels with different names.",
            )


def letters(n: int, levels: Sequence[int] | None = None) -> tuple[Factor, ...]:
    """Give factors that are known by letters, with levels `off` and `on`, or numbers."""
    sizes = [2] * n if levels is None else list(levels)
    return tuple(
        Factor(chr(ord("A") + i), "", ("off", "on") if size == 2 else tuple(map(str, range(size))))
        for i, size in enumerate(sizes)
    )


class Space:
    """All combinations of the factors' levels; use `space_of`, which shares them.

    A *cell* is a number from 0; its *mask* is one digit per factor, the first factor first,
    and cells are in the order of their masks.
    """

    def __init__(self, levels: tuple[int, ...]) -> None:
        self.levels = levels
        self.k = len(levels)
        self.n_cells = math.prod(levels)
        self.binary = set(levels) == {2}
        cells = np.arange(self.n_cells)
        self._places: NDArray[np.int64] = np.cumprod([1, *reversed(levels[1:])])[::-1]
        self.codes: NDArray[np.int64] = (cells[:, None] // self._places) % np.array(levels)
        """Level of each factor, (n_cells, k)."""
        self.masks: tuple[str, ...] = tuple("".join(map(str, row)) for row in self.codes.tolist())
        self._cells = {mask: cell for cell, mask in enumerate(self.masks)}
        order = np.lexsort((cells, self.codes.sum(axis=1)))
        self.preferred: NDArray[np.int64] = order
        """Cells by how little they switch on, then by mask: who wins a tie of utilities."""

    @property
    def anchors(self) -> tuple[int, int]:
        """The cells that are given for nothing: all factors at their first and last level."""
        return 0, self.n_cells - 1

    def cell(self, mask: object) -> int:
        """Give the cell of a mask.

        Raises:
            InputError: it is none of this space.
        """
        if isinstance(mask, str) and mask in self._cells:
            return self._cells[mask]
        form = "0 or 1" if self.binary else "a level"
        raise InputError(
            f"{str(mask)[:40]!r} is no mask",
            todo=f"Give {self.k} digits, each {form}, such as {self.masks[-2]}.",
        )

    def cells_at(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the cells of rows of levels, (n, k)."""
        return np.asarray(codes @ self._places)

    def best(self, table: NDArray[np.float64]) -> int:
        """Give the cell with the largest utility; of several, the first of `preferred`."""
        return int(self.preferred[table[self.preferred].argmax()])

    @cached_property
    def masks_set(self) -> frozenset[str]:
        """All masks."""
        return frozenset(self._cells)

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of cells (higher, lower) that differ in one factor: the conditional effects.

        A factor with more than two levels gives an effect for each pair of its levels.
        Ordered by factor; `edge_factor` says which.
        """
        cells = np.arange(self.n_cells).reshape(self.levels)
        high, low = [], []
        for factor, size in enumerate(self.levels):
            for a, b in combinations(range(size), 2):
                low.append(cells.take(a, axis=factor).ravel())
                high.append(cells.take(b, axis=factor).ravel())
        return np.concatenate(high), np.concatenate(low)

    @cached_property
    def edge_factor(self) -> NDArray[np.int64]:
        """The factor that each edge changes."""
        counts = [self.n_cells // size * math.comb(size, 2) for size in self.levels]
        return np.repeat(np.arange(self.k), counts)

    @cached_property
    def pair_contrasts(self) -> NDArray[np.float64]:
        """Rows that give each pair interaction from the table: (n_pairs, n_cells).

        A pair interaction is the mean of the second difference over the other factors; with
        more levels there is one per pair of levels of either factor.
        """
        rows = []
        for a, b in combinations(range(self.k), 2):
            scale = self.levels[a] * self.levels[b] / self.n_cells
            for a_low, a_high in combinations(range(self.levels[a]), 2):
                sign_a = (self.codes[:, a] == a_high) * 1.0 - (self.codes[:, a] == a_low)
                for b_low, b_high in combinations(range(self.levels[b]), 2):
                    sign_b = (self.codes[:, b] == b_high) * 1.0 - (self.codes[:, b] == b_low)
                    rows.append(sign_a * sign_b * scale)
        return np.array(rows).reshape(len(rows), self.n_cells)

    def differing(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        """Say in which factors cells differ: (n_left, n_right), factor A is the highest bit."""
        if self.binary:
            return left[:, None] ^ right[None, :]
        found = np.zeros((left.size, right.size), dtype=np.int64)
        for factor in range(self.k):
            unequal = self.codes[left, factor][:, None] != self.codes[right, factor][None, :]
            found = (found << 1) | unequal
        return found

    @cached_property
    def pattern_bits(self) -> NDArray[np.int64]:
        """The bits of each pattern of `differing`: (2^k, k), factor A first."""
        return (np.arange(2**self.k)[:, None] >> np.arange(self.k - 1, -1, -1)) & 1

    def edge_square_sums(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the squared differences along all edges, for each column of (n_cells, m)."""
        shaped = columns.reshape(*self.levels, -1)
        total: NDArray[np.float64] = np.zeros(columns.shape[1])
        for factor, size in enumerate(self.levels):
            for a, b in combinations(range(size), 2):
                change = shaped.take(b, axis=factor) - shaped.take(a, axis=factor)
                flat = change.reshape(-1, columns.shape[1])
                total += np.einsum("ij,ij->j", flat, flat)
        return total


@lru_cache(maxsize=64)
def space_of(levels: tuple[int, ...]) -> Space:
    """Give the space of so many levels per factor.

    Raises:
        InputError: fewer than two factors, more than twelve, or more than 4096 cells.
    """
    if not 2 <= len(levels) <= MOST_FACTORS or any(not 2 <= n <= _MOST_LEVELS for n in levels):
        raise InputError(
            f"factors with the levels {list(levels)}",
            todo="Give two to twelve factors with two to ten levels each.",
        )
    if math.prod(levels) > MOST_CELLS:
        raise InputError(
            f"{math.prod(levels)} combinations are more than {MOST_CELLS}",
            todo="Leave factors or levels out.",
        )
    return Space(levels)
