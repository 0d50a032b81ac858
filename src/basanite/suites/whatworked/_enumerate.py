"""Run a workflow with every configuration, each run in a sandbox of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError, SetupError
from ...schema import digest
from ._cell_answer import NoScore, answer_of_command, answer_of_function
from ._cell_cache import CellCache, CellRun
from ._enumeration import CellFailure, Enumeration

if TYPE_CHECKING:
    from ...sandboxes import ExecResult, Profile, Sandbox, SandboxSpec
    from ._workflow import Workflow

_PROGRAM = Path(__file__).with_name("_cell_program.py")
_REQUEST = ".request.json"
_LEAST_S = 1e-6
"""Duration of a run that took none by its clock: a cost must be above 0."""


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


async def enumerate_workflow(workflow: Workflow, options: EnumerateOptions) -> Enumeration:
    """Run all configurations with all seeds; those in the cache are taken from there.

    Each run has a sandbox of its own, without a network, so that none sees what another left.
    It can be killed at any time, and goes on from what is in the cache.

    Raises:
        SetupError: the profile is not built.
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
            answer = answer_of_command(workflow, done, time.perf_counter() - began)
        else:
            done = await _call(sandbox, workflow, cell)
            answer = answer_of_function(done)
    if isinstance(answer, NoScore):
        return CellFailure(mask, seed, answer.reason, answer.detail)
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
