"""A critic study as plain JSON; a number that can't be given is null, with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ._study_cells import MissingItem, StudyItem

if TYPE_CHECKING:
    from ._critic_study import ArmSummary, CriticStudy
    from ._study_contrasts import Contrast
    from ._study_groups import StudyGroups

SCHEMA = "basanite.critic_study/1"


def envelope(study: CriticStudy) -> dict[str, JsonValue]:
    """Give a study as plain JSON values."""
    return {
        "schema": SCHEMA,
        "level": study.level,
        "threshold": study.threshold,
        "n_items": len(study.items),
        "n_tasks": len({item.task for item in study.items}),
        "agents": _texts(sorted({item.agent for item in study.items} - {""})),
        "arms": {name: _arm(arm) for name, arm in study.arms.items()},
        "contrasts": _contrasts(study.contrasts),
        "by_agent": {agent: _contrasts(found) for agent, found in study.by_agent.items()},
        "groups": None if study.groups is None else _groups(study.groups),
        "notes": _texts(study.notes),
    }


def _arm(arm: ArmSummary) -> dict[str, JsonValue]:
    return {
        **arm.mean.to_json("mean"),
        "n_items": arm.mean.n,
        "n_tasks": arm.mean.n_clusters,
        "n_rows": arm.n_rows,
        "unscored": dict(arm.unscored),
        "missing": _missing(arm.missing),
    }


def _contrasts(contrasts: Iterable[Contrast]) -> list[JsonValue]:
    return [_contrast(contrast) for contrast in contrasts]


def _contrast(contrast: Contrast) -> dict[str, JsonValue]:
    difference = contrast.difference
    named: dict[str, JsonValue] = {"first": contrast.first, "second": contrast.second}
    if contrast.group is not None:
        named["group"] = contrast.group
    return named | {
        **difference.mean.to_json("difference"),
        "p_value": difference.p_value,
        "p_exact": difference.exact,
        "p_holm": contrast.p_holm,
        "detectable": difference.detectable,
        "n_items": difference.n,
        "n_tasks": difference.n_clusters,
        "better": contrast.better,
        "equal": contrast.equal,
        "worse": contrast.worse,
        "left_out": [_item(item) for item in contrast.left_out],
    }


def _groups(groups: StudyGroups) -> dict[str, JsonValue]:
    return {
        "by": groups.by,
        "low": groups.cuts.low,
        "high": groups.cuts.high,
        "sizes": dict(groups.sizes),
        "contrasts": _contrasts(groups.contrasts),
        "ungrouped": _missing(groups.ungrouped),
    }


def _missing(missing: Iterable[MissingItem]) -> list[JsonValue]:
    return [{**_item(one.item), "reason": one.reason} for one in missing]


def _item(item: StudyItem) -> dict[str, JsonValue]:
    return {"task": item.task, "agent": item.agent or None}


def _texts(texts: Iterable[str]) -> list[JsonValue]:
    return list(texts)
