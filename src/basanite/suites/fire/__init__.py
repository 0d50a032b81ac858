"""FIRE-Bench: claim scores of agents that rediscover a paper's finding.

Trials are scored as published (per trial, per task, mean over tasks), each spread under its own
name, with difficulty, cost, contamination and the distribution of errors; the published
layout of tasks, truths, trees and logs can be read and written. The tasks' names and the
published figures are package data; no text of a task is. numpy is loaded when something is scored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

if TYPE_CHECKING:
    from ._boards import fire_boards, published_rows
    from ._contamination import Contamination, Stratum, contamination, parse_cutoffs
    from ._cost import FireCost, agent_cost
    from ._errors import (
        ERROR_TYPES,
        ErrorShares,
        FireError,
        error_shares,
        errors_envelope,
        read_errors,
    )
    from ._import import ImportedAnswers, answers_of_runs, questions_of, trials_of_run
    from ._papers import FirePaper, FireTruth, read_papers, read_truth_table, write_papers
    from ._published import PublishedAgent, PublishedFigures, published_figures
    from ._recomputed import published_board, recomputed
    from ._run_folders import FireRun, read_run_folders, write_run_folder
    from ._score import FireAgent, FireScores, score_trials
    from ._tasks import FireTask, FireTasks, difficulty_of, fire_tasks, read_tasks
    from ._tree import FireTree, TreeEvidence, TreeNode, TreePaper, read_trees, tree_json
    from ._trials import FireTrial, read_trials, trial_lines

_HOMES = {
    "Contamination": "_contamination",
    "ERROR_TYPES": "_errors",
    "ErrorShares": "_errors",
    "FireAgent": "_score",
    "FireCost": "_cost",
    "FireError": "_errors",
    "FirePaper": "_papers",
    "FireRun": "_run_folders",
    "FireScores": "_score",
    "FireTask": "_tasks",
    "FireTasks": "_tasks",
    "FireTree": "_tree",
    "FireTrial": "_trials",
    "FireTruth": "_papers",
    "ImportedAnswers": "_import",
    "PublishedAgent": "_published",
    "PublishedFigures": "_published",
    "Stratum": "_contamination",
    "TreeEvidence": "_tree",
    "TreeNode": "_tree",
    "TreePaper": "_tree",
    "agent_cost": "_cost",
    "answers_of_runs": "_import",
    "contamination": "_contamination",
    "difficulty_of": "_tasks",
    "error_shares": "_errors",
    "errors_envelope": "_errors",
    "fire_boards": "_boards",
    "fire_tasks": "_tasks",
    "parse_cutoffs": "_contamination",
    "published_board": "_recomputed",
    "published_figures": "_published",
    "published_rows": "_boards",
    "questions_of": "_import",
    "read_errors": "_errors",
    "read_papers": "_papers",
    "read_run_folders": "_run_folders",
    "read_tasks": "_tasks",
    "read_trees": "_tree",
    "read_trials": "_trials",
    "read_truth_table": "_papers",
    "recomputed": "_recomputed",
    "score_trials": "_score",
    "tree_json": "_tree",
    "trial_lines": "_trials",
    "trials_of_run": "_import",
    "write_papers": "_papers",
    "write_run_folder": "_run_folders",
}


__getattr__ = lazy(__name__, _HOMES)


__all__ = [
    "ERROR_TYPES",
    "Contamination",
    "ErrorShares",
    "FireAgent",
    "FireCost",
    "FireError",
    "FirePaper",
    "FireRun",
    "FireScores",
    "FireTask",
    "FireTasks",
    "FireTree",
    "FireTrial",
    "FireTruth",
    "ImportedAnswers",
    "PublishedAgent",
    "PublishedFigures",
    "Stratum",
    "TreeEvidence",
    "TreeNode",
    "TreePaper",
    "agent_cost",
    "answers_of_runs",
    "contamination",
    "difficulty_of",
    "error_shares",
    "errors_envelope",
    "fire_boards",
    "fire_tasks",
    "parse_cutoffs",
    "published_board",
    "published_figures",
    "published_rows",
    "questions_of",
    "read_errors",
    "read_papers",
    "read_run_folders",
    "read_tasks",
    "read_trees",
    "read_trials",
    "read_truth_table",
    "recomputed",
    "score_trials",
    "tree_json",
    "trial_lines",
    "trials_of_run",
    "write_papers",
    "write_run_folder",
]
