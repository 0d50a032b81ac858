"""The summary as plain JSON: one envelope for all commands.

A score's mean stands under its own name, its interval beside it as `NAME_interval`; an
interval that can't be given is null. Shares run from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ..schema import NOT_VALIDATED
from ..stats import Coefficient, Estimate
from ._agreement import AUTHOR_NOTE, Agreement, LabelAgreement
from ._choice import ChoiceFigures
from ._summary import BaselineSummary, GroupSummary, Summary

SCHEMA = "basanite.summary/1"


def envelope(summary: Summary) -> dict[str, JsonValue]:
    """Give a summary as plain JSON values."""
    primary = summary.scores[summary.primary]
    return {
        "schema": SCHEMA,
        "run": summary.run,
        "judge": summary.judge,
        "fingerprint": summary.fingerprint,
        "validated": False,
        "validation": NOT_VALIDATED,
        "primary": summary.primary,
        "n_total": summary.n_total,
        "n_scored": summary.n_scored,
        "n_tasks": primary.mean.n_clusters,
        "share_unscored": summary.share_unscored,
        "unscored": dict(primary.unscored),
        "scores": _means({name: score.mean for name, score in summary.scores.items()}),
        "coverage": {
            name: {
                "n_scored": score.n_scored,
                "n_total": score.n_total,
                "n_tasks": score.mean.n_clusters,
                "unscored": dict(score.unscored),
            }
            for name, score in summary.scores.items()
        },
        "agents": {group.name: _group(group, summary.primary) for group in summary.agents},
        "baseline": None if summary.baseline is None else _baseline(summary.baseline),
        "agreement": {found.label: _labels(found) for found in summary.agreement},
        "usage": _usage(summary),
        "seconds": summary.seconds,
        **({} if summary.choice is None else {"choice": _choice(summary.choice)}),
    }


def _choice(found: ChoiceFigures) -> JsonValue:
    return {
        "n_compared": found.n_compared,
        "baselines": {name: dict(means) for name, means in found.baselines.items()},
        "n_predicted": found.n_predicted,
        "n_questions": found.n_questions,
        **found.published,
    }


def _interval(low: float | None, high: float | None) -> JsonValue:
    return None if low is None or high is None else [low, high]


def _means(estimates: Mapping[str, Estimate]) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {}
    for name, estimate in estimates.items():
        result[name] = estimate.value
        result[f"{name}_interval"] = _interval(estimate.low, estimate.high)
    return result


def _group(group: GroupSummary, primary: str) -> dict[str, JsonValue]:
    return {
        "n_total": group.n_total,
        "n_scored": group.scores[primary].n,
        "n_tasks": group.scores[primary].n_clusters,
        "scores": _means(group.scores),
    }


def _baseline(baseline: BaselineSummary) -> dict[str, JsonValue]:
    return {
        "judge": baseline.judge,
        "form": baseline.form,
        "primary": baseline.primary,
        "n_total": baseline.n_total,
        "n_scored": baseline.scores[baseline.primary].n,
        "scores": _means(baseline.scores),
        "caveat": baseline.caveat,
    }


def _labels(found: LabelAgreement) -> dict[str, JsonValue]:
    return {
        "kind": found.kind,
        "note": AUTHOR_NOTE if found.author else None,
        "judge": _agreement(found.judge),
        "baseline": None if found.baseline is None else _agreement(found.baseline),
    }


def _agreement(found: Agreement) -> dict[str, JsonValue]:
    return {
        "score": found.score,
        "n": found.n,
        "n_tasks": found.n_tasks,
        **_coefficient("pearson", found.pearson),
        **_coefficient("spearman", found.spearman),
        "means": [{"label": mean.label, "mean": mean.mean, "n": mean.n} for mean in found.means],
    }


def _coefficient(name: str, found: Coefficient) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {
        name: found.value,
        f"{name}_interval": _interval(found.low, found.high),
    }
    if found.reason is not None:
        result[f"{name}_reason"] = found.reason
    return result


def _usage(summary: Summary) -> dict[str, JsonValue]:
    used, tokens = summary.usage, summary.tokens
    return {
        "calls": used.calls,
        "cached_calls": used.cached_calls,
        "calls_without_usage": used.calls_without_usage,
        "prompt_tokens": None if tokens is None else tokens[0],
        "completion_tokens": None if tokens is None else tokens[1],
        "call_seconds": used.seconds,
    }
