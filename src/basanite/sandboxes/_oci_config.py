"""The configuration of an OCI runtime for one execution.

Format: the OCI runtime specification, version 1.0.2.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ._bubblewrap_args import MASKED_FILES, MASKED_FOLDERS, gpu_devices
from ._rootfs import Bind
from ._runtime import WORK, Job
from ._seccomp import oci_rules
from ._spec import MIB

_CAPABILITIES = ("bounding", "effective", "permitted", "inheritable", "ambient")
_NAMESPACES = ("pid", "ipc", "uts", "mount", "user", "cgroup")
MASKED = tuple(f"/proc/{name}" for name in (*MASKED_FILES, *MASKED_FOLDERS))
READ_ONLY = ("/proc/sys", "/proc/bus")


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a configuration says beside what the job says."""

    rootfs: Path
    binds: tuple[Bind, ...]
    command: list[str]
    uid: int
    """The user that the code sees itself as."""
    users: tuple[tuple[int, int], ...]
    """Pairs of users: inside, and as the runtime sees them."""
    groups_path: str | None = None
    """The runtime's own control group, relative to this process's."""
    limits: Mapping[str, int] = field(default_factory=lambda: {"core": 0})
    """Limits of each process that the runtime sets, by the kernel's names for them."""
    own_kernel: bool = False
    """Whether the runtime is a kernel itself: it counts all memory, and read-only means all."""


def configuration(job: Job, bundle: Bundle) -> dict[str, object]:
    """Give the content of `config.json`."""
    namespaces = [{"type": kind} for kind in _NAMESPACES if kind != "user" or bundle.users]
    if not job.holder.network:
        namespaces.append({"type": "network"})
    mapped = [{"containerID": i, "hostID": o, "size": 1} for i, o in bundle.users]
    devices = list(_devices(job.spec.gpus))
    allowed = [{"allow": False, "access": "rwm"}]
    allowed += [{"allow": True, "access": "rw", **_numbers(device)} for device in devices]
    linux: dict[str, object] = {
        "namespaces": namespaces,
        "uidMappings": mapped,
        "gidMappings": mapped,
        "rootfsPropagation": "private",
        "maskedPaths": [path for path in MASKED if Path(path).exists()],
        "readonlyPaths": list(READ_ONLY),
        "devices": devices,
        "resources": {"devices": allowed},
        "seccomp": _rules(job, own_kernel=bundle.own_kernel),
    }
    if bundle.groups_path is not None:
        linux["cgroupsPath"] = bundle.groups_path
    return {
        "ociVersion": "1.0.2",
        "hostname": "sandbox",
        "root": {"path": str(bundle.rootfs), "readonly": True},
        "process": _process(job, bundle),
        "mounts": [
            *_own_mounts(job, own_kernel=bundle.own_kernel),
            *(_bound(bind, own_kernel=bundle.own_kernel) for bind in bundle.binds),
        ],
        "linux": linux,
    }


def _rules(job: Job, *, own_kernel: bool) -> dict[str, object]:
    if own_kernel:
        return oci_rules(count_memory=True, pin_cores=False, own_errors=False)
    counted = job.group is not None
    return oci_rules(count_memory=counted, pin_cores=not counted and job.limits.cpus is not None)


def _process(job: Job, bundle: Bundle) -> dict[str, object]:
    return {
        "terminal": False,
        "user": {"uid": bundle.uid, "gid": bundle.uid},
        "cwd": WORK,
        "env": [f"{name}={value}" for name, value in job.environment.items()],
        "args": bundle.command,
        "noNewPrivileges": True,
        "capabilities": {kind: [] for kind in _CAPABILITIES},
        "rlimits": [
            {"type": f"RLIMIT_{name.upper()}", "soft": value, "hard": value}
            for name, value in bundle.limits.items()
        ],
    }


def _own_mounts(job: Job, *, own_kernel: bool) -> Iterator[dict[str, object]]:
    size = f"size={job.limits.tmp_mb * MIB}"
    own = (
        ("/proc", "proc", ("nosuid", "nodev", "noexec")),
        ("/dev", "tmpfs", ("nosuid", "noexec", "ro", "mode=755", "size=65536")),
        ("/dev/shm", "tmpfs", ("nosuid", "nodev", "noexec", "mode=1777", size)),
        ("/dev/pts", "devpts", ("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620")),
        ("/tmp", "tmpfs", ("nosuid", "nodev", "mode=1777", size)),
    )
    for target, kind, given in own:
        # With a read-only /dev, gVisor would not even write to /dev/null.
        options = [option for option in given if not (own_kernel and option == "ro")]
        yield {"destination": target, "type": kind, "source": kind, "options": options}


def _bound(bind: Bind, *, own_kernel: bool) -> dict[str, object]:
    options = ["rbind", "rprivate", "nosuid", "nodev"]
    options.append("rw" if bind.writable else "ro")
    if not own_kernel and not bind.writable:
        # Also what is mounted below: "ro" alone would leave that writable.
        options += ["rro", "rnosuid", "rnodev"]
    if bind.no_exec:
        options.append("noexec")
    return {
        "destination": bind.target,
        "type": "bind",
        "source": bind.source,
        "options": options,
    }


def _devices(gpus: tuple[int, ...]) -> Iterator[dict[str, object]]:
    for path in gpu_devices(gpus):
        yield {"path": str(path), "type": "c", "fileMode": 0o666, **_node(path)}


def _node(path: Path) -> dict[str, int]:
    number = path.stat().st_rdev
    return {"major": os.major(number), "minor": os.minor(number)}


def _numbers(device: dict[str, object]) -> dict[str, object]:
    return {key: device[key] for key in ("type", "major", "minor")}


__all__ = ["MASKED", "READ_ONLY", "Bundle", "configuration"]
