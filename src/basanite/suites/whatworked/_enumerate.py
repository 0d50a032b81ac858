"""Run a workflow with every configuration, each run in a sandbox of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from ...errors import InputError, SetupError
from ...schema import Model, digest
from ._cell_cache import CellCache, CellRun
from ._equivalence import classes_by_output, rules_from_classes
from ._reference import Noise, Reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...sandboxes import ExecResult, Profile, Sandbox, SandboxSpec
    from ._workflow import Workflow

_PROGRAM = Path(__file__).with_name("_cell_program.py")
_REQUEST, _RESULT = ".request.json", "result.json"
_SAME = 1e-9
_SAID = 400
_TOLD = 3
_LEAST_S = 1e-6
_LARGEST = 1_000_000

Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class EnumerateOptions:
    """How the runs are made."""

    cache: Path
    """Folder of runs that are done; those that are there are not made again."""
    workers: int = 1
    """Sandboxes at a time."""
    backend: str | None = None
    """See `sandboxes.open_sandbox`."""
    on_run: Callable[[CellRun | CellFailure], None] | None = None
    """Called after each run that was made."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise InputError(f"{self.workers} workers", todo="Give 1 or more.")


@dataclass(frozen=True, slots=True)
class CellFailure:
    """A run that gave no score. It is not kept: the next enumeration tries it again."""

    mask: str
    seed: int
    reason: str
    """`timeout` or another limit, `exit_code`, `raised`, `no_score`, or `out_of_range`."""
    detail: str


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All runs of a workflow."""

    workflow: Workflow
    runs: tuple[CellRun, ...]
    """In the order of masks, and of seeds for each."""
    failures: tuple[CellFailure, ...]
    n_cached: int
    """Runs that were there already."""
    environment: Mapping[str, object] = field(default_factory=dict)
    """The interpreter or profile that they were made with."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """Utilities from 0 to 1, (n_cells, n_seeds).

        Raises:
            InputError: runs failed; it names the first few.
        """
        if self.failures:
            some = "; ".join(
                f"{one.mask} with seed {one.seed}: {one.reason} ({one.detail})"
                for one in self.failures[:_TOLD]
            )
            raise InputError(
                f"{len(self.failures)} of {len(self.runs) + len(self.failures)} runs gave no "
                f"score: {some}",
                where=self.workflow.name,
                todo="Mend the workflow; runs that are done are kept.",
            )
        shape = (self.workflow.space.n_cells, len(self.workflow.seeds))
        return np.array([self.workflow.utility(one.score) for one in self.runs]).reshape(shape)

    def classes(self) -> NDArray[np.int64] | None:
        """Find configurations that put the same out with every seed; None where none do.

        Raises:
            InputError: equal outputs have different scores.
        """
        scores = self.scores.mean(axis=1)
        n = len(self.workflow.seeds)
        hashes: list[tuple[str, ...] | None] = []
        for cell in range(self.workflow.space.n_cells):
            own = [one.output_sha256 for one in self.runs[cell * n : (cell + 1) * n]]
            whole = tuple(one for one in own if one is not None)
            hashes.append(whole if len(whole) == n else None)
        classes = classes_by_output(hashes)
        wrong = np.flatnonzero(np.abs(scores - scores[classes]) > _SAME)
        if wrong.size:
            masks = self.workflow.space.masks
            raise InputError(
                f"{masks[wrong[0]]} and {masks[classes[wrong[0]]]} put the same out and have "
                "different scores",
                where=self.workflow.name,
                todo="Put out all that the score is computed from.",
            )
        return classes if (classes != np.arange(classes.size)).any() else None

    def reference(self) -> Reference:
        """Make the reference: utilities, equal outputs, the rules behind them, costs, noise.

        With several seeds the noise is the pooled standard deviation of a configuration's runs.

        Raises:
            InputError: runs failed, or equal outputs have different scores.
        """
        scores = self.scores
        workflow, classes = self.workflow, self.classes()
        values, n = scores.mean(axis=1), scores.shape[1]
        if classes is not None:
            values = values[classes]  # exactly equal, whatever the last digit of a mean
        noise = None
        if n > 1:
            sd = float(np.sqrt(scores.var(axis=1, ddof=1).mean()))
            noise = Noise(sd, n) if sd > 0 else None
        costs = None
        if workflow.cost == "seconds":
            walls = np.array([one.wall_s for one in self.runs]).reshape(scores.shape)
            costs = walls.mean(axis=1).tolist()
        return Reference.from_values(
            workflow.name,
            values.tolist(),
            workflow.factors,
            source=workflow.source,
            family=workflow.family,
            rules=() if classes is None else rules_from_classes(workflow.space, classes),
            classes=classes,
            costs=costs,
            noise=noise,
        )

    def made(self) -> dict[str, object]:
        """Say how the reference was made: code, environment, warnings with the number of their
        runs, and each run in short.
        """
        workflow = self.workflow
        return {
            "description": workflow.description,
            "better": workflow.better,
            "range": list(workflow.range),
            "seeds": list(workflow.seeds),
            "code_sha256": workflow.code_sha256,
            "environment": dict(self.environment),
            "seconds": round(sum(one.wall_s for one in self.runs), 3),
            "warnings": dict(Counter(text for one in self.runs for text in one.warnings)),
            "runs": [
                {
                    "mask": one.mask,
                    "seed": one.seed,
                    "score": one.score,
                    **({"metrics": one.metrics} if one.metrics else {}),
                    "output_sha256": one.output_sha256,
                    "wall_s": round(one.wall_s, 4),
                }
                for one in self.runs
            ],
        }

    def to_json(self) -> dict[str, object]:
        """Give the reference as `reference_from_json` reads it, with how it was made."""
        return self.reference().to_json() | {"made": self.made()}


async def enumerate_workflow(workflow: Workflow, options: EnumerateOptions) -> Enumeration:
    """Run all configurations with all seeds; those in the cache are taken from there.

    Each run has a sandbox of its own, without a network, so that none sees what another left.
    It can be killed at any time, and goes on from what is in the cache.

    Raises:
        InputError: the profile is not built.
        SandboxLost, SandboxUnavailable, IsolationFloorNotMet, PolicyError: as for any sandbox.
    """
    spec, environment = _environment(workflow)
    cache = CellCache(options.cache, digest(environment))
    wanted = [(mask, seed) for mask in workflow.space.masks for seed in workflow.seeds]
    found: dict[tuple[str, int], CellRun | CellFailure] = {}
    for mask, seed in wanted:
        done = cache.get(workflow, mask, seed)
        if done is not None:
            found[mask, seed] = done
    n_cached = len(found)
    waiting = iter([one for one in wanted if one not in found])

    async def work() -> None:
        for mask, seed in waiting:  # shared: each worker takes the next
            one = await _run(workflow, spec, cache.key(workflow, mask, seed), (mask, seed), options)
            if isinstance(one, CellRun):
                cache.put(one)
            found[mask, seed] = one
            if options.on_run is not None:
                options.on_run(one)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(options.workers):
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    ordered = [found[one] for one in wanted]
    return Enumeration(
        workflow,
        tuple(one for one in ordered if isinstance(one, CellRun)),
        tuple(one for one in ordered if isinstance(one, CellFailure)),
        n_cached,
        environment,
    )


def _environment(workflow: Workflow) -> tuple[SandboxSpec, dict[str, object]]:
    """Give the sandbox of each run, and what of it decides on the result."""
    from ...sandboxes import Limits, SandboxSpec

    limits = Limits(wall_s=workflow.timeout_s, memory_mb=workflow.memory_mb)
    # One order of hashes, and one thread where the profile does not say so.
    spec = SandboxSpec(limits=limits, environment={"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"})
    if workflow.profile is None:
        python = Path(spec.python).resolve()
        size = python.stat().st_size if python.exists() else None
        return spec, {"python": str(python), "size": size}
    profile = _built(workflow.profile, workflow.name)
    return profile.apply(spec), {
        "profile": profile.name,
        "sha256": profile.sha256,
        "python": profile.python_version,
    }


def _built(name: str, where: str) -> Profile:
    from ...sandboxes import find_profile

    profile = find_profile(name)
    if profile is None:
        raise SetupError(
            f"the profile {name!r} is not built",
            where=where,
            todo=f"Run `basanite sandbox profile build {name}`.",
        )
    return profile


async def _run(
    workflow: Workflow,
    spec: SandboxSpec,
    key: str,
    cell: tuple[str, int],
    options: EnumerateOptions,
) -> CellRun | CellFailure:
    from ...sandboxes import open_sandbox

    mask, seed = cell
    async with await open_sandbox(spec, backend=options.backend) as sandbox:
        for path, data in workflow.files.items():
            await sandbox.upload(path, data)
        began = time.perf_counter()
        if workflow.function is None:
            done = await sandbox.execute(workflow.command_for(mask, seed))
            answer = _command_answer(workflow, done, time.perf_counter() - began)
        else:
            done = await _call(sandbox, workflow, cell)
            answer = _function_answer(done)
    if isinstance(answer, str):
        reason, _, detail = answer.partition(": ")
        return CellFailure(mask, seed, reason, detail)
    try:
        workflow.utility(answer.score)
    except InputError as error:
        return CellFailure(mask, seed, "out_of_range", error.what)
    return CellRun(
        key=key,
        workflow=workflow.name,
        mask=mask,
        config=workflow.config(mask),
        seed=seed,
        score=answer.score,
        metrics=answer.metrics,
        output_sha256=answer.output_sha256,
        warnings=answer.warnings,
        wall_s=max(answer.wall_s, _LEAST_S),
        backend=done.backend,
        policy_hash=done.policy_hash,
    )


async def _call(sandbox: Sandbox, workflow: Workflow, cell: tuple[str, int]) -> ExecResult:
    mask, seed = cell
    file, _, function = (workflow.function or "").partition(":")
    request = {
        "file": file,
        "function": function,
        "config": workflow.config(mask),
        "seed": seed,
    }
    await sandbox.upload(_REQUEST, json.dumps(request).encode())
    return await sandbox.execute(code=_PROGRAM.read_text(encoding="utf-8"))


class _Answer(Model):
    score: Finite
    metrics: dict[str, Finite] = Field(default_factory=dict)
    output_sha256: str | None = None
    warnings: tuple[str, ...] = ()
    wall_s: float = Field(ge=0, allow_inf_nan=False)


class _Printed(Model):
    score: Finite
    metrics: dict[str, Finite] = Field(default_factory=dict)


def _ended(done: ExecResult) -> str | None:
    """Say why an execution gives no score: a reason and, after a colon, a detail."""
    if done.ok:
        return None
    reason = "exit_code" if done.status == "exited" else str(done.status)
    return f"{reason}: {done.exit_code}, {_end(done.stderr.text)}"


def _function_answer(done: ExecResult) -> _Answer | str:
    if (why := _ended(done)) is not None:
        return why
    kept = next((one for one in done.artifacts if one.path == _RESULT), None)
    if kept is None or kept.file is None or kept.size > _LARGEST:
        return "no_score: the run left no result, or one that is too large"
    text = kept.file.read_text(encoding="utf-8")
    try:
        body = json.loads(text)
        if "error" in body:
            return f"raised: {body['error']}"
        return _Answer.model_validate(body)
    except (ValueError, TypeError, RecursionError) as error:  # also what pydantic raises
        return f"no_score: {_end(str(error))}"


def _command_answer(workflow: Workflow, done: ExecResult, wall_s: float) -> _Answer | str:
    if (why := _ended(done)) is not None:
        return why
    lines = done.stdout.text.strip().splitlines()
    try:
        given = json.loads(lines[-1] if lines else "")
        if isinstance(given, bool):
            raise ValueError("a boolean")
        body = given if isinstance(given, dict) else {"score": given}
        printed = _Printed.model_validate(body, strict=True)
    except (ValueError, RecursionError):  # also what pydantic raises
        return f"no_score: the last line is neither a number nor has a score: {_end(lines[-1:])}"
    digests = {one.path: one.sha256 for one in done.artifacts}
    if missing := [name for name in workflow.outputs if name not in digests]:
        return f"no_score: the run left no {missing[0]}"
    wanted = {name: digests[name] for name in workflow.outputs}
    return _Answer(
        score=printed.score,
        metrics=printed.metrics,
        output_sha256=digest(wanted) if wanted else None,
        wall_s=done.usage.wall_s or wall_s,
    )


def _end(text: object) -> str:
    shown = str(text).strip()
    return shown if len(shown) <= _SAID else "…" + shown[-_SAID:]


def equal_outputs(reference: Reference) -> Iterator[tuple[str, ...]]:
    """Give the masks of each class with more than one."""
    if reference.classes is None:
        return
    masks = reference.space.masks
    for first in np.unique(reference.classes):
        members = np.flatnonzero(reference.classes == first)
        if members.size > 1:
            yield tuple(masks[one] for one in members)


__all__ = [
    "CellFailure",
    "EnumerateOptions",
    "Enumeration",
    "enumerate_workflow",
    "equal_outputs",
]
