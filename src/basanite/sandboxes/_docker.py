"""Containers by docker, whose daemon starts them.

The daemon does not see what is mounted in the holder's namespace, so the work folder lies on
disk. The image is empty: /usr of this machine is bound into it, read-only, as with the others.
`BASANITE_OCI_IMAGE` names an image with programs of its own, which then has to have `sh` and
util-linux's `prlimit`.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import PolicyError, SandboxLost, SandboxUnavailable
from ._bubblewrap_args import SYSTEM, etc_files, gpu_devices, limited
from ._child import Child
from ._container import ContainerRun, abandon, hold, refused, run_all
from ._engines import said_version
from ._gate import INSIDE, Gate, waiting
from ._rootfs import Bind, binds, mount_option
from ._runtime import WORK, Job
from ._seccomp import oci_rules
from ._spec import MIB
from ._tasks import finished

IMAGE = "basanite-empty:1"
IMAGE_VARIABLE = "BASANITE_OCI_IMAGE"
_OWN = 2
"""Processes that are not the code's: the shell that waits, and the first fork of the runtime."""
_FIXED = (
    *("run", "--rm", "--pull", "never", "--log-driver", "none", "--interactive"),
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--network", "none", "--ipc", "private", "--cgroupns", "private"),
    *("--hostname", "sandbox", "--workdir", WORK, "--ulimit", "core=0:0"),
)


class Docker:
    """The engine `docker`."""

    name = "docker"
    todo = "Install Docker, start its daemon, and let this user reach it"

    def version(self) -> str:
        """See `Engine.version`."""
        return said_version(_program(), "version", "--format", "{{.Server.Version}}")

    def in_daemon(self) -> bool:
        """Always: see `Engine.in_daemon`."""
        return True

    async def start(self, job: Job) -> ContainerRun:
        """See `Runtime.start`."""
        gate = Gate(job.folder)
        command = await asyncio.to_thread(self.command, job, gate.path)
        await asyncio.to_thread(_import_image)
        child = Child(command, environment=_environment(), stdin=job.stdin)
        try:
            if not await gate.reached(child):
                raise await refused(child, "docker", self.todo)
            init_pid = await asyncio.to_thread(_init_pid, job.name)
            hold(job, init_pid)
            kill = ((_program(), "kill", job.name),)
            return ContainerRun(
                child, gate, init_pid, ending=lambda: asyncio.to_thread(run_all, kill)
            )
        except BaseException:
            gate.close()
            await finished(abandon(child))
            await finished(asyncio.to_thread(run_all, self.cleanup(job.name)))
            raise

    def command(self, job: Job, gate: Path) -> list[str]:
        """Write what the daemon reads, and give the command.

        Raises:
            PolicyError: the job asks for what docker can't give.
        """
        if job.spec.network.endpoints:
            raise PolicyError(
                "docker can't reach model endpoints through the supervisor",
                where="sandbox",
                todo="Choose bubblewrap, or the engine runc (BASANITE_OCI=runc).",
            )
        profile = job.folder / "seccomp.json"
        # The daemon's own group counts all memory.
        profile.write_text(json.dumps(oci_rules(count_memory=True, pin_cores=False)), "ascii")
        image = os.environ.get(IMAGE_VARIABLE)
        return [
            *(_program(), *_FIXED, "--name", job.name),
            *("--security-opt", f"seccomp={profile}"),
            *_limits(job),
            *_what_is_seen(job, gate, own_programs=image is not None),
            *(image or IMAGE, *waiting(limited(job))),
        ]

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Give the command that kills and removes the container."""
        return ((_program(), "rm", "--force", name),)


def _limits(job: Job) -> Iterator[str]:
    limits = job.limits
    memory = f"{limits.memory_mb}m"
    yield from ("--memory", memory, "--memory-swap", memory)
    yield from ("--pids-limit", str(limits.processes + _OWN))
    if limits.cpus is not None:
        yield from ("--cpus", f"{limits.cpus:g}")
    yield from ("--ulimit", f"nofile={limits.open_files}:{limits.open_files}")
    size = limits.tmp_mb * MIB
    yield from ("--shm-size", f"{size}b", "--tmpfs", f"/tmp:rw,nosuid,nodev,mode=1777,size={size}")


def _what_is_seen(job: Job, gate: Path, *, own_programs: bool) -> Iterator[str]:
    uid = job.holder.owner.uid
    yield from ("--user", f"{uid}:{uid}")
    for device in gpu_devices(job.spec.gpus):
        yield from ("--device", f"{device}:{device}:rw")
    for name, value in job.environment.items():
        yield from ("--env", f"{name}={value}")
    for bind in _binds(job, gate, uid):
        if own_programs and bind.target.split("/")[1] in ("usr", "etc", *SYSTEM):
            continue
        yield from ("--mount", mount_option(bind, "docker"))


def _binds(job: Job, gate: Path, uid: int) -> Iterator[Bind]:
    for name, text in etc_files(uid).items():
        file = job.folder / name
        file.write_text(text, "ascii")
        file.chmod(0o644)
        yield Bind(str(file), f"/etc/{name}")
    hidden = {str(place): str(source) for source, place in job.holder.bound.items()}
    for bind in binds(job, gate=gate):
        # The daemon is root and sees the source itself, but not what the holder has bound.
        yield Bind(hidden.get(bind.source, bind.source), bind.target, bind.writable)


def _import_image() -> None:
    if os.environ.get(IMAGE_VARIABLE):
        return
    seen = subprocess.run(
        [_program(), "image", "inspect", IMAGE],
        check=False, capture_output=True, env=_environment(), timeout=60,
    )  # fmt: skip
    if seen.returncode == 0:
        return
    done = subprocess.run(
        [_program(), "import", "-", IMAGE],
        check=False, capture_output=True, input=empty_root(), env=_environment(), timeout=60,
    )  # fmt: skip
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SandboxUnavailable(f"docker can't import an empty image: {said}", where="docker")


def empty_root() -> bytes:
    """Give a tar archive of a root with empty folders and the links of this machine's."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("usr", "proc", "sys", "dev", "etc", "tmp", "work", "run", "run/basanite"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            archive.addfile(folder)
        gate = tarfile.TarInfo(INSIDE.lstrip("/"))
        archive.addfile(gate, io.BytesIO(b""))
        for name in SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(link)
    return buffer.getvalue()


def _init_pid(name: str) -> int:
    done = subprocess.run(
        [_program(), "inspect", "--format", "{{.State.Pid}}", name],
        check=False, capture_output=True, text=True, env=_environment(), timeout=30,
    )  # fmt: skip
    pid = done.stdout.strip()
    if done.returncode != 0 or not pid.isdigit() or pid == "0":
        raise SandboxLost(
            "docker does not say which process it started, or it runs on another machine",
            where=f"container {name}",
            todo="Use a daemon on this machine: see `docker context`.",
        )
    return int(pid)


def _program() -> str:
    program = shutil.which("docker")
    if program is None:
        raise SandboxUnavailable("docker is not installed", todo=Docker.todo)
    return program


def _environment() -> dict[str, str]:
    own = {k: v for k, v in os.environ.items() if k.startswith("DOCKER_") or k == "HOME"}
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **own}


__all__ = ["IMAGE", "IMAGE_VARIABLE", "Docker", "empty_root"]
