"""The truth about a workflow: the utility of every configuration."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ._equivalence import InertRule, classes_by_output, classes_by_rules
from ._metrics import Truth
from ._space import Factor, Space, space_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOLD = 3


@dataclass(frozen=True)
class Noise:
    """What is known of a noisy workflow."""

    sd: float
    """Standard deviation of one run's utility."""
    replicates: int = 1
    """How many runs each value of the reference is the mean of."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sd) and self.sd >= 0 and self.replicates >= 1):
            raise InputError(f"noise with sd {self.sd} and {self.replicates} replicates")


@dataclass(frozen=True, eq=False)
class Reference:
    """Utilities of all cells of a workflow, with what belongs to them.

    Made by `from_values`, which checks. Nothing of it may reach an agent but by a host.
    """

    name: str
    source: str
    """Conditions of one source are averaged before sources are."""
    family: str
    factors: tuple[Factor, ...]
    values: NDArray[np.float64] = field(repr=False)
    """Utility from 0 to 1 of each cell, in the order of masks."""
    classes: NDArray[np.int64] | None = field(default=None, repr=False)
    """Representative of each cell, where some cells run the same code."""
    rules: tuple[InertRule, ...] = ()
    costs: NDArray[np.float64] | None = field(default=None, repr=False)
    """Cost of a measurement of each cell, in any unit; one each where None."""
    noise: Noise | None = None

    @classmethod
    def from_values(
        cls,
        name: str,
        values: Mapping[str, float] | Sequence[float],
        factors: Sequence[Factor],
        *,
        source: str | None = None,
        family: str = "own",
        rules: Iterable[InertRule] = (),
        classes: NDArray[np.int64] | None = None,
        costs: Mapping[str, float] | Sequence[float] | None = None,
        noise: Noise | None = None,
    ) -> Reference:
        """Make a reference from what enumerating a workflow gave.

        Args:
            name: of the condition.
            values: utility of each mask, or of all cells in the order of masks.
            factors: what the digits of a mask stand for.
            source: what it shares with other conditions on the same data; its name by default.
            family: kind of workflow.
            rules: which factors do nothing under which level of another.
            classes: representative of each cell, as `classes_by_output` gives; by the rules
                where left out.
            costs: of one measurement each, above 0.
            noise: where runs with one configuration differ.

        Raises:
            InputError: a mask is missing or unknown, or a value is no number from 0 to 1.
        """
        space = space_of(tuple(len(one.levels) for one in factors))
        rules = tuple(rules)
        if rules:  # also where classes are given: a rule must fit the factors
            by_rules = classes_by_rules(space, rules)
            classes = by_rules if classes is None else classes
        if classes is not None and classes.shape != (space.n_cells,):
            raise InputError(f"{classes.size} classes for {space.n_cells} cells", where=name)
        table = table_of(space, values, where=name)
        cost_table = None
        if costs is not None:
            cost_table = table_of(space, costs, where=f"{name}, costs", most=math.inf)
            if not (cost_table > 0).all():
                raise InputError("a cost is 0", where=name, todo="Give costs above 0.")
        return cls(
            name, source or name, family, tuple(factors), table, classes, rules, cost_table, noise
        )

    @cached_property
    def space(self) -> Space:
        """All combinations of the factors' levels."""
        return space_of(tuple(len(one.levels) for one in self.factors))

    @cached_property
    def truth(self) -> Truth:
        """The values with what scoring needs."""
        return Truth.of(self.space, self.values)

    @cached_property
    def sha256(self) -> str:
        """Hash of what an episode depends on: the reference's canonical JSON."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def relabelled(self, order: Sequence[int]) -> Reference:
        """Give the same workflow with its factors in another order.

        Args:
            order: the present number of the factor that becomes first, second, …

        Raises:
            InputError: it is no permutation.
        """
        if sorted(order) != list(range(len(self.factors))):
            raise InputError(f"{list(order)} is no order of {len(self.factors)} factors")
        space = space_of(tuple(self.space.levels[old] for old in order))
        old_codes = np.empty_like(space.codes)
        old_codes[:, list(order)] = space.codes
        old_cells = self.space.cells_at(old_codes)
        new_numbers = {old: new for new, old in enumerate(order)}
        classes = None
        if self.classes is not None:
            # Representatives are the first cells of their classes in the new order.
            classes = classes_by_output(self.classes[old_cells].tolist())
        return replace(
            self,
            factors=tuple(self.factors[old] for old in order),
            values=self.values[old_cells],
            classes=classes,
            rules=tuple(
                InertRule(new_numbers[r.guard], r.level, new_numbers[r.inert]) for r in self.rules
            ),
            costs=None if self.costs is None else self.costs[old_cells],
        )

    def to_json(self) -> dict[str, object]:
        """Give it as `reference_from_json` reads it."""
        body: dict[str, object] = {
            "schema": "basanite.whatworked.reference/1",
            "name": self.name,
            "source": self.source,
            "family": self.family,
            "factors": [
                {"name": f.name, "description": f.description, "levels": list(f.levels)}
                for f in self.factors
            ],
            "truth": dict(zip(self.space.masks, self.values.tolist(), strict=True)),
        }
        if self.classes is not None:
            body["classes"] = [self.space.masks[one] for one in self.classes]
        if self.rules:
            body["rules"] = [[rule.guard, rule.level, rule.inert] for rule in self.rules]
        if self.costs is not None:
            body["costs"] = dict(zip(self.space.masks, self.costs.tolist(), strict=True))
        if self.noise is not None:
            body["noise"] = {"sd": self.noise.sd, "replicates": self.noise.replicates}
        return body


def orders_of(k: int, most: int = 24, seed: int = 0) -> list[tuple[int, ...]]:
    """Give orders of k factors: all where there are at most so many, else a sample by the seed."""
    if math.factorial(k) <= most:
        return list(permutations(range(k)))
    rng = np.random.default_rng(seed)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < most:
        found[tuple(rng.permutation(k).tolist())] = None
    return list(found)


def table_of(
    space: Space,
    values: object,
    *,
    where: str,
    most: float = 1.0,
) -> NDArray[np.float64]:
    """Read a whole table of numbers from 0.

    Args:
        space: of which each mask must be there once.
        values: by mask, or in the order of masks.
        where: for the message.
        most: largest value allowed.

    Raises:
        InputError: it names the first few masks that are missing, unknown or no such number.
    """
    if isinstance(values, Mapping):
        unknown = [str(mask)[:20] for mask in values if mask not in space.masks_set]
        if unknown:
            raise InputError(
                f"{len(unknown)} unknown masks: {_some(unknown)}",
                where=where,
                todo=f"Give the {space.n_cells} masks of {space.k} factors.",
            )
        missing = [mask for mask in space.masks if mask not in values]
        if missing:
            raise InputError(
                f"{len(missing)} of {space.n_cells} masks are missing: {_some(missing)}",
                where=where,
                todo="Give a number for each mask.",
            )
        ordered = [values[mask] for mask in space.masks]
    elif isinstance(values, Sequence | np.ndarray) and not isinstance(values, str):
        ordered = list(values)
        if len(ordered) != space.n_cells:
            raise InputError(
                f"{len(ordered)} values for {space.n_cells} masks",
                where=where,
                todo="Give one for each mask, in their order.",
            )
    else:
        raise InputError("the table is no object of numbers by mask", where=where)
    wrong = [
        f"{mask}: {value!r}"[:60]
        for mask, value in zip(space.masks, ordered, strict=True)
        if not is_number(value, most)
    ]
    if wrong:
        allowed = "from 0 to 1" if most == 1 else "of at least 0"
        raise InputError(
            f"no numbers {allowed}: {_some(wrong)}", where=where, todo="Correct these masks."
        )
    return np.array(ordered, dtype=float)


def is_number(value: object, most: float = 1.0) -> bool:
    """Say whether it is a finite number from 0 to `most`, and no boolean."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    number = float(value)
    return math.isfinite(number) and 0 <= number <= most


def _some(names: Sequence[str]) -> str:
    more = len(names) - _TOLD
    return ", ".join(names[:_TOLD]) + (f" and {more} more" if more > 0 else "")
