"""The page of an enumerated workflow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...reports import (
    Curve,
    FactorRow,
    Reversal,
    SurfaceReport,
    surface_plots,
    write_surface_report,
)
from ._describe import describe_reference, equal_outputs
from ._hardness import HardnessPoint, hardness
from ._metrics import sign_reversals

if TYPE_CHECKING:
    from ._enumeration import Enumeration
    from ._reference import Reference

_TOLD = 3


def surface_report(
    reference: Reference,
    *,
    points: Sequence[HardnessPoint] | None = None,
    description: str = "",
    facts: Sequence[tuple[str, str]] = (),
) -> SurfaceReport:
    """Gather what the page shows of a reference; for the host, not for an agent.

    Args:
        reference: the truth.
        points: of the curve; `hardness` with its defaults where left out.
        description: what the workflow does.
        facts: further lines of the section About, such as how the reference was made.
    """
    body = describe_reference(reference)
    names = [one.name for one in reference.factors]
    points = hardness(reference) if points is None else points
    rows = tuple(
        FactorRow(
            factor=row["factor"],
            description=one.description,
            levels=one.levels,
            mean=row["mean"],
            least=row["least"],
            most=row["most"],
            helps=row["helps"],
            harms=row["harms"],
        )
        for row, one in zip(body["effects"], reference.factors, strict=True)  # type: ignore[call-overload]
    )
    given = body["interactions"]
    assert isinstance(given, dict)
    pairs = {
        (names[a], names[b]): float(given[f"{names[a]} x {names[b]}"])
        for a, b in combinations(range(len(names)), 2)
    }
    methods = dict.fromkeys(one.method for one in points)
    return SurfaceReport(
        title=reference.name,
        description=description,
        facts=(
            ("family", reference.family),
            ("configurations", str(reference.space.n_cells)),
            ("conditional effects", str(reference.truth.effects.size)),
            ("best", f"{body['best_mask']} with {reference.truth.best:.4f}"),
            ("worst", f"{reference.values.min():.4f}"),
            ("sha256 of the reference", reference.sha256),
            *facts,
        ),
        effects=rows,
        interactions=pairs,
        reversals=_reversals(reference),
        equal=tuple(equal_outputs(reference)),
        rules=tuple(_told(reference)),
        curves=tuple(
            Curve(
                name,
                tuple((one.budget, one.recovery) for one in points if one.method == name),
            )
            for name in methods
        ),
        budget_unit="measurements" if reference.costs is None else "cost",
    )


def enumeration_facts(runs: Enumeration) -> tuple[tuple[str, str], ...]:
    """Say how an enumeration was made, for the page."""
    warned = sum(bool(one.warnings) for one in runs.runs)
    distinct = dict.fromkeys(text for one in runs.runs for text in one.warnings)
    some = f": {'; '.join(list(distinct)[:_TOLD])}" if distinct else ""
    where = " ".join(str(value) for value in runs.environment.values() if value is not None)
    held = ", ".join(sorted({one.backend for one in runs.runs}))
    return (
        ("runs", f"{len(runs.runs)}, {sum(one.wall_s for one in runs.runs):.1f} s"),
        ("seeds", ", ".join(map(str, runs.workflow.seeds))),
        ("runs with warnings", f"{warned}{some}"),
        ("environment", f"{where} ({held})"),
        ("sha256 of the code", runs.workflow.code_sha256),
    )


def write_workflow_report(
    report: SurfaceReport, out: str | Path | None, *, plots: str | Path | None = None
) -> list[Path]:
    """Write the page, and its drawings as SVG files where a folder is named.

    Raises:
        OSError: a file can't be written.
    """
    if out is not None:
        write_surface_report(report, Path(out))
    return [] if plots is None else surface_plots(report, Path(plots))


def _reversals(reference: Reference) -> tuple[Reversal, ...]:
    """Where each factor that reverses helps and harms most, with the floor it still reverses at."""
    truth, space = reference.truth, reference.space
    high, low = space.edges
    found = []
    for factor in sign_reversals(truth):
        own = np.flatnonzero(space.edge_factor == factor)
        best, worst = own[truth.effects[own].argmax()], own[truth.effects[own].argmin()]
        floor = min(truth.effects[best], -truth.effects[worst]) / truth.spread
        found.append(
            Reversal(
                reference.factors[factor].name,
                f"{space.masks[low[best]]} to {space.masks[high[best]]}",
                float(truth.effects[best]),
                f"{space.masks[low[worst]]} to {space.masks[high[worst]]}",
                float(truth.effects[worst]),
                float(floor),
            )
        )
    return tuple(found)


def _told(reference: Reference) -> list[str]:
    factors = reference.factors
    return [
        f"while {factors[rule.guard].name} is {factors[rule.guard].levels[rule.level]}, "
        f"{factors[rule.inert].name} changes nothing"
        for rule in reference.rules
    ]
