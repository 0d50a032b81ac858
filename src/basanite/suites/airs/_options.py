"""How runs are scored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...errors import InputError
from ...stats import Bootstrap, Resample, check_plan
from ...store import unique_names
from .._rows import number_of
from ._tasks import AirsTask, find_task


@dataclass(frozen=True, slots=True)
class AirsOptions:
    """Settings of our own figures; the published ones have none.

    Raises:
        InputError: a number that can't be used.
    """

    s_min: Mapping[str, float] | Literal["given", "observed"] = "given"
    """Worst scores: those of the tasks' metadata, those of the runs at hand, or the caller's own
    by task (the metadata's for tasks that it leaves out)."""
    resample: Resample = Resample.BOTH
    """What intervals draw: tasks (the clusters), seeds within each (the members), or both. With
    twenty tasks, percentile intervals that draw tasks alone hold a little less than they promise
    (91 to 92 % in simulations); both hold 91 to 98 %, the more the noisier the seeds are."""
    plan: Bootstrap = field(default_factory=Bootstrap)
    """Replicates, seed and level of the intervals; the level is that of the published ones too."""
    prior: float = 1.0
    """Drawn games added between each two players, only where players separate; 0: they have no
    rating then."""
    published_draws: int = 50_000
    """Replicates of the published interval of the normalized score."""
    battle_rounds: int = 100
    """Replicates of the published interval of the rating."""

    def __post_init__(self) -> None:
        check_plan(self.plan)
        if not number_of(self.prior, "prior") >= 0:
            raise InputError(f"prior is {self.prior}", todo="Give 0, or drawn games.")
        if min(self.published_draws, self.battle_rounds) < 10:
            raise InputError("fewer than ten replicates make no interval", todo="Give 10 or more.")
        if not isinstance(self.s_min, str):
            for name, value in self.s_min.items():
                _check_s_min(name, value)

    def given(self, tasks: Iterable[AirsTask]) -> dict[str, float]:
        """Give each task's worst score, not looking at any runs."""
        own = {} if isinstance(self.s_min, str) else self.s_min
        return {one.task: float(own.get(one.task, one.s_min)) for one in tasks}


def read_s_min(path: str | Path) -> dict[str, float]:
    """Read worst scores from a JSON file that maps tasks to numbers.

    Raises:
        InputError: the file is none, a task is unknown, or a score is out of its metric's range.
    """
    path = Path(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique_names)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", where=str(path)) from None
    if not isinstance(found, dict):
        raise InputError("is no JSON object", where=str(path), todo='Write {"TASK": number}.')
    try:
        for name, value in found.items():
            _check_s_min(name, value)
    except InputError as error:
        raise InputError(error.what, where=str(path), todo=error.todo) from None
    return {name: float(value) for name, value in found.items()}


def _check_s_min(name: str, value: object) -> None:
    task, number = find_task(name), number_of(value, f"s_min of {name[:80]}")
    refusal = task.refusal(number)
    if refusal is not None:
        raise InputError(f"{name}: {refusal}")
