"""A workflow of one's own: its factors, and how one configuration is run."""

from __future__ import annotations

import hashlib
import inspect
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal

from ...errors import InputError
from ._space import Factor, Space, space_of

Score = float | int | Mapping[str, object]
"""What a run gives: its score, or an object with `score` and perhaps `output` and `metrics`."""

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SEED = "seed"
_CHOICES = {"better": ("higher", "lower"), "cost": ("equal", "seconds")}


@dataclass(frozen=True)
class Workflow:
    """What is run, with each combination of the factors' levels.

    Made by `workflow_of_function`, `workflow_of_command` or `read_workflow`.
    """

    name: str
    factors: tuple[Factor, ...]
    files: Mapping[str, bytes] = field(repr=False)
    """What lies in the work folder of each run, by relative path."""
    function: str | None = None
    """`FILE.py:NAME` of a function `run(config, seed)`; config holds the level of each factor."""
    command: tuple[str, ...] | None = None
    """A command with `{FACTOR}` and `{seed}`, instead of a function."""
    outputs: tuple[str, ...] = ()
    """Files that a command leaves, by which configurations are told apart."""
    source: str | None = None
    family: str = "own"
    description: str = ""
    better: Literal["higher", "lower"] = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    """Scores that become the utilities 0 and 1, or 1 and 0 where lower is better."""
    seeds: tuple[int, ...] = (0,)
    """Each configuration is run once with each; with several, its utility is their mean."""
    cost: Literal["equal", "seconds"] = "equal"
    """Whether each measurement costs the same, or what its runs took."""
    profile: str | None = None
    """The environment of `basanite.sandboxes` that it runs in; None: the system's Python."""
    timeout_s: float = 600.0
    memory_mb: int = 2048

    def __post_init__(self) -> None:
        where = f"workflow {self.name[:40]!r}"
        if not self.name or not all(c.isalnum() or c in "._-" for c in self.name):
            raise InputError(
                f"{self.name[:40]!r} is no name", todo="Use letters, digits, '-', '_' and '.'."
            )
        if (self.function is None) == (self.command is None):
            raise InputError("needs a function or a command, one of them", where=where)
        if len({one.name for one in self.factors}) < len(self.factors):
            raise InputError("two factors have the same name", where=where)
        space_of(tuple(len(one.levels) for one in self.factors))
        low, high = self.range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InputError(f"the range is {list(self.range)}", where=where)
        # A misspelt `better` would turn each utility around.
        for name in _CHOICES:
            _check_choice(name, getattr(self, name), where)
        if not (0 < self.timeout_s < math.inf and self.memory_mb >= 1):
            raise InputError(
                f"the limits are {self.timeout_s} s and {self.memory_mb} MB",
                where=where,
                todo="Give numbers above 0.",
            )
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise InputError(f"the seeds are {list(self.seeds)}", where=where)
        for path in (*self.files, *self.outputs):
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or not path:
                raise InputError(f"{path!r} leads out of the work folder", where=where)
        if self.function is not None:
            self._check_function(self.function, where)
        if self.command is not None:
            self._check_command(self.command, where)

    def _check_function(self, function: str, where: str) -> None:
        file, _, name = function.partition(":")
        if file not in self.files or not _FUNCTION.fullmatch(name):
            raise InputError(
                f"there is no function {function!r}", where=where, todo='Give "FILE.py:NAME".'
            )
        if self.outputs:
            raise InputError("a function gives its output itself", where=where)

    def _check_command(self, command: Sequence[str], where: str) -> None:
        if not command:
            raise InputError("the command is empty", where=where)
        known = {one.name for one in self.factors}
        if _SEED in known:
            raise InputError(f"a command's factor can't be named {_SEED!r}", where=where)
        named = {name for part in command for name in _PLACEHOLDER.findall(part)}
        if unknown := sorted(named - known - {_SEED}):
            raise InputError(f"the command names unknown factors: {unknown}", where=where)
        if unused := sorted(known - named):
            raise InputError(f"the command does not use the factors {unused}", where=where)

    @cached_property
    def space(self) -> Space:
        """All configurations."""
        return space_of(tuple(len(one.levels) for one in self.factors))

    @cached_property
    def code_sha256(self) -> str:
        """Hash of all that is run, but for the configuration: files, function or command."""
        made = hashlib.sha256()
        for path in sorted(self.files):
            made.update(f"{path}\0{hashlib.sha256(self.files[path]).hexdigest()}\0".encode())
        parts = [self.function or "", *(self.command or ()), "", *self.outputs]
        made.update("\0".join(parts).encode())
        return made.hexdigest()

    @property
    def code(self) -> str:
        """The text of all files, for the view `full` of an episode."""
        if self.function is not None and len(self.files) == 1:
            return next(iter(self.files.values())).decode("utf-8", "replace")
        shown = [f"$ {' '.join(self.command)}"] if self.command is not None else []
        shown += [f"# {path}\n{self.files[path].decode('utf-8', 'replace')}" for path in self.files]
        return "\n".join(shown)

    def config(self, mask: str) -> dict[str, str]:
        """Give the level of each factor in a configuration."""
        digits = self.space.codes[self.space.cell(mask)].tolist()
        return {one.name: one.levels[d] for one, d in zip(self.factors, digits, strict=True)}

    def command_for(self, mask: str, seed: int) -> tuple[str, ...]:
        """Fill the command's placeholders; a level stays one argument, whatever it holds."""
        values = {**self.config(mask), _SEED: str(seed)}
        return tuple(
            _PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in self.command or ()
        )

    def utility(self, score: float) -> float:
        """Scale a score to 0 to 1.

        Raises:
            InputError: it is no number in the workflow's range.
        """
        low, high = self.range
        if not low <= score <= high:  # also NaN
            raise InputError(
                f"the score {score:g} is not from {low:g} to {high:g}",
                where=self.name,
                todo="Give the workflow a range that holds all its scores.",
            )
        share = (score - low) / (high - low)
        return share if self.better == "higher" else 1.0 - share


def workflow_of_function(
    run: Callable[[Mapping[str, str], int], Score],
    factors: Sequence[Factor],
    *,
    name: str | None = None,
    **settings: object,
) -> Workflow:
    """Make a workflow of a Python function.

    The file that holds it is copied into each run's sandbox and imported there, alone: what it
    imports must be in the sandbox's environment (`profile`) or among `files`.

    Args:
        run: at the top level of a file; takes the level of each factor by name, and a seed.
        factors: what can be changed.
        name: of the workflow; the function's by default.
        settings: further fields of `Workflow`; `files` are added to the function's own.

    Raises:
        InputError: it is no function at the top level of a file, or a field does not fit.
    """
    qualified = getattr(run, "__qualname__", "")
    try:
        found = inspect.getsourcefile(run)
    except TypeError:
        found = None
    path = None if found is None else Path(found)
    if path is None or not path.is_file() or not _FUNCTION.fullmatch(qualified):
        raise InputError(
            "a workflow's function must stand at the top level of a file",
            where=qualified or repr(run)[:40],
        )
    more = settings.pop("files", {})
    if not isinstance(more, Mapping):
        raise InputError("files is no mapping of bytes by path", where=qualified)
    files = {path.name: path.read_bytes(), **more}
    return Workflow(
        name=name or qualified,
        factors=tuple(factors),
        files=files,
        function=f"{path.name}:{qualified}",
        **settings,  # type: ignore[arg-type]
    )


def workflow_of_command(
    command: Sequence[str], factors: Sequence[Factor], *, name: str, **settings: object
) -> Workflow:
    """Make a workflow of a command.

    Its last line of output is the score: a number, or a JSON object with `score` and perhaps
    `metrics`. The files named by `outputs` tell which configurations put the same out.

    Args:
        command: arguments with `{FACTOR}` for each factor's level, and `{seed}`.
        factors: what can be changed.
        name: of the workflow.
        settings: further fields of `Workflow`, such as `files` and `outputs`.

    Raises:
        InputError: a placeholder is unknown, a factor is not used, or a field does not fit.
    """
    return Workflow(
        name=name,
        factors=tuple(factors),
        command=tuple(command),
        **{"files": {}, **settings},  # type: ignore[arg-type]
    )


_FIELDS = {
    "name": str,
    "description": str,
    "family": str,
    "source": str,
    "better": str,
    "cost": str,
    "profile": str,
    "function": str,
    "timeout_s": (int, float),
    "memory_mb": int,
    "command": list,
    "outputs": list,
    "files": list,
    "range": list,
    "seeds": list,
    "factors": list,
}


def read_workflow(path: str | Path) -> Workflow:
    """Read a description of a workflow, a TOML file, with the files that it names beside it.

    Fields are those of `Workflow`: `function = "FILE.py:NAME"` or `command = […]`, and a table
    `[[factors]]` with `name`, `description` and `levels` for each factor. No code is run.

    Raises:
        InputError: it can't be read, or a field is unknown, missing or of another kind.
    """
    path = Path(path)
    where = str(path)
    try:
        body = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such file", where=where) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"can't be read as TOML: {error}", where=where) from None
    _check_fields(body, where)
    factors = tuple(_factor(one, where) for one in body.pop("factors"))
    files = [*_texts(body, "files", where)]
    function = body.get("function", "").partition(":")[0]
    files += [function] if function and function not in files else []
    settings: dict[str, object] = dict(body)
    settings["files"] = {name: _beside(path, name) for name in files}
    settings["outputs"] = _texts(body, "outputs", where)
    if "command" in body:
        settings["command"] = _texts(body, "command", where)
    if "seeds" in body:
        if not all(type(one) is int for one in body["seeds"]):
            raise InputError("the seeds are no whole numbers", where=where)
        settings["seeds"] = tuple(body["seeds"])
    if "range" in body:
        ends = body["range"]
        if len(ends) != 2 or not all(type(one) in (int, float) for one in ends):
            raise InputError("the range is not two numbers", where=where)
        settings["range"] = (float(ends[0]), float(ends[1]))
    try:
        return Workflow(factors=factors, **settings)  # type: ignore[arg-type]
    except InputError as error:
        raise InputError(error.what, where=where, todo=error.todo) from None


def _check_fields(body: Mapping[str, object], where: str) -> None:
    for name, value in body.items():
        kind = _FIELDS.get(name)
        if kind is None:
            known = ", ".join(_FIELDS)
            raise InputError(f"unknown field {name!r}", where=where, todo=f"Known are {known}.")
        if not isinstance(value, kind) or isinstance(value, bool):  # type: ignore[arg-type]
            raise InputError(f"the field {name!r} can't be {value!r}"[:120], where=where)
        if name in _CHOICES:
            _check_choice(name, value, where)
    if "name" not in body or "factors" not in body:
        raise InputError("name and factors are needed", where=where)


def _check_choice(name: str, value: object, where: str) -> None:
    if value not in _CHOICES[name]:
        allowed = " or ".join(_CHOICES[name])
        raise InputError(f"{name} is {str(value)[:40]!r}", where=where, todo=f"Give {allowed}.")


def _factor(given: object, where: str) -> Factor:
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise InputError("a factor has no name", where=where)
    if unknown := set(given) - {"name", "description", "levels"}:
        raise InputError(f"factor {given['name']!r}: unknown {sorted(unknown)}", where=where)
    levels = given.get("levels", ["off", "on"])
    if not isinstance(levels, list) or not all(isinstance(one, str) for one in levels):
        raise InputError(f"the levels of {given['name']!r} are no texts", where=where)
    return Factor(given["name"], str(given.get("description", "")), tuple(levels))


def _texts(body: Mapping[str, object], name: str, where: str) -> tuple[str, ...]:
    given = body.get(name, [])
    assert isinstance(given, list)
    if not all(isinstance(one, str) for one in given):
        raise InputError(f"{name} is no list of texts", where=where)
    return tuple(given)


def _beside(path: Path, name: str) -> bytes:
    try:
        return (path.parent / name).read_bytes()
    except OSError as error:
        raise InputError(
            f"the file {name!r} can't be read: {error.strerror}", where=str(path)
        ) from None
