"""AIRS-Bench: runs of agents on twenty research tasks, scored as published and as we would.

Figures: share of valid submissions (VSR), normalized score (NS) and Elo rating. The metadata of
the tasks and the published figures are package data (facts and numbers, with their source);
no task's text or code is. numpy is loaded when something is scored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

if TYPE_CHECKING:
    from ._boards import airs_boards
    from ._compare import EloDifference, elo_differences
    from ._evaluate import Evaluation, EvaluationOptions, evaluate_submission
    from ._folder import TaskFolder, read_task_folder, read_task_folders
    from ._import import import_runs, write_runs
    from ._normalized import normalized, published_gap, published_normalized
    from ._options import AirsOptions, read_s_min
    from ._printed import printed_number
    from ._published import PublishedAgent, PublishedFigures, published_figures
    from ._runs import AirsRun, read_runs
    from ._score import score_runs
    from ._scores import AgentScores, AirsScores, SMinRow, TaskScores
    from ._tasks import AirsTask, airs_tasks

_HOMES = {
    "AgentScores": "_scores",
    "AirsOptions": "_options",
    "AirsRun": "_runs",
    "AirsScores": "_scores",
    "AirsTask": "_tasks",
    "EloDifference": "_compare",
    "Evaluation": "_evaluate",
    "EvaluationOptions": "_evaluate",
    "PublishedAgent": "_published",
    "PublishedFigures": "_published",
    "SMinRow": "_scores",
    "TaskFolder": "_folder",
    "TaskScores": "_scores",
    "airs_boards": "_boards",
    "airs_tasks": "_tasks",
    "elo_differences": "_compare",
    "evaluate_submission": "_evaluate",
    "import_runs": "_import",
    "normalized": "_normalized",
    "printed_number": "_printed",
    "published_figures": "_published",
    "published_gap": "_normalized",
    "published_normalized": "_normalized",
    "read_runs": "_runs",
    "read_s_min": "_options",
    "read_task_folder": "_folder",
    "read_task_folders": "_folder",
    "score_runs": "_score",
    "write_runs": "_import",
}


__getattr__ = lazy(__name__, _HOMES)


__all__ = [
    "AgentScores",
    "AirsOptions",
    "AirsRun",
    "AirsScores",
    "AirsTask",
    "EloDifference",
    "Evaluation",
    "EvaluationOptions",
    "PublishedAgent",
    "PublishedFigures",
    "SMinRow",
    "TaskFolder",
    "TaskScores",
    "airs_boards",
    "airs_tasks",
    "elo_differences",
    "evaluate_submission",
    "import_runs",
    "normalized",
    "printed_number",
    "published_figures",
    "published_gap",
    "published_normalized",
    "read_runs",
    "read_s_min",
    "read_task_folder",
    "read_task_folders",
    "score_runs",
    "write_runs",
]
