"""A container that an OCI runtime has set up, and how it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

from ..errors import SandboxLost, SandboxUnavailable
from ._amounts import some_cores
from ._cgroup import remove_group
from ._child import Child
from ._gate import Gate
from ._processes import children_of
from ._runtime import Job

_END_S = 10.0
WITH_US = (
    "setpriv",
    *("--pdeathsig", "KILL", "--"),
    *("unshare", "--fork", "--pid", "--mount-proc", "--kill-child=KILL", "--"),
)
"""Starts a command in a process namespace that ends when this process does."""


class ContainerRun:
    """One execution in a container."""

    counts_processes = True
    memory_of: Callable[[list[int]], int] | None = None

    def __init__(
        self,
        child: Child,
        gate: Gate,
        init_pid: int,
        *,
        ending: Callable[[], Awaitable[None]] | None = None,
        removing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.child = child
        self.root_pid: int | None = init_pid
        self._gate = gate
        self._init = os.pidfd_open(init_pid)
        self._ending = ending
        self._removing = removing

    def release(self) -> None:
        """Let the code run."""
        self._gate.open()

    async def kill(self) -> None:
        """Kill the first process of the container: the kernel then kills all others."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init, signal.SIGKILL)
        if self._ending is not None:
            await self._ending()

    async def init_ended(self) -> None:
        """Wait for the end of the first process, before which the kernel ends all others."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._init, lambda: None if ended.done() else ended.set_result(None))
        try:
            await asyncio.wait_for(ended, _END_S)
        except TimeoutError:
            raise SandboxLost(
                "a container does not end", where=f"process {self.root_pid}"
            ) from None
        finally:
            loop.remove_reader(self._init)

    async def remove(self) -> None:
        """Remove what the runtime made."""
        self._gate.close()
        os.close(self._init)
        if self._removing is not None:
            await self._removing()


def hold(job: Job, init_pid: int) -> None:
    """Let the engine's group, or the affinity in its place, hold a container that waits."""
    if job.group is not None:
        job.group.add(init_pid)
    elif job.limits.cpus is not None:
        os.sched_setaffinity(init_pid, some_cores(job.limits.cpus))


def only_descendant(pid: int, depth: int) -> int:
    """Give the process that is some generations below another.

    Raises:
        SandboxLost: there is none, or more than one.
    """
    for _ in range(depth):
        children = children_of(pid)
        if len(children) != 1:
            raise SandboxLost("a container's first process can't be found", where=f"process {pid}")
        pid = children[0]
    return pid


async def refused(child: Child, engine: str, advice: str) -> SandboxUnavailable:
    """Give the error for a runtime that ended before its container stood at the gate."""
    await child.wait()
    said = child.said()
    return SandboxUnavailable(
        f"{engine} refused: {said or f'exit code {child.exit_code}'}", where=engine, todo=advice
    )


async def abandon(child: Child) -> None:
    """End a runtime whose container is not going to be used."""
    child.kill()
    await child.wait()
    if not child.outputs_taken:
        for pipe in child.take_outputs():
            os.close(pipe)


def group_folders(name: str) -> list[Path]:
    """Give where a runtime would make its group `name`, below that of this process.

    In all hierarchies, also those of controllers that hold no limit of ours.
    """
    own: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text("utf-8", "surrogateescape").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    folders: dict[Path, None] = {}
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        place, (kind, _, options) = left.split()[4], right.split()[:3]
        names = [""] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []
        for controller in names:
            if controller in own:
                folders[Path(place) / own[controller].lstrip("/") / name] = None
    return list(folders)


async def remove_groups(folders: list[Path]) -> None:
    """Remove those of the groups that are still there."""
    for folder in folders:
        if folder.is_dir():
            await asyncio.to_thread(remove_group, folder)


def run_all(commands: tuple[tuple[str, ...], ...]) -> None:
    """Run commands that clean up; what they say does not matter."""
    for command in commands:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=30
            )


__all__ = [
    "WITH_US",
    "ContainerRun",
    "abandon",
    "group_folders",
    "hold",
    "only_descendant",
    "refused",
    "remove_groups",
    "run_all",
]
