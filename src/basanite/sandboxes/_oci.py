"""Containment by an OCI runtime: podman, runc or docker, the first that works here."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..errors import BasaniteError, PolicyError, SandboxUnavailable
from ._amounts import amounts
from ._cgroup import GroupMaker
from ._container import ContainerRun
from ._docker import Docker
from ._enforcement import Aspect, Enforcement, Strength
from ._engines import Engine
from ._podman import Podman
from ._report import BackendReport
from ._runc import Runc
from ._runtime import Job, report_of
from ._spec import SandboxSpec
from ._state import drops_user

VARIABLE = "BASANITE_OCI"


def engines() -> tuple[Engine, ...]:
    """Give all engines, in the order in which they are tried."""
    return (Podman(), Runc(), Docker())


class Oci:
    """The backend that needs nothing but a container runtime."""

    name = "oci"
    uses_groups = True
    own_processes = 1  # the first process of the container

    def __init__(self) -> None:
        self._chosen: Engine | None = None

    def report(self) -> BackendReport:
        """See `Runtime.report`; the version names the engine."""

        def looked() -> str:
            engine = self._engine()
            return f"{engine.name} {engine.version()}"

        return report_of(self.name, looked)

    def fitted(self, spec: SandboxSpec) -> SandboxSpec:
        """See `Runtime.fitted`: what a daemon starts has its work folder on disk."""
        if spec.workdir == "memory" and self._in_daemon():
            return spec.model_copy(update={"workdir": "disk"})
        return spec

    def enforcement(
        self, spec: SandboxSpec, maker: GroupMaker | None
    ) -> Mapping[Aspect, Enforcement]:
        """See `Runtime.enforcement`."""
        held = amounts(self.fitted(spec), maker)
        if not self._in_daemon():
            return {**_borders(spec), **held}
        return {**_borders(spec), **held, **_of_a_daemon(maker)}

    def _in_daemon(self) -> bool:
        try:
            return self._engine().in_daemon()
        except BasaniteError:
            return False

    async def start(self, job: Job) -> ContainerRun:
        """See `Runtime.start`."""
        return await self._engine().start(job)

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """See `Runtime.cleanup`."""
        return self._engine().cleanup(name)

    def _engine(self) -> Engine:
        """Give the engine that is used here.

        Raises:
            PolicyError: the variable names none.
            SandboxUnavailable: none is installed.
        """
        named = os.environ.get(VARIABLE)
        known = engines()
        if named:
            for engine in known:
                if engine.name == named:
                    return engine
            names = ", ".join(engine.name for engine in known)
            raise PolicyError(
                f"there is no engine {named!r}", where=VARIABLE, todo=f"Choose one of: {names}."
            )
        if self._chosen is None:
            self._chosen = _first(known)
        return self._chosen


def _first(known: tuple[Engine, ...]) -> Engine:
    reasons = []
    for engine in known:
        try:
            engine.version()
        except SandboxUnavailable as error:
            reasons.append(error.what)
            continue
        return engine
    raise SandboxUnavailable("; ".join(reasons), where="oci", todo=known[0].todo)


def _borders(spec: SandboxSpec) -> dict[Aspect, Enforcement]:
    network = "network namespace, seccomp"
    if spec.network.endpoints:
        network = "network namespace with a proxy of the supervisor, seccomp"
    return {
        "files": Enforcement(
            by="mount namespace, read-only",
            residual="/proc shows the kernel's version, its load, and the paths of mounts",
        ),
        "network": Enforcement(by=network),
        "processes_seen": Enforcement(by="process namespace"),
        "privileges": Enforcement(by="user namespace, no capabilities, no_new_privs"),
        "user": Enforcement(by="user namespace, a user without rights")
        if drops_user()
        else Enforcement(
            by="user namespace",
            strength=Strength.NONE,
            residual="without root the code is user 0 of a namespace that has no other",
        ),
        "syscalls": Enforcement(
            by="seccomp deny-list", residual="calls that the runtime's libseccomp does not know yet"
        ),
        "devices": Enforcement(by="minimal /dev" if not spec.gpus else "minimal /dev and GPUs"),
        "kernel": Enforcement(
            by="shared",
            strength=Strength.NONE,
            residual="a hole in the host's kernel is a way out; use gvisor for hostile tenants",
        ),
    }


def _of_a_daemon(maker: GroupMaker | None) -> dict[Aspect, Enforcement]:
    files = "image, read-only binds"
    held: dict[Aspect, Enforcement] = {
        "files": Enforcement(
            by=files, residual="/proc shows the kernel's version, its load, and paths of mounts"
        ),
        "privileges": Enforcement(by="no capabilities, no_new_privs"),
        "user": Enforcement(by="docker, a user without rights"),
        "network": Enforcement(by="network namespace, seccomp"),
        "wall": Enforcement(
            by="supervisor", residual="code outlives a killed supervisor until the next start"
        ),
    }
    if maker is None:
        late = "is reported as exit code 137"
        held["memory"] = Enforcement(by="docker's cgroup", residual=late)
        held["processes"] = Enforcement(by="docker's cgroup", residual="a hit is not reported")
        held["cpus"] = Enforcement(by="docker's cgroup")
    return held


__all__ = ["VARIABLE", "Oci", "engines"]
