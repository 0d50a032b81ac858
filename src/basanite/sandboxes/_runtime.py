"""What one backend has to do for the engine: start a process that waits, and end it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import BasaniteError
from ._cgroup import Group, GroupMaker
from ._child import Child
from ._enforcement import Aspect, Enforcement
from ._holder import Holder, missing_tools
from ._report import BackendReport
from ._spec import Limits, SandboxSpec

INSIDE_UID = 1000
"""The user that code inside sees itself as."""
WORK = "/work"
CODE = "/run/basanite/code.py"
"""Where the source of an execution's code is seen inside."""


@dataclass(frozen=True, slots=True)
class Job:
    """One execution, as a backend needs it."""

    name: str
    """Unique on this machine, of letters, digits and `-`."""
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    spec: SandboxSpec
    limits: Limits
    """The specification's, with what this execution alone changes."""
    folder: Path
    """A folder on this machine for the backend's own files, the execution's alone."""
    holder: Holder
    group: Group | None
    code: Path | None = None
    """A file that is seen at `CODE` inside."""
    shared: tuple[tuple[Path, str], ...] = ()
    """Folders of this machine that are writable inside, with their place there."""
    stdin: int | None = None
    """A descriptor; None: nothing can be read."""
    requests_before: int = 0
    """How many requests to model endpoints its sandbox had made when it was prepared."""


class Running(Protocol):
    """A process that has been set up and whose code does not run before `release`."""

    @property
    def child(self) -> Child:
        """The process on this machine whose end is the execution's end."""

    @property
    def root_pid(self) -> int | None:
        """The process under which all that runs inside is found; None: it can't be seen."""

    @property
    def memory_of(self) -> Callable[[list[int]], int] | None:
        """How a watchdog measures the memory of these processes in bytes; None: as usual."""

    @property
    def counts_processes(self) -> bool:
        """Whether what is found under `root_pid`, or in the group, are the code's processes."""

    def release(self) -> None:
        """Let the code run."""

    async def kill(self) -> None:
        """Kill all that runs inside."""

    async def remove(self) -> None:
        """Remove what the backend made for it; called once, after its end."""


class Runtime(Protocol):
    """One way to contain code."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def uses_groups(self) -> bool:
        """Whether the engine makes a control group for each execution."""

    @property
    def own_processes(self) -> int:
        """How many processes of the backend itself are in that group."""

    def report(self) -> BackendReport:
        """Find out whether it works here, by running something harmless in it."""

    def fitted(self, spec: SandboxSpec) -> SandboxSpec:
        """Give a specification as this backend can carry it out; `enforcement` says the same."""

    def enforcement(
        self, spec: SandboxSpec, maker: GroupMaker | None
    ) -> Mapping[Aspect, Enforcement]:
        """Say how each aspect of a specification would be held."""

    async def start(self, job: Job) -> Running:
        """Set an execution up.

        Raises:
            SandboxUnavailable: this machine does not allow it.
            SandboxLost: it broke.
        """

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Give commands that remove what is left of a job when its supervisor was killed."""


def report_of(name: str, looked: Callable[[], str], advice: str = "") -> BackendReport:
    """Report on a backend as far as that goes without running anything in it.

    Args:
        name: of the backend.
        looked: looks for its programs and gives their version, or raises.
        advice: what to do where the error itself does not say.
    """
    missing = missing_tools()
    if missing:
        return BackendReport(
            name=name,
            available=False,
            why=f"programs of util-linux are missing: {', '.join(missing)}",
            todo="On Debian or Ubuntu: apt-get install util-linux mount",
        )
    try:
        version = looked()
    except BasaniteError as error:
        return BackendReport(name=name, available=False, why=error.what, todo=error.todo or advice)
    return BackendReport(name=name, available=True, version=version)


__all__ = ["CODE", "INSIDE_UID", "WORK", "Job", "Running", "Runtime", "report_of"]
