"""Groups of the kernel that count and limit what all processes of an execution use together.

Version 2 where a subtree with its controllers is delegated to this user, else version 1 where
its folders can be written (root), else none: then limits of single processes and a watchdog
hold, and the result says so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from ..errors import SandboxLost
from ._spec import MIB, Limits

PREFIX = "basanite-"
_SUPERVISOR = "basanite-supervisor"
_PERIOD_US = 100_000
_V1 = ("memory", "pids", "cpu", "cpuacct")
_V2 = ("memory", "pids", "cpu")
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


def _write(path: Path, value: str | int) -> None:
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
    """Remove a group, waiting for the last of its killed processes to be gone."""
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            for pid in _pids(folder):
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


def _pids(folder: Path) -> Iterator[int]:
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
            _write(folder / "cgroup.procs", pid)

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
        for pid in _pids(self._folders["memory"]):
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
            _write(folders["memory"] / "memory.limit_in_bytes", memory)
            swap = folders["memory"] / "memory.memsw.limit_in_bytes"
            if swap.exists():
                _write(swap, memory)
            _write(folders["pids"] / "pids.max", limits.processes + own)
            if limits.cpus is not None:
                _write(folders["cpu"] / "cpu.cfs_period_us", _PERIOD_US)
                _write(folders["cpu"] / "cpu.cfs_quota_us", int(limits.cpus * _PERIOD_US))
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
        _write(self._folder / "cgroup.procs", pid)

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
            _write(self._folder / "cgroup.kill", 1)  # Linux 5.14 and newer
        except OSError:
            for pid in _pids(self._folder):
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
            _write(folder / "memory.max", limits.memory_mb * MIB)
            for file, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                if (folder / file).exists():
                    _write(folder / file, value)
            _write(folder / "pids.max", limits.processes + own)
            if limits.cpus is not None:
                _write(folder / "cpu.max", f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}")
        except OSError as error:
            with contextlib.suppress(OSError):
                folder.rmdir()
            raise SandboxLost(f"a control group can't be made ({error})", where=name) from None
        return _V2Group(folder, own)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about control groups."""

    maker: GroupMaker | None
    why: str
    """What was found, or why there is none."""


@lru_cache(maxsize=1)
def find_groups() -> Found:
    """Find out which version can be used here; asked once a process."""
    return look_for_groups(Path("/proc/self"))


def look_for_groups(process: Path) -> Found:
    """Find out from a process's `cgroup` and `mountinfo` files which version can be used."""
    mounts = _hierarchies(process / "mountinfo")
    own = _own(process / "cgroup")
    reasons = []
    if "" in mounts and "" in own:
        maker, why = _try_v2(mounts[""] / own[""].lstrip("/"))
        if maker is not None:
            return Found(maker, why)
        reasons.append(f"v2: {why}")
    maker_v1, why = _try_v1(mounts, own)
    if maker_v1 is not None:
        return Found(maker_v1, why)
    reasons.append(f"v1: {why}")
    return Found(None, "; ".join(reasons))


def _hierarchies(mountinfo: Path) -> dict[str, Path]:
    """Map a controller, or "" for version 2, to where its hierarchy is mounted."""
    found: dict[str, Path] = {}
    for line in mountinfo.read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if len(fields) < 5 or len(tail) < 3:
            continue
        if tail[0] == "cgroup2":
            found.setdefault("", Path(fields[4]))
        elif tail[0] == "cgroup":
            for controller in tail[2].split(","):
                if controller in _V1:
                    found.setdefault(controller, Path(fields[4]))
    return found


def _own(cgroup: Path) -> dict[str, str]:
    own: dict[str, str] = {}
    for line in cgroup.read_text("utf-8", "surrogateescape").splitlines():
        number, controllers, path = line.split(":", 2)
        for controller in [""] if number == "0" else controllers.split(","):
            own[controller] = path
    return own


def _try_v2(own: Path) -> tuple[GroupMaker | None, str]:
    named = os.environ.get("BASANITE_CGROUP")
    parent = Path(named) if named else own.parent if own.name == _SUPERVISOR else own
    try:
        available = set((parent / "cgroup.controllers").read_text("ascii").split())
        enabled = set((parent / "cgroup.subtree_control").read_text("ascii").split())
    except OSError as error:
        return None, f"{parent} can't be read ({error.strerror})"
    missing = sorted(set(_V2) - available)
    if missing:
        return None, f"the controllers {', '.join(missing)} are not there"
    try:
        if not enabled.issuperset(_V2):
            _enable(parent)
        probe = parent / f"{PREFIX}probe-{os.getpid()}"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        return None, f"{parent} is not delegated to this user ({error.strerror})"
    return V2Maker(parent), str(parent)


def _enable(parent: Path) -> None:
    """Hand the controllers down to the groups below.

    Only a group without processes of its own may do that, the root excepted. Where systemd marked
    this one as delegated, its processes are ours to move one step down.
    """
    control = parent / "cgroup.subtree_control"
    wanted = " ".join(f"+{name}" for name in _V2)
    try:
        _write(control, wanted)
    except OSError as error:
        if error.errno != errno.EBUSY or not _delegated(parent):
            raise
        leaf = parent / _SUPERVISOR
        leaf.mkdir(exist_ok=True)
        for pid in _pids(parent):
            with contextlib.suppress(ProcessLookupError):
                _write(leaf / "cgroup.procs", pid)
        _write(control, wanted)


def _delegated(folder: Path) -> bool:
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


def _try_v1(mounts: Mapping[str, Path], own: Mapping[str, str]) -> tuple[GroupMaker | None, str]:
    missing = [name for name in _V1 if name not in mounts or name not in own]
    if missing:
        return None, f"the controllers {', '.join(missing)} are not there"
    parents: dict[str, Path] = {}
    for name in _V1:
        inside = mounts[name] / own[name].lstrip("/")
        # In a container the path is the host's and the mount is already its own part of it.
        parents[name] = inside if inside.is_dir() else mounts[name]
        probe = parents[name] / f"{PREFIX}probe-{os.getpid()}"
        try:
            probe.mkdir(exist_ok=True)
            probe.rmdir()
        except OSError as error:
            return None, f"{parents[name]} can't be written ({error.strerror})"
    return V1Maker(parents), ", ".join(sorted({str(path) for path in parents.values()}))


__all__ = [
    "PREFIX",
    "Found",
    "Group",
    "GroupMaker",
    "GroupUsage",
    "V1Maker",
    "V2Maker",
    "find_groups",
    "look_for_groups",
    "remove_group",
]
