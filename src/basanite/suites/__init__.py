"""Whole evaluations: one judge over a user's own answers."""

from __future__ import annotations

from ._judging import JudgeJob, JudgeRun, Recipe, judge_file
from ._recipes import (
    ChoiceRecipe,
    ClaimsOptions,
    ClaimsRecipe,
    FactsRecipe,
    LexicalRecipe,
    RatingRecipe,
)

__all__ = [
    "ChoiceRecipe",
    "ClaimsOptions",
    "ClaimsRecipe",
    "FactsRecipe",
    "JudgeJob",
    "JudgeRun",
    "LexicalRecipe",
    "RatingRecipe",
    "Recipe",
    "judge_file",
]
