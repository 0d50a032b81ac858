"""A board: what several agents reached on the same tasks, over one or more trials."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

from ..errors import InputError

LARGEST = 1e100
"""Largest size of a value: differences, their squares and sums over all rows stay finite."""

_SHOWN = 80
"""Most characters of a name in a message."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One trial of one agent on one task: a value, or the reason why there is none.

    Raises:
        InputError: an empty name, a value that is no finite number or beyond 1e100, neither a
            value nor a reason or both, or a cost that is negative or no finite number.
    """

    agent: str
    task: str
    trial: str
    """Tells the trials (runs, seeds) of an agent on a task apart."""
    value: float | None
    """In the board's unit; None where there is none."""
    unscored_reason: str | None = None
    """Why there is no value, in a few words."""
    cost: float | None = None
    """What the trial cost, in the board's `cost_unit`; None where it is not known."""
    group: str | None = None
    """What the task belongs to, such as a difficulty; None for no group."""
    cluster: str | None = None
    """What tasks share that makes them alike, such as the paper that their data are from:
    intervals and tests take all tasks of a cluster together. None: each task for itself."""

    def __post_init__(self) -> None:
        for name in ("agent", "task", "trial"):
            _check_name(name, getattr(self, name), self.where)
        if self.value is not None:
            _check_number("value", self.value, self.where)
            if abs(self.value) > LARGEST:
                raise InputError(
                    f"the value is {self.value!r}, whose size is beyond {LARGEST:g}",
                    where=self.where,
                    todo="Give all values in a larger unit.",
                )
        if (self.value is None) == (self.unscored_reason is None):
            both = "both a value and" if self.value is not None else "neither a value nor"
            raise InputError(
                f"has {both} an unscored_reason", where=self.where, todo="Give one of the two."
            )
        if self.unscored_reason is not None:
            _check_name("unscored_reason", self.unscored_reason, self.where)
        if self.group is not None:
            _check_name("group", self.group, self.where)
        if self.cluster is not None:
            _check_name("cluster", self.cluster, self.where)
        if self.cost is not None:
            _check_number("cost", self.cost, self.where)
            if not 0 <= self.cost <= LARGEST:
                raise InputError(
                    f"the cost is {self.cost!r}", where=self.where, todo="Give one of 0 or more."
                )

    @property
    def where(self) -> str:
        """The row in a message."""
        named = (str(name)[:_SHOWN] for name in (self.agent, self.task, self.trial))
        return "agent {}, task {}, trial {}".format(*named)


@dataclass(frozen=True, slots=True)
class BoardCell:
    """All trials of one agent on one task."""

    values: tuple[float, ...]
    """Of the scored trials, in the order of the rows."""
    unscored: dict[str, int]
    """Reasons of the trials without a value, with their counts."""
    group: str | None
    cluster: str | None = None

    @property
    def mean(self) -> float | None:
        """Mean over the scored trials; None where there are none."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        """Sample standard deviation over the scored trials; None for fewer than two."""
        if len(self.values) < 2:
            return None
        return math.sqrt(self.squares / (len(self.values) - 1))

    @property
    def squares(self) -> float:
        """Sum of squared deviations from the mean."""
        mean = self.mean
        return 0.0 if mean is None else math.fsum((value - mean) ** 2 for value in self.values)

    @property
    def n_trials(self) -> int:
        """Trials, scored or not."""
        return len(self.values) + sum(self.unscored.values())


@dataclass(frozen=True)
class Board:
    """One measure of several agents on the same tasks.

    Raises:
        InputError: no rows, an agent's trial of a task that stands twice, a value beyond the
            scale, an agent's task in two groups, a task in two clusters, or a scale whose ends
            don't fit.
    """

    title: str
    measure: str
    """What a value is, as it is written on an axis: `F1`, `recovery`."""
    rows: tuple[BoardRow, ...]
    scale: tuple[float | None, float | None] = (None, None)
    """Lowest and highest value that there can be; None for an end that is not known."""
    higher_is_better: bool = True
    notes: tuple[str, ...] = ()
    """Sentences that belong to these numbers wherever they are shown."""
    cost_unit: str = "USD"

    def __post_init__(self) -> None:
        low, high = self.scale
        for end in self.scale:
            if end is not None:
                _check_number("scale", end, self.title)
        if low is not None and high is not None and low >= high:
            raise InputError(
                f"the scale goes from {low:g} to {high:g}",
                where=self.title,
                todo="Give its lower end first.",
            )
        if not self.rows:
            raise InputError("holds no rows", where=self.title, todo="Give it some.")
        seen: set[tuple[str, str, str]] = set()
        groups: dict[tuple[str, str], str | None] = {}
        clusters: dict[str, str | None] = {}
        for row in self.rows:
            if (row.agent, row.task, row.trial) in seen:
                raise InputError(
                    "stands twice", where=row.where, todo="Name the trials of a task differently."
                )
            seen.add((row.agent, row.task, row.trial))
            self._check_value(row)
            if groups.setdefault((row.agent, row.task), row.group) != row.group:
                raise InputError(
                    f"its group is {row.group!r}, and that of another trial "
                    f"{groups[row.agent, row.task]!r}",
                    where=row.where,
                    todo="Give an agent's task one group.",
                )
            if clusters.setdefault(row.task, row.cluster) != row.cluster:
                raise InputError(
                    f"its cluster is {row.cluster!r}, and that of another row of this task "
                    f"{clusters[row.task]!r}",
                    where=row.where,
                    todo="Give a task one cluster.",
                )

    def _check_value(self, row: BoardRow) -> None:
        low, high = self.scale
        if row.value is None:
            return
        if (low is not None and row.value < low) or (high is not None and row.value > high):
            ends = [f"at least {low:g}" if low is not None else ""]
            ends.append(f"at most {high:g}" if high is not None else "")
            raise InputError(
                f"the value is {row.value!r}",
                where=row.where,
                todo=f"{self.measure} is {' and '.join(filter(None, ends))}.",
            )

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """All agents, in the order of the rows."""
        return tuple(dict.fromkeys(row.agent for row in self.rows))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """All tasks of any agent, in the order of the rows."""
        return tuple(dict.fromkeys(row.task for row in self.rows))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """All groups, in the order of the rows."""
        return tuple(dict.fromkeys(row.group for row in self.rows if row.group is not None))

    @cached_property
    def clustered(self) -> bool:
        """Whether any task has a cluster of its own name."""
        return any(row.cluster is not None for row in self.rows)

    @cached_property
    def cells(self) -> dict[str, dict[str, BoardCell]]:
        """Agent to task to trials; a task that an agent was not tried on is not there."""
        rows: dict[str, dict[str, list[BoardRow]]] = {agent: {} for agent in self.agents}
        for row in self.rows:
            rows[row.agent].setdefault(row.task, []).append(row)
        return {
            agent: {task: _cell(found) for task, found in of_agent.items()}
            for agent, of_agent in rows.items()
        }

    def best_first(self, values: dict[str, float | None]) -> list[str]:
        """Sort agents by a value of the board's unit, those without one at the end."""
        sign = -1 if self.higher_is_better else 1

        def rank(agent: str) -> tuple[bool, float]:
            value = values[agent]
            return value is None, 0.0 if value is None else sign * value

        return sorted(values, key=rank)


def _cell(rows: Iterable[BoardRow]) -> BoardCell:
    found = list(rows)
    return BoardCell(
        values=tuple(float(row.value) for row in found if row.value is not None),
        unscored=dict(Counter(row.unscored_reason for row in found if row.unscored_reason)),
        group=found[0].group,
        cluster=found[0].cluster,
    )


def _check_name(what: str, given: object, where: str) -> None:
    if not isinstance(given, str) or not given.strip():
        raise InputError(
            f"{what} is {str(given)[:_SHOWN]!r}", where=where, todo=f"Give {what} as text."
        )


def _check_number(what: str, given: object, where: str) -> None:
    if not isinstance(given, bool) and isinstance(given, Real):
        try:
            if math.isfinite(float(given)):
                return
        except OverflowError:  # a whole number, or a fraction, beyond all floats
            pass
    raise InputError(
        f"the {what} is {str(given)[:_SHOWN]}, not a finite number",
        where=where,
        todo="Leave out what is missing and say why.",
    )
