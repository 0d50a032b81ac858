"""The twenty tasks: facts and numbers from their metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from ...errors import InputError
from ...schema import Model


class AirsTask(Model):
    """What is known of one task."""

    task: str
    """Its name, which is that of its folder."""
    category: str
    research_problem: str
    dataset: str
    """On the Hugging Face hub."""
    config: str
    metric: str
    lower_is_better: bool
    low: float
    """Least score that the metric can give."""
    high: float | None
    """Largest score that the metric can give; None for errors, which have no largest."""
    s_opt: float
    """Score of a perfect submission."""
    s_sota: float
    """State of the art, as published."""
    s_min: float
    """Worst valid score of the published study (`estimated_worst_score`)."""
    resolution: float
    """Distances to `s_opt` below this can't be told apart: see `resolution_from`. Ours."""
    resolution_from: str
    n_test: int
    """Rows of the test set."""
    train_split: str
    test_split: str
    input_columns: tuple[str, ...]
    scoring_columns: tuple[str, ...]
    sota_title: str
    sota_url: str
    sota_year: int
    sota_venue: str
    evaluate_sha256: str
    """Of `evaluate.py` at the commit that the facts are from."""
    evaluator_changed: str | None
    """What of the evaluator changed after the published leaderboard; None for nothing."""

    def refusal(self, score: float) -> str | None:
        """Why the metric can't have given this score; None where it can."""
        if score >= self.low and (self.high is None or score <= self.high):
            return None
        ends = f"{self.low:g} or more" if self.high is None else f"{self.low:g} to {self.high:g}"
        return f"the score {score:g} is out of range: {self.metric} is {ends}"


@lru_cache(maxsize=1)
def airs_tasks() -> Mapping[str, AirsTask]:
    """Give the tasks by name, in the order of their names."""
    tasks = [AirsTask.model_validate(row) for row in package_data("tasks.json")["tasks"]]
    return MappingProxyType({one.task: one for one in tasks})


def airs_source() -> dict[str, str]:
    """Give where the tasks' facts are from: `source`, `commit` and `license`."""
    found = package_data("tasks.json")
    return {name: str(found[name]) for name in ("source", "commit", "license")}


def find_task(name: str) -> AirsTask:
    """Give the task of this name.

    Raises:
        InputError: there is none; the message names similar ones.
    """
    task = airs_tasks().get(name)
    if task is None:
        close = get_close_matches(name, airs_tasks(), n=2, cutoff=0.5)
        hint = f"Is it {' or '.join(close)}?" if close else "`basanite suite airs list` has all."
        raise InputError(f"the task {name[:80]!r} is not known", todo=hint)
    return task


def package_data(name: str) -> dict[str, list[dict[str, object]]]:
    """Read a JSON file of this package."""
    text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    found: dict[str, list[dict[str, object]]] = json.loads(text)
    return found
