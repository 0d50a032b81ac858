"""Trials for tests of FIRE-Bench: few by hand, and those that the published table describes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from basanite.suites.fire import FireTrial
from support.command import write_rows

EASY, MEDIUM, HARD = "lost_in_the_middle", "questbench", "seca_hallucination"


def trial(agent: str = "a", task: str = EASY, number: object = 0, **given: Any) -> dict[str, Any]:
    """One row; precision, recall and F1 agree with each other."""
    scores = {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    return {"agent": agent, "task": task, "trial": number, **scores, **given}


def file_of(folder: Path, *rows: object) -> Path:
    """A file of trials."""
    return write_rows(folder / "trials.jsonl", rows)


def of(agent: str, values: dict[str, list[float]], **given: Any) -> list[FireTrial]:
    """Trials of an agent, from task to F1 of each."""
    return [
        FireTrial(agent, task, str(number), value, **given)
        for task, found in values.items()
        for number, value in enumerate(found)
    ]


def three_runs(mean: float, spread: float) -> list[float]:
    """Three shares with a mean and a population standard deviation, both printed in percent.

    All such triples are ``m + s sqrt(2) cos(angle + 2 pi k / 3)``; one within 0 and 100 is taken,
    up to the rounding of what was printed. The mean is exact.
    """

    def triple(step: int) -> list[float]:
        turn = math.pi * step / 1800
        around = [math.cos(turn + 2 * math.pi * k / 3) for k in range(3)]
        return [mean + spread * math.sqrt(2) * one for one in around]

    best = min((triple(step) for step in range(3600)), key=lambda t: max(-min(t), max(t) - 100))
    cut = [min(100.0, max(0.0, value)) for value in best]
    rest = 3 * mean - sum(cut)
    place = max(range(3), key=lambda n: min(cut[n], 100 - cut[n]))
    cut[place] += rest
    return [value / 100 for value in cut]
