"""Runs as boards, for leaderboards, comparisons and drawings."""

from __future__ import annotations

from ...reports import Board, BoardRow
from ._scores import AirsScores
from ._tasks import airs_tasks


def airs_boards(scores: AirsScores) -> tuple[Board, Board]:
    """Give the board of normalized scores and that of valid runs.

    A run that is not valid has the normalized score 0, by the measure's definition; a task
    without a scale has no value.
    """
    normal = [
        _row(scores, position, ns, None if ns is not None else "no scale: see s_min")
        for position, ns in enumerate(scores.run_ns)
    ]
    valid = [_row(scores, position, float(run.valid)) for position, run in enumerate(scores.runs)]
    return (
        Board(
            title="AIRS-Bench: normalized score",
            measure="normalized score",
            rows=tuple(normal),
            scale=(0.0, None),
            notes=scores.notes,
            cost_unit="cost",
        ),
        Board(
            title="AIRS-Bench: valid submissions",
            measure="share of valid runs",
            rows=tuple(valid),
            scale=(0.0, 1.0),
            cost_unit="cost",
        ),
    )


def _row(
    scores: AirsScores, position: int, value: float | None, reason: str | None = None
) -> BoardRow:
    run = scores.runs[position]
    return BoardRow(
        agent=run.agent,
        task=run.task,
        trial=run.seed,
        value=value,
        unscored_reason=reason,
        cost=run.cost,
        group=airs_tasks()[run.task].category,
    )
