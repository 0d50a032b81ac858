"""A reference in figures: effects, interactions, sign reversals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ._metrics import NOTHING, SIGN_FLOORS, sign_reversals

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
                "helps": int((own > NOTHING).sum()),
                "harms": int((own < -NOTHING).sum()),
            }
        )
    interactions, start = {}, 0
    for a, b in combinations(range(space.k), 2):
        count = math.comb(space.levels[a], 2) * math.comb(space.levels[b], 2)
        own = truth.pairs[start : start + count]
        start += count
        interactions[f"{names[a]} x {names[b]}"] = float(own[np.abs(own).argmax()])
    return {
        "name": reference.name,
        "source": reference.source,
        "family": reference.family,
        "factors": names,
        "n_cells": space.n_cells,
        "n_effects": int(truth.effects.size),
        "n_pairs": len(truth.pairs),
        "best": truth.best,
        "best_mask": space.masks[space.best(truth.values)],
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


def equal_outputs(reference: Reference) -> Iterator[tuple[str, ...]]:
    """Give the masks of each class with more than one."""
    if reference.classes is None:
        return
    masks = reference.space.masks
    for first in np.unique(reference.classes):
        members = np.flatnonzero(reference.classes == first)
        if members.size > 1:
            yield tuple(masks[one] for one in members)
