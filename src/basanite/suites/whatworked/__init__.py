"""WhatWorkedBench: what each factor of a workflow does, told from few measurements.

A reference holds the utility of every configuration; a host lets an agent measure some of them;
tables are scored by the conditional effects that they imply. The published methods are here
under their names, and beside them a Gaussian process that learns which factors matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

if TYPE_CHECKING:
    from ._ard import ModelAveragedDesign, ModelAveragedGP
    from ._cell_cache import CellCache, CellRun
    from ._client import EpisodeClient, EpisodeRefused
    from ._describe import describe_reference, equal_outputs
    from ._enumerate import EnumerateOptions, enumerate_workflow
    from ._enumeration import CellFailure, Enumeration
    from ._episode import EpisodeHost, Refused, episode_submission
    from ._episode_options import EpisodeOptions
    from ._equivalence import InertRule, classes_by_output, classes_by_rules, rules_from_classes
    from ._estimator import Design, Estimate, Estimator, Interval
    from ._evaluate import EvaluateOptions, Evaluation, evaluate, family_macro, select
    from ._gp import GPDesign, HammingGP
    from ._hardness import HardnessPoint, default_budgets, hardness
    from ._library import (
        origin,
        published_references,
        read_reference,
        read_references,
        reference_from_json,
    )
    from ._methods import ESTIMATORS, METHODS, estimator_named, method_named
    from ._metrics import (
        PROFILE,
        TableScore,
        Truth,
        complete,
        noise_ceiling,
        score_table,
        sign_reversals,
    )
    from ._observations import Observations
    from ._own import (
        WORKFLOWS,
        shipped_origin,
        shipped_reference,
        shipped_references,
        shipped_workflow,
    )
    from ._path import Method, Step, run_path
    from ._published_design import PublishedLeverageDesign
    from ._reference import Noise, Reference, orders_of
    from ._ridge import LeverageDesign, RandomDesign, Ridge
    from ._serve import TOOLS, host_process, serve
    from ._space import Factor, Space, letters, space_of
    from ._submissions import (
        Submission,
        SubmissionScore,
        read_submissions,
        score_submission,
        submissions_board,
        summarise_submissions,
    )
    from ._workflow import Workflow, read_workflow, workflow_of_command, workflow_of_function
    from ._workflow_report import enumeration_facts, surface_report, write_workflow_report

_HOMES = {
    "CellCache": "_cell_cache",
    "CellFailure": "_enumeration",
    "CellRun": "_cell_cache",
    "Design": "_estimator",
    "ESTIMATORS": "_methods",
    "EnumerateOptions": "_enumerate",
    "Enumeration": "_enumeration",
    "EpisodeClient": "_client",
    "EpisodeHost": "_episode",
    "EpisodeOptions": "_episode_options",
    "EpisodeRefused": "_client",
    "Estimate": "_estimator",
    "Estimator": "_estimator",
    "EvaluateOptions": "_evaluate",
    "Evaluation": "_evaluate",
    "Factor": "_space",
    "GPDesign": "_gp",
    "HammingGP": "_gp",
    "HardnessPoint": "_hardness",
    "InertRule": "_equivalence",
    "Interval": "_estimator",
    "LeverageDesign": "_ridge",
    "METHODS": "_methods",
    "Method": "_path",
    "ModelAveragedDesign": "_ard",
    "ModelAveragedGP": "_ard",
    "Noise": "_reference",
    "Observations": "_observations",
    "PROFILE": "_metrics",
    "PublishedLeverageDesign": "_published_design",
    "RandomDesign": "_ridge",
    "Reference": "_reference",
    "Refused": "_episode",
    "Ridge": "_ridge",
    "Space": "_space",
    "Step": "_path",
    "Submission": "_submissions",
    "SubmissionScore": "_submissions",
    "TOOLS": "_serve",
    "TableScore": "_metrics",
    "Truth": "_metrics",
    "WORKFLOWS": "_own",
    "Workflow": "_workflow",
    "classes_by_output": "_equivalence",
    "classes_by_rules": "_equivalence",
    "complete": "_metrics",
    "default_budgets": "_hardness",
    "describe_reference": "_describe",
    "enumerate_workflow": "_enumerate",
    "enumeration_facts": "_workflow_report",
    "episode_submission": "_episode",
    "equal_outputs": "_describe",
    "estimator_named": "_methods",
    "evaluate": "_evaluate",
    "family_macro": "_evaluate",
    "hardness": "_hardness",
    "host_process": "_serve",
    "letters": "_space",
    "method_named": "_methods",
    "noise_ceiling": "_metrics",
    "orders_of": "_reference",
    "origin": "_library",
    "published_references": "_library",
    "read_reference": "_library",
    "read_references": "_library",
    "read_submissions": "_submissions",
    "read_workflow": "_workflow",
    "reference_from_json": "_library",
    "rules_from_classes": "_equivalence",
    "run_path": "_path",
    "score_submission": "_submissions",
    "score_table": "_metrics",
    "select": "_evaluate",
    "serve": "_serve",
    "shipped_origin": "_own",
    "shipped_reference": "_own",
    "shipped_references": "_own",
    "shipped_workflow": "_own",
    "sign_reversals": "_metrics",
    "space_of": "_space",
    "submissions_board": "_submissions",
    "summarise_submissions": "_submissions",
    "surface_report": "_workflow_report",
    "workflow_of_command": "_workflow",
    "workflow_of_function": "_workflow",
    "write_workflow_report": "_workflow_report",
}

__all__ = [
    "ESTIMATORS",
    "METHODS",
    "PROFILE",
    "TOOLS",
    "WORKFLOWS",
    "CellCache",
    "CellFailure",
    "CellRun",
    "Design",
    "EnumerateOptions",
    "Enumeration",
    "EpisodeClient",
    "EpisodeHost",
    "EpisodeOptions",
    "EpisodeRefused",
    "Estimate",
    "Estimator",
    "EvaluateOptions",
    "Evaluation",
    "Factor",
    "GPDesign",
    "HammingGP",
    "HardnessPoint",
    "InertRule",
    "Interval",
    "LeverageDesign",
    "Method",
    "ModelAveragedDesign",
    "ModelAveragedGP",
    "Noise",
    "Observations",
    "PublishedLeverageDesign",
    "RandomDesign",
    "Reference",
    "Refused",
    "Ridge",
    "Space",
    "Step",
    "Submission",
    "SubmissionScore",
    "TableScore",
    "Truth",
    "Workflow",
    "classes_by_output",
    "classes_by_rules",
    "complete",
    "default_budgets",
    "describe_reference",
    "enumerate_workflow",
    "enumeration_facts",
    "episode_submission",
    "equal_outputs",
    "estimator_named",
    "evaluate",
    "family_macro",
    "hardness",
    "host_process",
    "letters",
    "method_named",
    "noise_ceiling",
    "orders_of",
    "origin",
    "published_references",
    "read_reference",
    "read_references",
    "read_submissions",
    "read_workflow",
    "reference_from_json",
    "rules_from_classes",
    "run_path",
    "score_submission",
    "score_table",
    "select",
    "serve",
    "shipped_origin",
    "shipped_reference",
    "shipped_references",
    "shipped_workflow",
    "sign_reversals",
    "space_of",
    "submissions_board",
    "summarise_submissions",
    "surface_report",
    "workflow_of_command",
    "workflow_of_function",
    "write_workflow_report",
]


__getattr__ = lazy(__name__, _HOMES)
