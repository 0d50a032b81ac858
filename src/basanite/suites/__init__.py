"""Whole evaluations: one judge over a user's own answers, and the study of a critic."""

from __future__ import annotations

from ._collect_scores import Agent, CollectedScores, Scorer, StudyRun, collect_scores
from ._critic_study import ArmSummary, CriticStudy, critic_study
from ._judging import JudgeJob, JudgeRun, Recipe, judge_file
from ._recipes import (
    ChoiceRecipe,
    ClaimsOptions,
    ClaimsRecipe,
    FactsRecipe,
    LexicalRecipe,
    RatingRecipe,
)
from ._second_attempt import TRY_AGAIN, second_attempt
from ._study_cells import MissingItem, StudyItem
from ._study_contrasts import CONTRASTS, Contrast, StudyOptions
from ._study_groups import GroupCuts, StudyGroups, naive_groups
from ._study_rows import ARMS, BASELINE, StudyRow, read_study, rows_of_run
from ._study_runs import check_runs

__all__ = [
    "ARMS",
    "BASELINE",
    "CONTRASTS",
    "TRY_AGAIN",
    "Agent",
    "ArmSummary",
    "ChoiceRecipe",
    "ClaimsOptions",
    "ClaimsRecipe",
    "CollectedScores",
    "Contrast",
    "CriticStudy",
    "FactsRecipe",
    "GroupCuts",
    "JudgeJob",
    "JudgeRun",
    "LexicalRecipe",
    "MissingItem",
    "RatingRecipe",
    "Recipe",
    "Scorer",
    "StudyGroups",
    "StudyItem",
    "StudyOptions",
    "StudyRow",
    "StudyRun",
    "check_runs",
    "collect_scores",
    "critic_study",
    "judge_file",
    "naive_groups",
    "read_study",
    "rows_of_run",
    "second_attempt",
]
