"""What enumerating a workflow gave: its runs, and the reference that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ._equivalence import classes_by_output, rules_from_classes
from ._reference import Noise, Reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._cell_cache import CellRun
    from ._workflow import Workflow

_SAME = 1e-9
"""Largest difference between the scores of equal outputs."""
_TOLD = 3


@dataclass(frozen=True, slots=True)
class CellFailure:
    """A run that gave no score. It is not kept: the next enumeration tries it again."""

    mask: str
    seed: int
    reason: str
    """`timeout` or another limit, `exit_code`, `raised`, `no_score`, or `out_of_range`."""
    detail: str


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All runs of a workflow."""

    workflow: Workflow
    runs: tuple[CellRun, ...]
    """In the order of masks, and of seeds for each."""
    failures: tuple[CellFailure, ...]
    n_cached: int
    """Runs that were there already."""
    environment: Mapping[str, object] = field(default_factory=dict)
    """The interpreter or profile that they were made with."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """Utilities from 0 to 1, (n_cells, n_seeds).

        Raises:
            InputError: runs failed; it names the first few.
        """
        if self.failures:
            some = "; ".join(
                f"{one.mask} with seed {one.seed}: {one.reason} ({one.detail})"
                for one in self.failures[:_TOLD]
            )
            raise InputError(
                f"{len(self.failures)} of {len(self.runs) + len(self.failures)} runs gave no "
                f"score: {some}",
                where=self.workflow.name,
                todo="Mend the workflow; runs that are done are kept.",
            )
        shape = (self.workflow.space.n_cells, len(self.workflow.seeds))
        return np.array([self.workflow.utility(one.score) for one in self.runs]).reshape(shape)

    def classes(self) -> NDArray[np.int64] | None:
        """Find configurations that put the same out with every seed; None where none do.

        Raises:
            InputError: equal outputs have different scores.
        """
        scores = self.scores.mean(axis=1)
        n = len(self.workflow.seeds)
        hashes: list[tuple[str, ...] | None] = []
        for cell in range(self.workflow.space.n_cells):
            own = [one.output_sha256 for one in self.runs[cell * n : (cell + 1) * n]]
            whole = tuple(one for one in own if one is not None)
            hashes.append(whole if len(whole) == n else None)
        classes = classes_by_output(hashes)
        wrong = np.flatnonzero(np.abs(scores - scores[classes]) > _SAME)
        if wrong.size:
            masks = self.workflow.space.masks
            raise InputError(
                f"{masks[wrong[0]]} and {masks[classes[wrong[0]]]} put the same out and have "
                "different scores",
                where=self.workflow.name,
                todo="Put out all that the score is computed from.",
            )
        return classes if (classes != np.arange(classes.size)).any() else None

    def reference(self) -> Reference:
        """Make the reference: utilities, equal outputs, the rules behind them, costs, noise.

        With several seeds the noise is the pooled standard deviation of a configuration's runs.

        Raises:
            InputError: runs failed, or equal outputs have different scores.
        """
        scores = self.scores
        workflow, classes = self.workflow, self.classes()
        values, n = scores.mean(axis=1), scores.shape[1]
        if classes is not None:
            values = values[classes]  # exactly equal, whatever the last digit of a mean
        noise = None
        if n > 1:
            sd = float(np.sqrt(scores.var(axis=1, ddof=1).mean()))
            noise = Noise(sd, n) if sd > 0 else None
        costs = None
        if workflow.cost == "seconds":
            walls = np.array([one.wall_s for one in self.runs]).reshape(scores.shape)
            costs = walls.mean(axis=1).tolist()
        return Reference.from_values(
            workflow.name,
            values.tolist(),
            workflow.factors,
            source=workflow.source,
            family=workflow.family,
            rules=() if classes is None else rules_from_classes(workflow.space, classes),
            classes=classes,
            costs=costs,
            noise=noise,
        )

    def made(self) -> dict[str, object]:
        """Say how the reference was made: code, environment, warnings with the number of their
        runs, and each run in short.
        """
        workflow = self.workflow
        return {
            "description": workflow.description,
            "better": workflow.better,
            "range": list(workflow.range),
            "seeds": list(workflow.seeds),
            "code_sha256": workflow.code_sha256,
            "environment": dict(self.environment),
            "seconds": round(sum(one.wall_s for one in self.runs), 3),
            "warnings": dict(Counter(text for one in self.runs for text in one.warnings)),
            "runs": [
                {
                    "mask": one.mask,
                    "seed": one.seed,
                    "score": one.score,
                    **({"metrics": one.metrics} if one.metrics else {}),
                    "output_sha256": one.output_sha256,
                    "wall_s": round(one.wall_s, 4),
                }
                for one in self.runs
            ],
        }

    def to_json(self) -> dict[str, object]:
        """Give the reference as `reference_from_json` reads it, with how it was made."""
        return self.reference().to_json() | {"made": self.made()}
