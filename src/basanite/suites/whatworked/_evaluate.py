"""One method on many references: macro means, counts, and what the order of factors does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...errors import InputError
from ...stats import clustered_mean
from ._estimator import Estimate
from ._library import ADDED_FAMILIES
from ._methods import method_named
from ._metrics import TableScore, noise_ceiling, score_table
from ._observations import Observations
from ._path import run_path
from ._reference import Noise, Reference, orders_of

RANDOM_SEEDS = 20
"""Designs of the method `random`, as in the published study."""


@dataclass(frozen=True)
class EvaluateOptions:
    """What a method is given, and what is averaged over."""

    budget: float = 8
    """Measurements beyond the anchors, or cost where references have costs."""
    equivalences: bool = False
    """Tell the method which configurations run the same code, where that is known."""
    orders: Literal["published", "all"] = "published"
    """The published order of factors with the published designs; or all orders (with more than
    24, so many by the seed) with designs whose ties don't depend on the machine."""
    most_orders: int = 24
    seed: int = 0
    noise: float | None = None
    """Add errors of this share of the table's range to each measurement."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.budget) and self.budget >= 0):
            raise InputError(f"the budget is {self.budget}", todo="Give 0 or more.")
        if self.noise is not None and not 0 < self.noise <= 1:
            raise InputError(f"the noise is {self.noise}", todo="Give a share above 0.")
        if self.orders not in ("published", "all") or self.most_orders < 1:
            raise InputError(f"{self.most_orders} orders of the set {self.orders!r}")
        if self.seed < 0:
            raise InputError(f"the seed is {self.seed}", todo="Give 0 or more.")


@dataclass(frozen=True)
class Coverage:
    """How many true values the intervals hold, and how wide those are."""

    cells: float
    """Share of the cells that were not measured."""
    effects: float
    """Share of the effects with an end that was not measured."""
    width: float
    """Mean width of those cells' intervals."""
    level: float
    n_cells: int


@dataclass(frozen=True)
class Trial:
    """One path: a method on a reference with one order of factors and one seed."""

    reference: str
    order: tuple[int, ...]
    score: TableScore
    spent: float
    inside: tuple[int, int, int, int, float] | None = None
    """Cells held, cells, effects held, effects, sum of widths."""


@dataclass(frozen=True)
class Evaluation:
    """What a method reached."""

    method: str
    options: EvaluateOptions
    references: tuple[Reference, ...]
    left_out: tuple[str, ...]
    trials: tuple[tuple[Trial, ...], ...]
    """For each order or seed, a trial of each reference."""
    level: float | None

    def recoveries(self) -> list[float]:
        """Give the family-macro recovery of each order or seed."""
        return [
            family_macro(self.references, [trial.score.recovery for trial in trials])
            for trials in self.trials
        ]

    def to_json(self) -> dict[str, object]:
        """Give all figures; means over orders or seeds where there are several."""
        runs = self.recoveries()
        several = len(runs) > 1

        def mean(values: Iterable[float]) -> float:
            return float(np.mean(list(values)))

        scores = [[trial.score for trial in trials] for trials in self.trials]
        exact = [sum(one.exact for one in run) for run in scores]
        strict = [sum(one.strict for one in run) for run in scores]
        near = [sum(one.near for one in run) for run in scores]
        profiles = np.array([np.sum([one.profile for one in run], axis=0) for run in scores])
        body: dict[str, object] = {
            "method": self.method,
            "budget": self.options.budget,
            "equivalences": self.options.equivalences,
            "orders": self.options.orders,
            "n_orders": len(runs),
            "n_conditions": len(self.references),
            "left_out": list(self.left_out),
            "recovery": mean(runs),
            "recovery_interval": families_interval(
                self.references,
                np.mean([[one.recovery for one in run] for run in scores], axis=0).tolist(),
            ),
            "exact": mean(exact) if several else exact[0],
            "strict": mean(strict) if several else strict[0],
            "near": mean(near) if several else near[0],
            "profile": (profiles.mean(axis=0) if several else profiles[0]).tolist(),
        }
        for name in ("effect_mae", "pair_mae", "grid_mae", "regret"):
            body[name] = mean(
                family_macro(self.references, [getattr(one, name) for one in run]) for run in scores
            )
        if several:
            body["spread"] = {
                "recovery_sd": float(np.std(runs, ddof=1)),
                "recovery_min": min(runs),
                "recovery_max": max(runs),
                "exact_sd": float(np.std(exact, ddof=1)),
                "strict_sd": float(np.std(strict, ddof=1)),
            }
        coverage = self.coverage()
        if coverage is not None:
            body["coverage"] = dict(vars(coverage))
        body["families"] = self._families()
        body["per_source"] = self._per_source()
        return body

    def coverage(self) -> Coverage | None:
        """Pool all trials' intervals; None where the method gives none."""
        inside = [trial.inside for trials in self.trials for trial in trials]
        found = [one for one in inside if one is not None]
        cells, effects = sum(one[1] for one in found), sum(one[3] for one in found)
        if not found or not cells or not effects or self.level is None:
            return None
        return Coverage(
            sum(one[0] for one in found) / cells,
            sum(one[2] for one in found) / effects,
            sum(one[4] for one in found) / cells,
            self.level,
            cells,
        )

    def _families(self) -> dict[str, float]:
        scores = [[trial.score.recovery for trial in run] for run in self.trials]
        return family_means(self.references, np.mean(scores, axis=0).tolist())

    def _per_source(self) -> dict[str, object]:
        found: dict[str, object] = {}
        names = _labels(self.references)
        for place, reference in enumerate(self.references):
            own = [run[place] for run in self.trials]
            row: dict[str, object] = {"family": reference.family, "condition": reference.name}
            row["factors"] = reference.space.k
            if len(own) == 1:
                row |= own[0].score.to_json()
                row["spent"] = own[0].spent
            else:
                recoveries = [one.score.recovery for one in own]
                row["recovery"] = float(np.mean(recoveries))
                row["recovery_sd"] = float(np.std(recoveries, ddof=1))
                for name in ("exact", "strict", "near"):
                    row[name] = float(np.mean([getattr(one.score, name) for one in own]))
            noise = reference.noise
            if noise is not None and noise.replicates > 1:
                row["noise_ceiling"] = noise_ceiling(reference.truth, noise.sd, noise.replicates)
            found[names[place]] = row
        return found


def evaluate(
    method: str, references: Sequence[Reference], options: EvaluateOptions | None = None
) -> Evaluation:
    """Let a method measure and estimate on each reference.

    Args:
        method: one of `METHODS`; `random` is averaged over 20 seeds.
        references: on which; see `select`.
        options: budget, equivalences, orders, noise.

    Raises:
        InputError: an unknown method, or no references.
    """
    options = options or EvaluateOptions()
    if not references:
        raise InputError("there is no reference to evaluate on", todo="Give at least one.")
    published = options.orders == "published"
    rounds = _rounds(references, options)
    seeds = range(RANDOM_SEEDS) if method == "random" else range(1)
    trials, level = [], None
    for number, orders in enumerate(rounds):
        for seed in seeds:
            one = method_named(method, published=published, seed=options.seed + seed)
            run = []
            for place, reference in enumerate(references):
                order = orders[place]
                moved = reference if order is None else reference.relabelled(order)
                if options.noise is not None:
                    moved = replace(moved, noise=Noise(options.noise * moved.truth.spread))
                noise_seed = (options.seed, number, seed, place)
                (step,) = run_path(
                    one,
                    moved,
                    [options.budget],
                    equivalences=options.equivalences,
                    seed=noise_seed,
                )
                inside, own_level = _inside(moved, step.estimate, step.seen)
                level = own_level or level
                score = score_table(moved.truth, step.estimate.table)
                shown = order or tuple(range(moved.space.k))
                run.append(Trial(reference.name, shown, score, step.spent, inside))
            trials.append(tuple(run))
    return Evaluation(method, options, tuple(references), (), tuple(trials), level)


def select(
    references: Sequence[Reference],
    *,
    factors: int | None = None,
    which: Literal["main", "added", "all"] = "main",
) -> tuple[tuple[Reference, ...], tuple[str, ...]]:
    """Choose references by size and by part of the published study.

    Args:
        references: to choose from.
        factors: how many factors; any where None.
        which: `main` leaves the families out that the study added later, where others are left;
            `added` takes only them.

    Returns:
        The chosen, and the names of those of that size that were left out.
    """
    sized = [one for one in references if factors is None or one.space.k == factors]
    added = [one for one in sized if one.family in ADDED_FAMILIES]
    main = [one for one in sized if one.family not in ADDED_FAMILIES]
    chosen = {"all": sized, "added": added, "main": main or added}[which]
    if not chosen:
        size = "" if factors is None else f" of {factors} factors"
        raise InputError(
            f"there are no references{size} in the set {which!r}",
            todo="Leave --factors out, or name other references.",
        )
    names = {one.name for one in chosen}
    return tuple(chosen), tuple(one.name for one in sized if one.name not in names)


def family_macro(references: Sequence[Reference], values: Sequence[float]) -> float:
    """Average conditions in each source, sources in each family, and families equally."""
    return float(np.mean(list(family_means(references, values).values())))


def family_means(references: Sequence[Reference], values: Sequence[float]) -> dict[str, float]:
    """Average conditions in each source and sources in each family."""
    tree: dict[str, dict[str, list[float]]] = {}
    for reference, value in zip(references, values, strict=True):
        tree.setdefault(reference.family, {}).setdefault(reference.source, []).append(value)
    return {
        family: float(np.mean([np.mean(own) for own in sources.values()]))
        for family, sources in tree.items()
    }


def families_interval(
    references: Sequence[Reference], values: Sequence[float], level: float = 0.95
) -> list[float] | None:
    """Give the t interval of `family_macro`, the families being its sample.

    None for fewer than two families, or where all have the same mean.
    """
    means = family_means(references, values)
    found = clustered_mean(list(means.values()), list(means), level)
    return None if found.low is None or found.high is None else [found.low, found.high]


def _labels(references: Sequence[Reference]) -> list[str]:
    """A source's name where it stands once, else its conditions'."""
    counts: Mapping[str, int] = {
        one.source: sum(other.source == one.source for other in references) for one in references
    }
    return [one.source if counts[one.source] == 1 else one.name for one in references]


def _rounds(
    references: Sequence[Reference], options: EvaluateOptions
) -> list[list[tuple[int, ...] | None]]:
    """One order of factors for each reference, for each round."""
    if options.orders == "published":
        return [[None] * len(references)]
    orders = {
        k: orders_of(k, options.most_orders, options.seed)
        for k in {one.space.k for one in references}
    }
    rounds = max(map(len, orders.values()))
    return [
        [orders[one.space.k][number % len(orders[one.space.k])] for one in references]
        for number in range(rounds)
    ]


def _inside(
    reference: Reference, estimate: Estimate, seen: Observations
) -> tuple[tuple[int, int, int, int, float] | None, float | None]:
    cells, effects = estimate.cells, estimate.effects
    if cells is None or effects is None:
        return None, None
    truth, slack = reference.truth, 1e-12
    known = np.isin(seen.all_cells, seen.cells) & (reference.noise is None)
    high, low = truth.space.edges
    open_cells, open_effects = ~known, ~(known[high] & known[low])
    held = (cells.low - slack <= truth.values) & (truth.values <= cells.high + slack)
    held_effects = (effects.low - slack <= truth.effects) & (truth.effects <= effects.high + slack)
    widths = float((cells.high - cells.low)[open_cells].sum())
    return (
        int(held[open_cells].sum()),
        int(open_cells.sum()),
        int(held_effects[open_effects].sum()),
        int(open_effects.sum()),
        widths,
    ), cells.level
