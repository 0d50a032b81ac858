"""The numbers of a run, as exports take them; `basanite.reports.Summary` has this shape.

They are counted on a higher floor, so that whoever exports hands in what counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..schema import Usage


class MeanNumbers(Protocol):
    """A mean with its interval and standard error, or with the reason why they are missing."""

    @property
    def value(self) -> float | None: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...

    @property
    def error(self) -> float | None: ...

    @property
    def n(self) -> int: ...

    @property
    def n_clusters(self) -> int: ...

    @property
    def reason(self) -> str | None: ...


class ScoreNumbers(Protocol):
    """One score over all items of a run."""

    @property
    def mean(self) -> MeanNumbers: ...

    @property
    def n_total(self) -> int: ...

    @property
    def unscored(self) -> Mapping[str, int]:
        """Reason to number of items without this score."""
        ...

    @property
    def is_left_out(self) -> bool:
        """Whether no item has this score, and none could."""
        ...


class RunNumbers(Protocol):
    """All that an export says of a run as a whole."""

    @property
    def primary(self) -> str: ...

    @property
    def n_total(self) -> int: ...

    @property
    def n_scored(self) -> int: ...

    @property
    def scores(self) -> Mapping[str, ScoreNumbers]:
        """By name, the primary one first."""
        ...

    @property
    def usage(self) -> Usage: ...
