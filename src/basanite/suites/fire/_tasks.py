"""FIRE-Bench's tasks: names, difficulty, and what a user's file adds to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from pydantic import Field

from ...errors import InputError
from ...schema import Model
from ...store import Columns
from .._rows import name_of, parsed_rows, spelt, whole_in

DIFFICULTIES = ("easy", "medium", "hard")
_AXES = ("d", "c", "m")
_COLUMNS = Columns(required=("task",), known=frozenset({"task", "published", *_AXES}))


class FireTask(Model):
    """One task, as far as it is known."""

    task: str
    number: int | None = None
    """Its place in the paper's tables."""
    venue: str | None = None
    year: int | None = None
    d: int | None = Field(default=None, ge=1, le=3)
    """Conceptual decomposition, 1 to 3."""
    c: int | None = Field(default=None, ge=1, le=3)
    """Confounds and causality, 1 to 3."""
    m: int | None = Field(default=None, ge=1, le=3)
    """Measurement, 1 to 3."""
    calls_per_model: int | None = None
    """Budget of calls of each model that the instruction grants; None where it names none."""
    earlier_name: str | None = None
    """Its name in the first state of the repository."""
    published: date | None = None
    """When its paper came out; only a user's file says so."""

    @property
    def difficulty(self) -> str | None:
        """`easy`, `medium` or `hard`; None where an axis is not known."""
        if self.d is None or self.c is None or self.m is None:
            return None
        return difficulty_of(self.d, self.c, self.m)


def difficulty_of(d: int, c: int, m: int) -> str:
    """Give the stratum of ``S = D + C + M``: 3-4 easy, 5-6 medium, 7-9 hard (appendix C).

    Raises:
        InputError: an axis is no whole number from 1 to 3.
    """
    for name, value in zip("DCM", (d, c, m), strict=True):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 3:
            raise InputError(f"{name} is {spelt(value)}", todo="Give a whole number from 1 to 3.")
    total = d + c + m
    return DIFFICULTIES[0 if total <= 4 else 1 if total <= 6 else 2]


@dataclass(frozen=True)
class FireTasks:
    """Tasks by name, and what is odd about them."""

    tasks: Mapping[str, FireTask]
    notes: tuple[str, ...] = field(default=())

    def find(self, name: str) -> FireTask:
        """Give a task.

        Raises:
            InputError: there is none of this name.
        """
        found = self.tasks.get(name)
        if found is not None:
            return found
        now = next((one.task for one in self.tasks.values() if one.earlier_name == name), None)
        todo = f"It is called {now} now." if now else "Name one, or give your own with --tasks."
        raise InputError(f"the task {spelt(name)} is not known", todo=todo)


@lru_cache(maxsize=1)
def fire_tasks() -> FireTasks:
    """Give the thirty published tasks and the five that were added later."""
    listed = package_data("tasks.json")["tasks"]
    assert isinstance(listed, list)
    tasks = [FireTask.model_validate(one) for one in listed]
    return FireTasks(MappingProxyType({one.task: one for one in tasks}))


def package_data(name: str) -> dict[str, object]:
    """Read a file of this package's data."""
    text = resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def read_tasks(path: str | Path) -> FireTasks:
    """Add a user's tasks to the known ones, or dates and other axes to these.

    Args:
        path: JSONL, CSV or Parquet with `task`, and perhaps `published` (the day on which the
            paper came out, YYYY-MM-DD) and the axes `d`, `c`, `m` (all three or none).

    Raises:
        RowError: rows can't be used; the message names the first three.
        InputError: the file can't be used as a whole.
    """
    path = Path(path)
    known = fire_tasks().tasks
    tasks = dict(known)
    notes: list[str] = []
    rows = parsed_rows(
        path,
        _COLUMNS,
        _given,
        key=lambda given: given["task"],
        same="task",
    )
    for _, given in rows:
        name = str(given["task"])
        before = known.get(name, FireTask(task=name))
        tasks[name] = before.model_copy(update=given)
        if before.difficulty not in {None, tasks[name].difficulty}:
            change = f"{tasks[name].difficulty} instead of {before.difficulty}"
            notes.append(f"{name} is {change}, by the file of tasks")
    return FireTasks(MappingProxyType(tasks), tuple(notes))


def _given(record: Mapping[str, object], *, in_csv: bool) -> dict[str, object]:
    name = name_of(record, "task")
    if not name.strip():
        raise InputError("task is empty", todo="Name the task.")
    given: dict[str, object] = {"task": name}
    axes = {axis: whole_in(record, axis, in_csv=in_csv) for axis in _AXES}
    present = {axis: value for axis, value in axes.items() if value is not None}
    if present:
        if len(present) < len(axes):
            raise InputError("d, c and m are not all there", todo="Give all three, or none.")
        difficulty_of(*present.values())
        given |= present
    day = record.get("published")
    if day is not None and day != "":
        given["published"] = day_of(day, "published")
    return given


def day_of(value: object, what: str) -> date:
    """Take a value as a day.

    Raises:
        InputError: it is none: a year or a month says not on which side of a cutoff it lies.
    """
    if isinstance(value, date):  # Parquet's own type
        return date(value.year, value.month, value.day)
    try:
        if isinstance(value, str) and len(value) == len("YYYY-MM-DD"):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise InputError(f"{what} is {spelt(value)}", todo="Give a day as YYYY-MM-DD.")
