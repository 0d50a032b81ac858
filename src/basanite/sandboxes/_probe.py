"""Find out what this machine can contain, and open a sandbox with the first that suffices."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..errors import BasaniteError, IsolationFloorNotMet, PolicyError, SandboxUnavailable
from ._cgroup_find import Found, find_groups
from ._enforcement import check_floor
from ._report import BackendReport, ProbeReport
from ._result import ExecResult
from ._runtime import Runtime
from ._sandbox import Sandbox
from ._spec import Floor, Limits, SandboxSpec
from ._state import reap

_TRIAL = SandboxSpec(
    command=("/bin/sh", "-c", "exit 7"),
    limits=Limits(wall_s=30, memory_mb=64, processes=16, disk_mb=1, inodes=16, cpus=1, cpu_s=10),
)
_TRIAL_CODE = 7


def runtimes() -> tuple[Runtime, ...]:
    """Give all backends, in the order in which they are chosen."""
    from ._bubblewrap import Bubblewrap
    from ._gvisor import Gvisor
    from ._oci import Oci

    return (Bubblewrap(), Oci(), Gvisor())


def runtime(name: str) -> Runtime:
    """Give a backend by its name.

    Raises:
        PolicyError: there is none of this name.
    """
    for candidate in runtimes():
        if candidate.name == name:
            return candidate
    names = ", ".join(candidate.name for candidate in runtimes())
    raise PolicyError(
        f"there is no backend {name!r}", where="sandbox", todo=f"Choose one of: {names}."
    )


async def probe(names: Sequence[str] | None = None) -> ProbeReport:
    """Find out what each backend can do here, by running `exit 7` in it.

    Args:
        names: the backends to look at; None: all.
    """
    groups = find_groups()
    chosen = runtimes() if names is None else tuple(runtime(name) for name in names)
    reports = [await _tried(candidate, groups) for candidate in chosen]
    return ProbeReport(
        platform=platform.platform(),
        user="root" if hasattr(os, "getuid") and os.getuid() == 0 else "unprivileged",
        groups="none" if groups.maker is None else groups.maker.mechanism,
        groups_found=groups.why,
        backends=tuple(reports),
    )


async def _tried(candidate: Runtime, groups: Found) -> BackendReport:
    if sys.platform != "linux" and candidate.name != "oci":
        return BackendReport(
            name=candidate.name, available=False, why="only on Linux",
            todo="Use the oci backend with Docker or Podman.",
        )  # fmt: skip
    report = await asyncio.to_thread(candidate.report)
    if not report.available:
        return report
    enforced = candidate.enforcement(_TRIAL, groups.maker)
    try:
        async with await Sandbox(candidate, _TRIAL, groups.maker, enforced).open() as sandbox:
            result = await sandbox.run(collect=False)
    except BasaniteError as error:
        return report.model_copy(
            update={"available": False, "why": error.what, "todo": error.todo or ""}
        )
    if result.exit_code != _TRIAL_CODE:
        said = result.stderr.text.strip() or result.status.value
        return report.model_copy(update={"available": False, "why": f"a trial run failed: {said}"})
    return report.model_copy(
        update={
            "enforced": {str(name): entry for name, entry in enforced.items()},
            "floors": tuple(_floors(candidate, groups)),
        }
    )


def _floors(candidate: Runtime, groups: Found) -> Iterator[Floor]:
    for floor in Floor:
        demanding = _TRIAL.model_copy(update={"floor": frozenset({floor})})
        enforced = candidate.enforcement(demanding, groups.maker)
        try:
            check_floor(demanding, enforced, candidate.name, None)
        except IsolationFloorNotMet:
            continue
        yield floor


async def open_sandbox(spec: SandboxSpec, *, backend: str | None = None) -> Sandbox:
    """Open a sandbox with the first backend that gives what is demanded.

    Args:
        spec: the policy.
        backend: `bubblewrap`, `oci` or `gvisor`; None: the first that will do.

    Raises:
        PolicyError: the specification names what is not there.
        SandboxUnavailable: no backend works here; carries the probe's report.
        IsolationFloorNotMet: those that work are weaker than demanded.
    """
    spec = spec.checked()
    await asyncio.to_thread(_reaped)
    candidates = runtimes() if backend is None else (runtime(backend),)
    groups = find_groups()
    below: list[str] = []
    for candidate in candidates:
        enforced = candidate.enforcement(spec, groups.maker)
        try:
            check_floor(spec, enforced, candidate.name, None)
        except IsolationFloorNotMet as error:
            below.append(error.what)
            continue
        if await _works(candidate.name):
            return await Sandbox(candidate, spec, groups.maker, enforced).open()
    report = await probe([candidate.name for candidate in candidates])
    if below:
        raise IsolationFloorNotMet(
            "; ".join(below),
            where="sandbox",
            todo="Choose another backend (`basanite sandbox probe` lists them) or lower the floor.",
            report=report,
        )
    raise SandboxUnavailable(
        f"no sandbox can be opened here\n{report}".rstrip("."),
        todo="`basanite sandbox probe` shows the whole report.",
        report=report,
    )


async def run_sandboxed(spec: SandboxSpec, *, backend: str | None = None) -> ExecResult:
    """Open a sandbox, run the specification's command or code, and close it.

    The copies of artifacts and logs are gone with the sandbox: their paths are None.
    """
    async with await open_sandbox(spec, backend=backend) as sandbox:
        result = await sandbox.run()
    return result.model_copy(
        update={
            "artifacts": tuple(a.model_copy(update={"file": None}) for a in result.artifacts),
            "stdout": result.stdout.model_copy(update={"log": None}),
            "stderr": result.stderr.model_copy(update={"log": None}),
        }
    )


_KNOWN: dict[str, bool] = {}


async def _works(name: str) -> bool:
    """Whether a backend works here; tried once in this process."""
    if name not in _KNOWN:
        report = (await probe([name])).backends[0]
        if not report.available:
            return False
        _KNOWN[name] = True
    return True


@lru_cache(maxsize=1)
def _reaped() -> tuple[str, ...]:
    """Remove what sandboxes of dead processes left; once in this process."""
    return reap()


__all__ = ["open_sandbox", "probe", "run_sandboxed", "runtime", "runtimes"]
