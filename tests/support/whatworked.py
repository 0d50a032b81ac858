"""Workflows and files of WhatWorked for tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from basanite.suites.whatworked import (
    EpisodeHost,
    EpisodeOptions,
    Factor,
    InertRule,
    Reference,
    space_of,
)

SECRET = 0.123456789012345


def workflow(**given: object) -> Reference:
    """Four factors; while A is off, D changes nothing; the value of 0110 is `SECRET`."""
    space = space_of((2,) * 4)
    on = space.codes
    values = 0.2 + 0.3 * on[:, 0] + 0.1 * on[:, 1] - 0.05 * on[:, 2] + 0.2 * on[:, 0] * on[:, 3]
    for mask in ("0110", "0111"):
        values[space.cell(mask)] = SECRET
    names = ("impute", "scale", "smooth", "stack")
    factors = [Factor(name, f"whether to {name}") for name in names]
    rules = [InertRule(0, 0, 3)]
    return Reference.from_values("made", np.round(values, 15), factors, rules=rules, **given)  # type: ignore[arg-type]


def reference_file(folder: Path, one: Reference | None = None) -> Path:
    """Write a reference as a file."""
    path = folder / "made.json"
    path.write_text(json.dumps((one or workflow()).to_json()), encoding="utf-8")
    return path


def host(folder: Path, **options: object) -> EpisodeHost:
    """Begin an episode in a folder, or go on with it."""
    given = EpisodeOptions(**{"budget": 3, **options})  # type: ignore[arg-type]
    return EpisodeHost(folder / "episode.json", workflow(), given)


def submissions(folder: Path, *rows: object) -> Path:
    """Write rows as JSONL; text is written as it is."""
    path = folder / "rows.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
