"""Whole evaluations: one judge over a user's own answers."""

from __future__ import annotations

from ._judging import JudgeJob, JudgeRun, Recipe, judge_file
from ._recipes import ClaimsOptions, ClaimsRecipe, LexicalRecipe

__all__ = [
    "ClaimsOptions",
    "ClaimsRecipe",
    "JudgeJob",
    "JudgeRun",
    "LexicalRecipe",
    "Recipe",
    "judge_file",
]
