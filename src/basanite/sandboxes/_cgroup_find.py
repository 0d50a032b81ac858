"""Find out which version of the kernel's control groups can be used here."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ._cgroup import PREFIX, GroupMaker, V1Maker, V2Maker, pids_of, write

_V1 = ("memory", "pids", "cpu", "cpuacct")
_V2 = ("memory", "pids", "cpu")
_SUPERVISOR = "basanite-supervisor"


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
        write(control, wanted)
    except OSError as error:
        if error.errno != errno.EBUSY or not _delegated(parent):
            raise
        leaf = parent / _SUPERVISOR
        leaf.mkdir(exist_ok=True)
        for pid in pids_of(parent):
            with contextlib.suppress(ProcessLookupError):
                write(leaf / "cgroup.procs", pid)
        write(control, wanted)


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


__all__ = ["Found", "find_groups", "look_for_groups"]
