"""A task's folder: its metadata, its text, and its evaluator."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError
from ._tasks import AirsTask, airs_tasks

METADATA = "metadata.yaml"
_NEEDED = (METADATA, "project_description.md", "prepare.py", "evaluate.py")
_LARGEST = 1_000_000
"""Bytes of a metadata file."""


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """What a folder says of its task."""

    path: Path
    name: str
    """`logging_info.name`, which is the folder's name as well."""
    metric: str
    lower_is_better: bool
    category: str | None
    dataset: str | None
    s_opt: float | None
    s_sota: float | None
    """The best of the listed ones."""
    s_min: float | None
    shape: tuple[int, ...] | None
    """Of the submission."""
    exports: tuple[str, ...]
    """What a submission consists of; `submission.csv`."""
    requirements: tuple[str, ...]
    """Packages that the evaluator needs, as pip takes them."""
    description: str
    """The task's text, as an agent gets it."""
    evaluate_sha256: str

    @property
    def known(self) -> AirsTask | None:
        """The task of this name among the benchmark's, or None."""
        return airs_tasks().get(self.name)

    def differences(self) -> tuple[str, ...]:
        """Say in what the folder differs from what is shipped of its task, if it is known."""
        return tuple(_differences(self))


def read_task_folder(path: str | Path) -> TaskFolder:
    """Read a task's folder in the published format.

    The metadata is read leniently, as the published files need it: trailing blanks, one
    requirement that is no list, and a shape that is a list, a tuple or a text of either.

    Raises:
        InputError: a file is missing, the metadata can't be read, or lacks name, metric or
            direction.
    """
    path = Path(path)
    for name in _NEEDED:
        if not (path / name).is_file():
            raise InputError(
                f"holds no {name}", where=str(path), todo="Name the folder of one task."
            )
    metadata = _metadata(path / METADATA)
    info = metadata.get("logging_info")
    if not isinstance(info, Mapping):
        raise InputError("has no logging_info", where=str(path / METADATA))
    where = str(path / METADATA)
    direction = metadata.get("metric_lower_is_better")
    if not isinstance(direction, bool):
        raise InputError(f"metric_lower_is_better is {direction!r}", where=where)
    return TaskFolder(
        path=path.resolve(),
        name=_text(info, "name", where),
        metric=_text(info, "metric", where),
        lower_is_better=direction,
        category=_maybe_text(info.get("category")),
        dataset=_maybe_text(info.get("dataset")),
        s_opt=_number(info, "optimal_score", where),
        s_sota=_sota(info, where, lower=direction),
        s_min=_number(info, "estimated_worst_score", where),
        shape=_shape(info.get("shape"), where),
        exports=_texts(metadata.get("file_export_globs")),
        requirements=_texts(metadata.get("evaluate_container_python_requirements")),
        description=(path / "project_description.md").read_text(encoding="utf-8", errors="replace"),
        evaluate_sha256=hashlib.sha256((path / "evaluate.py").read_bytes()).hexdigest(),
    )


def read_task_folders(path: str | Path) -> list[TaskFolder]:
    """Read one task's folder, or all that lie in a folder of tasks, by name.

    Raises:
        InputError: there is none, or one of them can't be read.
    """
    path = Path(path)
    if (path / METADATA).is_file():
        return [read_task_folder(path)]
    found = sorted(one.parent for one in path.glob(f"*/{METADATA}"))
    if not found:
        raise InputError(
            f"holds no {METADATA}, nor does a folder in it",
            where=str(path),
            todo="Name a task's folder, or the folder of all tasks (airsbench/tasks/rad).",
        )
    return [read_task_folder(one) for one in found]


def _metadata(path: Path) -> Mapping[str, object]:
    import yaml

    if path.stat().st_size > _LARGEST:
        raise InputError(f"is larger than {_LARGEST} bytes", where=str(path))
    try:
        # Parsed as data: no tag makes an object.
        found = yaml.safe_load(path.read_text(encoding="utf-8").rstrip())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"can't be read as YAML ({error})", where=str(path)) from None
    if not isinstance(found, Mapping):
        raise InputError("is no mapping", where=str(path))
    return found


def _text(info: Mapping[str, object], name: str, where: str) -> str:
    value = info.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"logging_info.{name} is {value!r}", where=where, todo="Give it as text.")
    return value.strip()


def _maybe_text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def _texts(value: object) -> tuple[str, ...]:
    """A list, or the one entry that stands for itself."""
    if value is None:
        return ()
    entries = value if isinstance(value, list) else [value]
    return tuple(str(entry).strip() for entry in entries)


def _number(info: Mapping[str, object], name: str, where: str) -> float | None:
    value = info.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        # YAML 1.1 takes `5e14` for text.
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"{name} is {value!r}, no number", where=where) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} is {value!r}, no number", where=where)
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is a whole number beyond all floats", where=where) from None


def _sota(info: Mapping[str, object], where: str, *, lower: bool) -> float | None:
    listed = info.get("sota")
    entries = listed if isinstance(listed, list) else [listed]
    scores = [
        score
        for entry in entries
        if isinstance(entry, Mapping) and (score := _number(entry, "sota_score", where)) is not None
    ]
    if not scores:
        return None
    return min(scores) if lower else max(scores)


def _shape(value: object, where: str) -> tuple[int, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise InputError(f"shape is {value!r}", where=where) from None
    entries = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in entries):
        raise InputError(f"shape is {value!r}", where=where, todo="Give whole numbers.")
    return tuple(entries)


def _differences(folder: TaskFolder) -> Iterator[str]:
    task = folder.known
    if task is None:
        yield f"{folder.name} is none of the benchmark's tasks"
        return
    pairs: list[tuple[str, object, object]] = [
        ("metric", folder.metric, task.metric),
        ("metric_lower_is_better", folder.lower_is_better, task.lower_is_better),
        ("optimal_score", folder.s_opt, task.s_opt),
        ("sota_score", folder.s_sota, task.s_sota),
        ("estimated_worst_score", folder.s_min, task.s_min),
        ("evaluate.py (sha256)", folder.evaluate_sha256, task.evaluate_sha256),
    ]
    for name, here, shipped in pairs:
        if here is not None and here != shipped:
            yield f"{name} is {here}, and {shipped} in what is shipped"
