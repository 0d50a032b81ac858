"""Runs laid out for counting: task by task, within a task agent by agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._normalized import worst_of
from ._runs import AirsRun, agents_of
from ._tasks import AirsTask, airs_tasks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TaskRuns:
    """The runs on one task."""

    task: AirsTask
    runs: tuple[AirsRun, ...]
    """By agent, then by seed."""
    agents: tuple[int, ...]
    """Numbers of the agents that have runs here, in order."""
    sizes: tuple[int, ...]
    """How many runs each of them has."""
    scores: Floats
    """One for each run; NaN for those that are not valid."""
    valid: NDArray[np.bool_]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each agent's runs begin."""
        import numpy as np

        return np.cumsum([0, *self.sizes[:-1]])

    def worst(self, without: int | None = None) -> float | None:
        """Give the worst valid score, perhaps of all agents but one; None where there is none."""
        import numpy as np

        owners = np.repeat(self.agents, self.sizes)
        chosen = self.scores[self.valid & (owners != (-1 if without is None else without))]
        return worst_of(chosen.tolist(), self.task) if len(chosen) else None


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """All runs."""

    agents: tuple[str, ...]
    """In the order of their names."""
    tasks: tuple[TaskRuns, ...]
    """Those that have runs, in the order of their names."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tasks that have runs."""
        return tuple(one.task.task for one in self.tasks)


def lay_out(runs: Sequence[AirsRun]) -> Study:
    """Sort runs by task, agent and seed."""
    agents = tuple(agents_of(runs))
    number = {agent: position for position, agent in enumerate(agents)}
    by_task: dict[str, list[AirsRun]] = {}
    for run in sorted(runs, key=lambda run: (run.agent, _natural(run.seed))):
        by_task.setdefault(run.task, []).append(run)
    tasks = [_task_runs(airs_tasks()[name], by_task[name], number) for name in sorted(by_task)]
    return Study(agents, tuple(tasks))


def _task_runs(task: AirsTask, runs: Sequence[AirsRun], number: dict[str, int]) -> TaskRuns:
    import numpy as np

    owners = [number[run.agent] for run in runs]
    present = sorted(set(owners))
    valid = np.array([run.valid for run in runs], dtype=bool)
    scores = np.array([np.nan if run.score is None else run.score for run in runs], dtype=float)
    return TaskRuns(
        task=task,
        runs=tuple(runs),
        agents=tuple(present),
        sizes=tuple(owners.count(one) for one in present),
        scores=np.where(valid, scores, np.nan),
        valid=valid,
    )


def _natural(seed: str) -> tuple[int, str]:
    """Order 2 before 10."""
    return (int(seed) if seed.isdecimal() and len(seed) < 19 else -1, seed)
