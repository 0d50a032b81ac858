"""Trials as boards, one a measure."""

from __future__ import annotations

from collections.abc import Sequence

from ...reports import Board, BoardRow
from ._published import PublishedAgent, published_figures
from ._tasks import FireTasks, fire_tasks
from ._trials import MEASURES, NOT_GIVEN, FireTrial

_MEASURE = {"precision": "claim precision", "recall": "claim recall", "f1": "claim F1"}
PUBLISHED = "published: "
"""Before the name of an agent whose figures were not computed from trials."""
PUBLISHED_NOTE = (
    "Published agents have one value a task, the mean of three runs as printed, by another judge "
    "and against truths most of which were reworded since: differences from them are not those "
    "of the agents alone."
)


def fire_boards(
    trials: Sequence[FireTrial],
    tasks: FireTasks | None = None,
    *,
    published: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> dict[str, Board]:
    """Give a board of each measure that any trial has, F1 first.

    Args:
        trials: at least one.
        tasks: for the tasks' difficulties, which are the boards' groups.
        published: published agents that are added to the board of F1, as `published: NAME`.
        notes: sentences that belong to the numbers.

    Raises:
        InputError: a trial stands twice, or there is no published agent of a name.
    """
    tasks = tasks or fire_tasks()
    boards: dict[str, Board] = {}
    for measure in reversed(MEASURES):
        if measure != "f1" and all(getattr(trial, measure) is None for trial in trials):
            continue
        rows = [_row(trial, measure, tasks) for trial in trials]
        extra: tuple[str, ...] = ()
        if measure == "f1" and published:
            figures = published_figures()
            for name in published:
                rows += published_rows(figures.find(name), tasks)
            extra = (PUBLISHED_NOTE,)
        boards[measure] = Board(
            title="FIRE-Bench",
            measure=_MEASURE[measure],
            rows=tuple(rows),
            scale=(0.0, 1.0),
            notes=(*notes, *extra),
        )
    return boards


def published_rows(agent: PublishedAgent, tasks: FireTasks | None = None) -> list[BoardRow]:
    """Give a published agent's printed means as rows, one a task, as shares."""
    tasks = tasks or fire_tasks()
    return [
        BoardRow(
            agent=PUBLISHED + agent.agent,
            task=task,
            trial="mean of 3",
            value=mean / 100,
            group=tasks.find(task).difficulty,
        )
        for task, (mean, _) in agent.f1.items()
    ]


def _row(trial: FireTrial, measure: str, tasks: FireTasks) -> BoardRow:
    value = getattr(trial, measure)
    reason = None if value is not None else trial.unscored_reason or NOT_GIVEN
    return BoardRow(
        agent=trial.agent,
        task=trial.task,
        trial=trial.trial,
        value=value,
        unscored_reason=reason,
        cost=trial.cost,
        group=tasks.find(trial.task).difficulty,
    )
