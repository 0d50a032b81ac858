"""Containers by podman under root, from a root folder instead of an image.

Without root podman needs ranges of users that an administrator has to grant, and storage of its
own for each; runc needs neither, so it is what runs there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ..errors import SandboxLost, SandboxUnavailable
from ._bubblewrap_args import SYSTEM, gpu_devices, limited
from ._child import Child
from ._container import ContainerRun, abandon, hold, refused, run_all
from ._engines import said_version
from ._gate import Gate, waiting
from ._oci_config import MASKED
from ._rootfs import Bind, binds, mount_option, write_rootfs
from ._runc import ROOT_OFFSET
from ._runtime import INSIDE_UID, WORK, Job
from ._seccomp import oci_rules
from ._spec import MIB
from ._state import state_root
from ._tasks import finished

_GRACE_S = 60
_REMOVE_S = 10.0
_GLOBAL = ("--cgroup-manager", "cgroupfs", "--events-backend", "none", "--log-level", "error")
_FIXED = (
    *("--rm", "--pull", "never", "--log-driver", "none", "--passwd=false", "--no-hosts"),
    *("--env-host=false", "--http-proxy=false", "--sdnotify", "ignore"),
    *("--read-only", "--read-only-tmpfs=false", "--cap-drop", "all"),
    *("--security-opt", "no-new-privileges", "--cgroupns", "private", "--ipc", "private"),
    *("--hostname", "sandbox", "--workdir", WORK, "--interactive"),
)
_PLACES = ("etc/resolv.conf", "etc/hostname", "run/.containerenv")
"""Files that podman binds something to, made before: its user may not make them."""


class Podman:
    """The engine `podman`."""

    name = "podman"
    todo = "On Debian or Ubuntu: apt-get install podman runc"

    def version(self) -> str:
        """See `Engine.version`; tries a container once in this process."""
        if os.getuid() != 0:
            raise SandboxUnavailable("podman is used under root alone", todo=self.todo)
        program = _program()
        number = said_version(program, "--version")
        runtime = _runtime_that_works()
        return f"{number} with {runtime}" if runtime else number

    def in_daemon(self) -> bool:
        """Never: see `Engine.in_daemon`."""
        return False

    async def start(self, job: Job) -> ContainerRun:
        """See `Runtime.start`."""
        gate = Gate(job.folder)
        folders = group_folders(job.name)
        command = await asyncio.to_thread(self._command, job, gate)
        child = Child(
            job.holder.entering_as_root(command), environment=_environment(), stdin=job.stdin
        )
        try:
            if not await gate.reached(child):
                raise await refused(child, "podman", self.todo)
            init_pid = _init_pid(job.folder / "pid")
            hold(job, init_pid)
            return ContainerRun(
                child,
                gate,
                init_pid,
                removing=lambda: asyncio.to_thread(_remove_groups, folders),
            )
        except BaseException:
            gate.close()
            await finished(abandon(child))
            await finished(asyncio.to_thread(run_all, self.cleanup(job.name)))
            raise

    def _command(self, job: Job, gate: Gate) -> list[str]:
        bound = binds(job, gate=gate.path)
        rootfs = write_rootfs(job, uid=INSIDE_UID, binds=bound)
        for name in _PLACES:
            (rootfs / name).touch(mode=0o644)
        (rootfs / "run" / "secrets").mkdir(mode=0o755)
        profile = job.folder / "seccomp.json"
        rules = oci_rules(
            count_memory=job.group is not None,
            pin_cores=job.group is None and job.limits.cpus is not None,
        )
        profile.write_text(json.dumps(rules), "ascii")
        return [
            *(_program(), *_chosen_runtime(), *_GLOBAL, "run", *_FIXED),
            *("--name", job.name, "--pidfile", str(job.folder / "pid")),
            *("--cgroup-parent", f"/{_groups(job.name)}"),
            *("--security-opt", f"seccomp={profile}"),
            *("--timeout", str(int(job.limits.wall_s) + _GRACE_S)),
            *_options(job, bound),
            *("--rootfs", str(rootfs), *waiting(limited(job))),
        ]

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Give the command that kills and removes the container; `reap` finds its groups."""
        return ((_program(), *_GLOBAL, "rm", "--force", "--ignore", "--time", "0", name),)


def _options(job: Job, bound: tuple[Bind, ...]) -> Iterator[str]:
    owner = job.holder.owner
    for option in ("--uidmap", "--gidmap"):
        yield from (option, f"0:{owner.uid + ROOT_OFFSET}:1")
        yield from (option, f"{INSIDE_UID}:{owner.uid}:1")
    yield from ("--user", f"{INSIDE_UID}:{INSIDE_UID}")
    network = f"ns:/proc/{job.holder.pid}/ns/net" if job.holder.network else "none"
    yield from ("--network", network)
    limits = job.limits
    # Podman's own values are above what it may set here. The group is what counts processes; this
    # only has to be no lower, for the code, the shell and prlimit.
    processes = limits.processes + 8
    yield from ("--ulimit", f"nofile={limits.open_files}:{limits.open_files}")
    yield from ("--ulimit", f"nproc={processes}:{processes}")
    yield from ("--ulimit", "core=0:0")
    size = limits.tmp_mb * MIB
    yield from ("--shm-size", f"{size}b", "--tmpfs", f"/tmp:rw,nosuid,nodev,mode=1777,size={size}")
    yield from ("--tmpfs", "/sys:ro,nosuid,nodev,noexec,size=4096")
    yield from ("--security-opt", f"mask={':'.join(p for p in MASKED if Path(p).exists())}")
    for device in gpu_devices(job.spec.gpus):
        yield from ("--device", f"{device}:{device}:rw")
    for name, value in job.environment.items():
        yield from ("--env", f"{name}={value}")
    for bind in bound:
        yield from ("--mount", f"{mount_option(bind, 'podman')},bind-nonrecursive=true")


def _groups(name: str) -> str:
    return f"{name}-podman"


def group_folders(name: str) -> list[Path]:
    """Give where podman makes its groups: at the top of all hierarchies."""
    folders = []
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        if right.split()[0] in ("cgroup", "cgroup2"):
            folders.append(Path(left.split()[4], _groups(name)))
    return folders


def _remove_groups(folders: list[Path]) -> None:
    """Remove the groups once podman's own processes have left them.

    Raises:
        SandboxLost: they stay.
    """
    deadline = time.monotonic() + _REMOVE_S
    while left := [folder for folder in folders if folder.is_dir()]:
        for folder in left:
            for inner in (*(path for path in folder.iterdir() if path.is_dir()), folder):
                with contextlib.suppress(OSError):
                    inner.rmdir()
        if time.monotonic() > deadline:
            raise SandboxLost("podman's control groups can't be removed", where=str(left[0]))
        time.sleep(0.005)


def _init_pid(file: Path) -> int:
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        raise SandboxLost("podman does not say which process it started", where=str(file)) from None


def _program() -> str:
    program = shutil.which("podman")
    if program is None:
        raise SandboxUnavailable("podman is not installed", todo=Podman.todo)
    return program


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/root"),
        "LC_ALL": "C.UTF-8",
    }


def _chosen_runtime() -> tuple[str, ...]:
    runtime = _runtime_that_works()
    return ("--runtime", runtime) if runtime else ()


@lru_cache(maxsize=1)
def _runtime_that_works() -> str:
    """Find the OCI runtime with which podman runs something; "": its own choice.

    Raises:
        SandboxUnavailable: none.
    """
    program = _program()
    said = ""
    with tempfile.TemporaryDirectory(dir=state_root()) as folder:
        for name in ("usr", "proc", "dev", "sys", "etc", "run", "tmp"):
            Path(folder, name).mkdir()
        for name in SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                Path(folder, name).symlink_to(path.readlink())
        for runtime in ("", "runc"):
            given = ("--runtime", runtime) if runtime else ()
            name = f"basanite-try-{os.getpid()}"
            command = [
                *(program, *given, *_GLOBAL, "run", "--rm", "--network", "none", "--name", name),
                *("--cgroup-parent", f"/{_groups(name)}", "--log-driver", "none"),
                *("--ulimit", "nofile=256:256", "--ulimit", "nproc=64:64"),
                *("--volume", "/usr:/usr:ro", "--rootfs", folder, "/usr/bin/true"),
            ]
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, timeout=60,
                stdin=subprocess.DEVNULL, env=_environment(),
            )  # fmt: skip
            _remove_groups(group_folders(name))
            if done.returncode == 0:
                return runtime
            said = done.stderr.strip() or f"exit code {done.returncode}"
    raise SandboxUnavailable(f"podman fails: {said}", todo=Podman.todo)


__all__ = ["Podman", "group_folders"]
