"""A reference in figures: effects, interactions, sign reversals."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ._metrics import SIGN_FLOORS, sign_reversals

if TYPE_CHECKING:
    from ._reference import Reference


def describe_reference(reference: Reference) -> dict[str, object]:
    """Give what a reference says of its factors; for the host, not for an agent.

    `effects` has one row per factor over all its conditional effects; `interactions` the mean
    second difference of each pair (of the largest size where factors have more levels).
    """
    truth, space = reference.truth, reference.space
    names = [factor.name for factor in reference.factors]
    effects = []
    for number, name in enumerate(names):
        own = truth.effects[space.edge_factor == number]
        effects.append(
            {
                "factor": name,
                "mean": float(own.mean()),
                "least": float(own.min()),
                "most": float(own.max()),
                "helps": int((own > 1e-12).sum()),
                "harms": int((own < -1e-12).sum()),
            }
        )
    interactions, start = {}, 0
    for a, b in combinations(range(space.k), 2):
        count = _pairs(space.levels[a]) * _pairs(space.levels[b])
        own = truth.pairs[start : start + count]
        start += count
        interactions[f"{names[a]} x {names[b]}"] = float(own[np.abs(own).argmax()])
    best = int(space.preferred[truth.values[space.preferred].argmax()])
    return {
        "name": reference.name,
        "source": reference.source,
        "family": reference.family,
        "factors": names,
        "n_cells": space.n_cells,
        "n_effects": int(truth.effects.size),
        "n_pairs": len(truth.pairs),
        "best": truth.best,
        "best_mask": space.masks[best],
        "range": truth.spread,
        "mean_effect_size": truth.effect_size,
        "effects": effects,
        "interactions": interactions,
        "sign_reversals": [names[one] for one in sign_reversals(truth)],
        "reverses_at_floor": {
            f"{floor:g}": bool(sign_reversals(truth, floor)) for floor in SIGN_FLOORS
        },
        "rules": [str(rule) for rule in reference.rules],
        "sha256": reference.sha256,
    }


def _pairs(levels: int) -> int:
    return levels * (levels - 1) // 2
