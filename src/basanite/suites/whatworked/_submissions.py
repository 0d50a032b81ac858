"""Tables that agents handed in, and what any estimator makes of the same measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ...store import Columns
from .._rows import name_in, name_of, number_in, parsed_rows, text_in
from ._evaluate import families_interval, family_macro
from ._metrics import TableScore, complete, score_table
from ._observations import Observations
from ._reference import Reference, is_number, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...reports import Board
    from ._estimator import Estimator

_COLUMNS = Columns(
    required=("agent", "task", "table"),
    known=frozenset(
        {"agent", "task", "trial", "table", "measured", "intervals", "level", "cost", "reason"}
    ),
    # A column `tabel` beside no `table`, or `measurd`, would change the score in silence.
    closed=True,
)
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Submission:
    """What one episode left: the measurements, and perhaps a table."""

    agent: str
    reference: Reference
    trial: str
    table: NDArray[np.float64] | None
    """None where the agent handed none in."""
    measured: Mapping[str, float]
    """Mean of what was measured of each mask, with the anchors."""
    intervals: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """The agent's own lower and upper ends of each cell."""
    level: float = 0.95
    """What the intervals claim to hold."""
    cost: float | None = None
    reason: str | None = None
    """Why there is no table."""

    def observations(self) -> Observations:
        """Give the measurements as estimators take them."""
        seen = Observations.from_masks(self.reference.space, self.measured)
        noise = self.reference.noise
        if noise is None:
            return seen
        return Observations(seen.space, seen.cells, seen.values, None, noise.sd)


@dataclass(frozen=True)
class SubmissionScore:
    """Figures of one submission; those that need a table are None without one."""

    submission: Submission = field(repr=False)
    delivered: TableScore | None
    replayed: Mapping[str, TableScore]
    """By estimator, on the same measurements."""
    coverage: float | None = None
    """Share of unmeasured cells that the agent's own intervals hold."""
    width: float | None = None
    """Their mean width."""

    def to_json(self) -> dict[str, object]:
        """Give all figures by name."""
        one = self.submission
        return {
            "agent": one.agent,
            "task": one.reference.name,
            "trial": one.trial,
            "n_measured": len(one.measured),
            "delivered": None if self.delivered is None else self.delivered.to_json(),
            "unscored_reason": None if self.delivered is not None else one.reason or "no_table",
            "replayed": {name: score.to_json() for name, score in self.replayed.items()},
            "interval_coverage": self.coverage,
            "interval_width": self.width,
            "interval_level": None if one.intervals is None else one.level,
        }


def read_submissions(path: str | Path, references: Sequence[Reference]) -> tuple[Submission, ...]:
    """Read a file of submissions.

    Args:
        path: JSONL or Parquet with `agent`, `task` (name of a reference) and `table` (utility by
            mask; null where none was handed in), and perhaps `trial`, `measured` (utility by
            mask, or a list of masks), `intervals` ([low, high] by mask) with their `level`,
            `cost` and `reason` (why there is no table). Other columns are refused.
        references: the tasks.

    Raises:
        RowError: rows can't be used; the message names the first three and the reasons. Nothing
            is scored from what is left, since the rows that are missing could decide it.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    tasks = {one.name: one for one in references}

    def parse(record: Mapping[str, object], /, *, in_csv: bool) -> Submission:
        return _submission(record, tasks, in_csv=in_csv)

    rows = parsed_rows(
        path,
        _COLUMNS,
        parse,
        key=lambda one: (one.agent, one.reference.name, one.trial),
        same="agent, task and trial",
    )
    return tuple(one for _, one in rows)


def score_submission(one: Submission, estimators: Iterable[Estimator] = ()) -> SubmissionScore:
    """Score a table as it was handed in, and what estimators make of its measurements.

    Measured cells stand over the table's, but where the workflow is noisy.
    """
    reference = one.reference
    space = reference.space
    noisy = reference.noise is not None
    measured = {space.cell(mask): value for mask, value in one.measured.items()}
    delivered, coverage, width = None, None, None
    if one.table is not None:
        delivered = score_table(reference.truth, complete(one.table, {} if noisy else measured))
    if one.intervals is not None:
        low, high = one.intervals
        unknown = np.ones(space.n_cells, dtype=bool)
        unknown[list({} if noisy else measured)] = False
        if unknown.any():
            held = (low <= reference.values) & (reference.values <= high)
            coverage = float(held[unknown].mean())
            width = float((high - low)[unknown].mean())
    seen = one.observations()
    replayed = {
        estimator.name: score_table(reference.truth, estimator.complete(seen).table)
        for estimator in estimators
    }
    return SubmissionScore(one, delivered, replayed, coverage, width)


def summarise_submissions(scores: Sequence[SubmissionScore]) -> dict[str, dict[str, object]]:
    """Give each agent's family-macro means: delivered, as published, and replayed.

    `recovery` is over the tables that were handed in; `recovery_published` counts a missing one
    as 0.
    """
    found: dict[str, dict[str, object]] = {}
    for agent in dict.fromkeys(one.submission.agent for one in scores):
        own = [one for one in scores if one.submission.agent == agent]
        given = [one for one in own if one.delivered is not None]
        body: dict[str, object] = {"n": len(own), "n_delivered": len(given)}
        body["recovery"] = _macro([(o, o.delivered.recovery) for o in given if o.delivered])
        body["recovery_published"] = _macro(
            [(o, o.delivered.recovery if o.delivered else 0.0) for o in own]
        )
        body["recovery_interval"] = families_interval(
            [one.submission.reference for one in given],
            [one.delivered.recovery for one in given if one.delivered],
        )
        for name in ("exact", "near", "strict"):
            body[name] = sum(getattr(one.delivered, name) for one in given)
        for name in ("regret", "effect_mae", "pair_mae", "grid_mae"):
            body[name] = _macro([(o, getattr(o.delivered, name)) for o in given])
        body["replayed"] = {
            name: _macro([(o, o.replayed[name].recovery) for o in own])
            for name in dict.fromkeys(name for one in own for name in one.replayed)
        }
        covered = [(one, one.coverage) for one in own if one.coverage is not None]
        if covered:
            body["interval_coverage"] = _macro(covered)
        found[agent] = body
    return found


def submissions_board(scores: Sequence[SubmissionScore]) -> Board:
    """Give the board of recoveries."""
    from ...reports import Board, BoardRow

    rows = tuple(
        BoardRow(
            one.submission.agent,
            one.submission.reference.name,
            one.submission.trial,
            None if one.delivered is None else one.delivered.recovery,
            None if one.delivered is not None else one.submission.reason or "no_table",
            one.submission.cost,
            one.submission.reference.family,
        )
        for one in scores
    )
    notes = ("Means weigh tasks equally; `score` gives the published mean over families.",)
    return Board("WhatWorked", "effect recovery", rows, (0.0, 1.0), notes=notes)


def _macro(values: Sequence[tuple[SubmissionScore, float]]) -> float | None:
    if not values:
        return None
    return family_macro([one.submission.reference for one, _ in values], [v for _, v in values])


def _submission(
    record: Mapping[str, object], tasks: Mapping[str, Reference], *, in_csv: bool
) -> Submission:
    agent, task = name_of(record, "agent"), name_of(record, "task")
    if task not in tasks:
        known = ", ".join(list(tasks)[:4])
        raise InputError(f"unknown task {task[:40]!r}", todo=f"Known are {known}, …")
    reference = tasks[task]
    space = reference.space
    if "table" not in record:
        raise InputError("table is missing", todo="Where the agent handed none in, write null")
    table = record["table"]
    if in_csv and isinstance(table, str) and not table.strip():
        table = None
    intervals = record.get("intervals")
    level = number_in(record, "level", in_csv=in_csv)
    if level is not None and not 0 < level < 1:
        raise InputError(f"the level is {level:g}, not between 0 and 1")
    cost = number_in(record, "cost", in_csv=in_csv)
    if cost is not None and cost < 0:
        raise InputError(f"the cost is '{cost:g}', no number of at least 0")
    return Submission(
        agent=agent,
        reference=reference,
        trial=name_in(record, "trial") or "1",
        table=None if table is None else table_of(space, table, where="table"),
        measured=_measured(record.get("measured"), reference),
        intervals=None if intervals is None else intervals_of(intervals, reference),
        level=0.95 if level is None else level,
        cost=cost,
        reason=text_in(record, "reason"),
    )


def _measured(given: object, reference: Reference) -> dict[str, float]:
    space, values = reference.space, reference.values
    noisy = reference.noise is not None
    found: dict[str, float] = {}
    if not noisy:
        found = {space.masks[cell]: float(values[cell]) for cell in space.anchors}
    if given is None:
        return found or {space.masks[cell]: float(values[cell]) for cell in space.anchors}
    if isinstance(given, Sequence) and not isinstance(given, str):
        if noisy:
            raise InputError("measured gives masks without values of a noisy workflow")
        return found | {mask: float(values[space.cell(mask)]) for mask in given}
    if not isinstance(given, Mapping):
        raise InputError("measured is neither numbers by mask nor a list of masks")
    for mask, value in given.items():
        cell = space.cell(mask)
        # A noisy workflow's runs may lie beyond 0 and 1.
        run = abs(value) if noisy and type(value) in (int, float) else value
        if not is_number(run, float("inf") if noisy else 1.0):
            allowed = "finite number" if noisy else "number from 0 to 1"
            raise InputError(f"measured: {mask} is {value!r}, no {allowed}")
        if not noisy and abs(value - values[cell]) > _SAME:
            raise InputError(
                f"measured: {mask} is not what the reference gives",
                todo="Score it with the references that it was measured on.",
            )
        found[mask] = float(value)
    if not found:
        raise InputError("measured is empty", todo="Give what was measured, with the anchors.")
    return found


def intervals_of(
    given: object, reference: Reference
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read `[low, high]` by mask.

    Raises:
        InputError: a mask is missing or unknown, or its ends are no such numbers.
    """
    if not isinstance(given, Mapping) or not all(
        isinstance(pair, Sequence) and len(pair) == 2 and not isinstance(pair, str)
        for pair in given.values()
    ):
        raise InputError("intervals is no object of [low, high] by mask")
    ends = [
        table_of(
            reference.space,
            {mask: pair[end] for mask, pair in given.items()},
            where=f"intervals, {name}",
        )
        for end, name in enumerate(("low", "high"))
    ]
    if (ends[0] > ends[1]).any():
        at = reference.space.masks[int(np.argmax(ends[0] > ends[1]))]
        raise InputError(f"intervals: {at} has its low end above its high end")
    return ends[0], ends[1]
