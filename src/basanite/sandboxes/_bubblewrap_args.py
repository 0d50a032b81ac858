"""The arguments of bubblewrap for one execution.

Order matters: a tmpfs hides what was bound below it, so the writable places come first, then
what is bound, and last what turns the rest read-only.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import PolicyError
from ._runtime import CODE, INSIDE_UID, WORK, Job
from ._spec import MIB

SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/fonts",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/python3.12",
    "/etc/python3.13",
)
MASKED_FILES = (
    "cmdline",
    "config.gz",
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "latency_stats",
    "modules",
    "sched_debug",
    "sysrq-trigger",
    "timer_list",
)
MASKED_FOLDERS = ("acpi", "asound", "fs", "irq", "scsi", "tty")
_NVIDIA = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
PRLIMIT = "/usr/bin/prlimit"


def arguments(job: Job, *, etc: Path) -> list[str]:
    """Give the arguments up to the command, without those that name descriptors."""
    given = [
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL"),
        *("--new-session", "--die-with-parent", "--clearenv"),
        *("--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID), "--hostname", "sandbox"),
    ]
    if not job.holder.network:
        given.append("--unshare-net")
    given += ["--ro-bind", "/usr", "/usr", *_system(), "--proc", "/proc", *_masks()]
    given += ["--dev", "/dev", *_tmpfs("/dev/shm", job), *_tmpfs("/tmp", job)]
    given += [*_etc(etc), "--dir", "/run/basanite"]
    given += ["--bind", str(job.holder.work), WORK]
    for source, target in job.shared:
        given += ["--bind", str(source), target]
    if job.code is not None:
        given += ["--ro-bind", str(job.code), CODE]
    for mount in job.spec.mounts:
        given += ["--ro-bind", str(job.holder.source(mount.source)), str(mount.target)]
    given += [*_gpus(job.spec.gpus), "--remount-ro", "/dev", "--remount-ro", "/"]
    given += ["--chdir", WORK]
    for name, value in job.environment.items():
        given += ["--setenv", name, value]
    return given


def _system() -> Iterator[str]:
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _masks() -> Iterator[str]:
    # /proc/sys belongs to the host's root, who could write it without any capability.
    yield from ("--ro-bind", "/proc/sys", "/proc/sys")
    for name in MASKED_FILES:
        if Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")
    for name in MASKED_FOLDERS:
        if Path("/proc", name).is_dir():
            yield from (
                "--size",
                "4096",
                "--tmpfs",
                f"/proc/{name}",
                "--remount-ro",
                f"/proc/{name}",
            )


def _tmpfs(target: str, job: Job) -> tuple[str, ...]:
    return ("--size", str(job.limits.tmp_mb * MIB), "--perms", "1777", "--tmpfs", target)


def _etc(etc: Path) -> Iterator[str]:
    for path in sorted(etc.iterdir()):
        yield from ("--ro-bind", str(path), f"/etc/{path.name}")
    for name in ETC:
        yield from ("--ro-bind-try", name, name)


def write_etc(folder: Path) -> Path:
    """Write the few files of /etc that programs expect, once, and give their folder."""
    etc = folder / "etc"
    if not etc.exists():
        fresh = Path(tempfile.mkdtemp(prefix="etc-", dir=folder))
        for name, text in etc_files().items():
            (fresh / name).write_text(text, "ascii")
            (fresh / name).chmod(0o644)
        fresh.chmod(0o755)
        try:
            fresh.rename(etc)
        except OSError:  # another execution was faster
            shutil.rmtree(fresh)
    return etc


def etc_files(uid: int = INSIDE_UID) -> Mapping[str, str]:
    """Give the files of /etc that are written anew, by name, for a user of this id."""
    return {
        "passwd": f"agent:x:{uid}:{uid}:agent:{WORK}:/bin/sh\n",
        "group": f"agent:x:{uid}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def gpu_devices(gpus: tuple[int, ...]) -> list[Path]:
    """Give the device files of GPUs.

    Raises:
        PolicyError: one of them is not on this machine.
    """
    devices = [Path(f"/dev/nvidia{gpu}") for gpu in gpus]
    for device in devices:
        if not device.exists():
            raise PolicyError(
                "there is no such GPU on this machine", where=str(device),
                todo="`nvidia-smi -L` lists those that are there.",
            )  # fmt: skip
    if devices:
        devices += [path for name in _NVIDIA if (path := Path("/dev", name)).exists()]
    return devices


def _gpus(gpus: tuple[int, ...]) -> Iterator[str]:
    for device in gpu_devices(gpus):
        yield from ("--dev-bind", str(device), str(device))


def limited(job: Job) -> list[str]:
    """Give the command with the limits of each process around it.

    `prlimit` runs inside, where the number of processes is counted for the sandbox alone, and
    gives 127 for a command that is not there, as a shell does.
    """
    limits = process_limits(job, all_held=job.group is not None)
    given = [f"--{name}={value}" for name, value in limits.items()]
    return [PRLIMIT, *given, "--", *job.arguments]


def process_limits(job: Job, *, all_held: bool) -> dict[str, int]:
    """Give the limits of each process, by the kernel's names for them.

    Args:
        job: what runs.
        all_held: whether a group holds the memory and the number of all processes together.
    """
    limits = job.limits
    held = {
        "core": 0,
        "fsize": (limits.file_mb or limits.disk_mb) * MIB,
        "nofile": limits.open_files,
        "memlock": 0,
        "msgqueue": 0,
    }
    if limits.cpu_s is not None:
        held["cpu"] = int(limits.cpu_s) + 2
    if not all_held:
        held |= {"nproc": limits.processes, "data": limits.memory_mb * MIB}
    return held


__all__ = [
    "ETC",
    "MASKED_FILES",
    "MASKED_FOLDERS",
    "PRLIMIT",
    "SYSTEM",
    "arguments",
    "etc_files",
    "gpu_devices",
    "limited",
    "process_limits",
    "write_etc",
]
