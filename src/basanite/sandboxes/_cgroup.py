"""Groups of the kernel that count and limit what all processes of an execution use together.

Version 2 where a subtree with its controllers is delegated to this user, else version 1 where
its folders can be written (root), else none: then limits of single processes and a watchdog
hold, and the result says so.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import SandboxLost
from ._spec import MIB, Limits

PREFIX = "basanite-"
_PERIOD_US = 100_000
_REMOVE_S = 5.0
_JOIN = """while [ "$1" != -- ]; do echo 0 >"$1" || exit 1; shift; done
shift
exec "$@"
"""


@dataclass(frozen=True, slots=True)
class GroupUsage:
    """What a group has used so far; None where a counter is missing."""

    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    peak_processes: int | None = None
    oom_kills: int = 0
    processes_refused: int = 0


class Group(Protocol):
    """The groups of one execution."""

    def joining(self, command: Sequence[str]) -> list[str]:
        """Give a command that enters the group and then becomes another.

        A process that moves itself does so at once; for one that is moved by another the kernel
        waits until all cores have passed a quiet point, ten milliseconds over four hierarchies.
        """

    def add(self, pid: int) -> None:
        """Put a process, and all that it starts from now on, into the group."""

    def usage(self) -> GroupUsage:
        """Read the counters."""

    def kill(self) -> None:
        """Kill all that is in the group."""

    def remove(self) -> None:
        """Kill what is left and remove the group."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The folders that it made."""


class GroupMaker(Protocol):
    """Makes groups by one version of the interface."""

    @property
    def mechanism(self) -> str:
        """`cgroup-v2` or `cgroup-v1`."""

    def create(self, name: str, limits: Limits, own: int = 0) -> Group:
        """Make a group with its limits set.

        Args:
            name: of its folders.
            limits: what the code may use.
            own: processes of the backend that are in the group as well.
        """

    def paths(self, name: str) -> tuple[Path, ...]:
        """Give the folders of a group of this name, also before they are made."""


def write(path: Path, value: str | int) -> None:
    """Write to a file of the kernel's."""
    # Not `write_text`: it truncates, which these files don't know.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def _number(path: Path) -> int | None:
    try:
        text = path.read_text("ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _joining(files: Iterable[Path], command: Sequence[str]) -> list[str]:
    return ["/bin/sh", "-c", _JOIN, "sh", *map(str, files), "--", *command]


def _but(own: int, count: int | None) -> int | None:
    return None if count is None else max(0, count - own)


def _counters(path: Path) -> Mapping[str, int]:
    try:
        lines = path.read_text("ascii").splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def remove_group(folder: Path) -> None:
    """Remove a group and those below it, once the last of their processes is gone."""
    for inner in folder.glob("*/"):  # an engine's own
        remove_group(inner)
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            for pid in pids_of(folder):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
            if time.monotonic() > deadline:
                raise SandboxLost(
                    "a control group can't be removed", where=str(folder),
                    todo="Look for processes that hang in the kernel (state D).",
                ) from None  # fmt: skip
            time.sleep(0.002)
        else:
            return


def pids_of(folder: Path) -> Iterator[int]:
    """Give the processes of a group."""
    try:
        text = (folder / "cgroup.procs").read_text("ascii")
    except OSError:
        return
    yield from (int(line) for line in text.split())


class _V1Group:
    def __init__(self, folders: Mapping[str, Path], own: int) -> None:
        self._folders, self._own = folders, own

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self._folders.values()))

    def joining(self, command: Sequence[str]) -> list[str]:
        # `tasks`, not `cgroup.procs`: the latter moves all threads, and waits for that.
        return _joining((folder / "tasks" for folder in self.paths), command)

    def add(self, pid: int) -> None:
        for folder in self.paths:
            write(folder / "cgroup.procs", pid)

    def usage(self) -> GroupUsage:
        memory, pids = self._folders["memory"], self._folders["pids"]
        cpu = _number(self._folders["cpuacct"] / "cpuacct.usage")
        return GroupUsage(
            cpu_s=None if cpu is None else cpu / 1e9,
            peak_memory_bytes=_number(memory / "memory.max_usage_in_bytes"),
            peak_processes=_but(self._own, _number(pids / "pids.peak")),
            oom_kills=_counters(memory / "memory.oom_control").get("oom_kill", 0),
            processes_refused=_counters(pids / "pids.events").get("max", 0),
        )

    def kill(self) -> None:
        for pid in pids_of(self._folders["memory"]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)

    def remove(self) -> None:
        for folder in self.paths:
            remove_group(folder)


@dataclass(frozen=True, slots=True)
class V1Maker:
    """Groups below those of this process, in each controller's own hierarchy."""

    parents: Mapping[str, Path]
    mechanism: str = "cgroup-v1"

    def paths(self, name: str) -> tuple[Path, ...]:
        """One folder in each hierarchy."""
        return tuple(dict.fromkeys(parent / name for parent in self.parents.values()))

    def create(self, name: str, limits: Limits, own: int = 0) -> Group:
        """Make one folder in each hierarchy."""
        folders = {controller: parent / name for controller, parent in self.parents.items()}
        group = _V1Group(folders, own)
        try:
            for folder in group.paths:
                folder.mkdir()
            memory = limits.memory_mb * MIB
            write(folders["memory"] / "memory.limit_in_bytes", memory)
            swap = folders["memory"] / "memory.memsw.limit_in_bytes"
            if swap.exists():
                write(swap, memory)
            write(folders["pids"] / "pids.max", limits.processes + own)
            if limits.cpus is not None:
                write(folders["cpu"] / "cpu.cfs_period_us", _PERIOD_US)
                write(folders["cpu"] / "cpu.cfs_quota_us", int(limits.cpus * _PERIOD_US))
        except OSError as error:
            for folder in group.paths:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise SandboxLost(f"a control group can't be made ({error})", where=name) from None
        return group


class _V2Group:
    def __init__(self, folder: Path, own: int) -> None:
        self._folder, self._own = folder, own

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self._folder,)

    def joining(self, command: Sequence[str]) -> list[str]:
        return _joining((self._folder / "cgroup.procs",), command)

    def add(self, pid: int) -> None:
        write(self._folder / "cgroup.procs", pid)

    def usage(self) -> GroupUsage:
        cpu = _counters(self._folder / "cpu.stat").get("usage_usec")
        return GroupUsage(
            cpu_s=None if cpu is None else cpu / 1e6,
            peak_memory_bytes=_number(self._folder / "memory.peak"),
            peak_processes=_but(self._own, _number(self._folder / "pids.peak")),
            oom_kills=_counters(self._folder / "memory.events").get("oom_kill", 0),
            processes_refused=_counters(self._folder / "pids.events").get("max", 0),
        )

    def kill(self) -> None:
        try:
            write(self._folder / "cgroup.kill", 1)  # Linux 5.14 and newer
        except OSError:
            for pid in pids_of(self._folder):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)

    def remove(self) -> None:
        self.kill()
        remove_group(self._folder)


@dataclass(frozen=True, slots=True)
class V2Maker:
    """Groups in a delegated subtree of the unified hierarchy."""

    parent: Path
    mechanism: str = "cgroup-v2"

    def paths(self, name: str) -> tuple[Path, ...]:
        """One folder."""
        return (self.parent / name,)

    def create(self, name: str, limits: Limits, own: int = 0) -> Group:
        """Make one folder, with its limits set before anything is in it."""
        folder = self.parent / name
        try:
            folder.mkdir()
            write(folder / "memory.max", limits.memory_mb * MIB)
            for file, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                if (folder / file).exists():
                    write(folder / file, value)
            write(folder / "pids.max", limits.processes + own)
            if limits.cpus is not None:
                write(folder / "cpu.max", f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}")
        except OSError as error:
            with contextlib.suppress(OSError):
                folder.rmdir()
            raise SandboxLost(f"a control group can't be made ({error})", where=name) from None
        return _V2Group(folder, own)


__all__ = [
    "PREFIX",
    "Group",
    "GroupMaker",
    "GroupUsage",
    "V1Maker",
    "V2Maker",
    "pids_of",
    "remove_group",
    "write",
]
