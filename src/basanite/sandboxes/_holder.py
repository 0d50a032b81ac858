"""A mount namespace that holds a sandbox's work folder and its mounts, without any code inside.

The work folder in memory is a tmpfs whose size and number of files the kernel holds exactly. It
is mounted in a namespace of its own, which one small process keeps (`cat` on a pipe of ours: it
ends when we do, and then nothing is left to unmount). Each execution is started from within this
namespace and sees the folder; after its processes are dead the files can still be read through
the holder, so nothing races with code that runs. As root, folders that a throw-away user could
not reach are bound there first.

A network namespace, where one is asked for, is held in the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import PolicyError, SandboxLost, SandboxUnavailable
from ._advice import advice
from ._collect import summed
from ._spec import MIB, Limits

_START_S = 20.0
_SCRIPT = """set -e
work=$1 options=$2; shift 2
[ -z "$options" ] || mount -t tmpfs -o "$options" basanite "$work"
while [ $# -gt 0 ]; do mount --bind "$1" "$2"; shift 2; done
echo ready
exec cat
"""
_TOOLS = ("unshare", "nsenter", "mount", "prlimit")


def missing_tools() -> list[str]:
    """Give the programs of util-linux that are not there."""
    return [tool for tool in _TOOLS if shutil.which(tool) is None]


def tool(name: str) -> str:
    """Give the path of a program of util-linux."""
    path = shutil.which(name)
    if path is None:
        raise SandboxUnavailable(
            f"the program {name} is not installed",
            todo="On Debian or Ubuntu: apt-get install util-linux mount",
        )
    return path


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns the files of a sandbox: a throw-away user under root, else this user."""

    uid: int
    """As this machine sees it."""
    dropped: bool
    """Whether it is another user than this process's."""

    @classmethod
    def of(cls, uid: int | None) -> Owner:
        """Give the throw-away user, or this process's where there is none."""
        return cls(os.getuid(), dropped=False) if uid is None else cls(uid, dropped=True)

    def check_readable(self, path: Path) -> None:
        """Refuse what would be there inside and could not be read.

        Raises:
            PolicyError: code runs as a throw-away user, and this file or folder is not for all.
        """
        if self.dropped and not _readable(path):
            raise PolicyError(
                f"code runs as user {self.uid}, which may not read it",
                where=str(path),
                todo=f"chmod -R o+rX {path}, or a copy for which that is right.",
            )


@dataclass(slots=True)
class Holder:
    """The namespace: `entering` starts a command in it, `path` reads what it holds."""

    owner: Owner
    work: Path
    bound: dict[Path, Path] = field(default_factory=dict)
    network: bool = False
    _process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process that keeps it."""
        if self._process is None:
            raise ValueError("the holder is not open")
        return self._process.pid

    async def open(
        self, folder: Path, limits: Limits, *, memory: bool, hidden: Sequence[Path]
    ) -> None:
        """Make the namespace.

        Args:
            folder: the sandbox's folder on this machine.
            limits: size and number of files, where the work folder is in memory.
            memory: whether it is; if not it stays a plain folder on disk.
            hidden: paths that the owner can't reach by itself and that are bound for it.
        """
        size = limits.disk_mb * MIB
        options = _options(size, limits.inodes, self.owner) if memory else ""
        pairs: list[str] = []
        for number, source in enumerate(hidden):
            place = folder / "bound" / str(number)
            place.parent.mkdir(mode=0o711, exist_ok=True)
            place.mkdir() if source.is_dir() else place.touch()
            self.bound[source] = place
            pairs += [str(source), str(place)]
        command = [tool("unshare"), "--mount", "--propagation", "private"]
        if not self.owner.dropped:
            command += ["--user", "--map-root-user"]
        if self.network:
            command += ["--net"]
        command += ["sh", "-c", _SCRIPT, "sh", str(self.work), options, *pairs]
        # In this thread, not another: see `Child`.
        self._process = _started(command)
        await self._wait_ready()

    async def _wait_ready(self) -> None:
        process = self._process
        if process is None or process.stdout is None or process.stderr is None:
            raise ValueError("the holder is not open")
        os.set_blocking(process.stdout.fileno(), False)
        loop = asyncio.get_running_loop()
        said: asyncio.Future[None] = loop.create_future()
        loop.add_reader(process.stdout, lambda: None if said.done() else said.set_result(None))
        try:
            async with asyncio.timeout(_START_S):
                await said
        except TimeoutError:
            self.close()
            raise SandboxLost("the work folder was not ready in time", where="unshare") from None
        finally:
            loop.remove_reader(process.stdout)
        if os.read(process.stdout.fileno(), 64) != b"ready\n":
            error = process.stderr.read().decode("utf-8", "replace").strip()
            self.close()
            raise SandboxUnavailable(
                f"no mount namespace can be made: {error or 'no reason given'}",
                where="unshare",
                todo=advice(error),
            )

    def entering(self, command: Sequence[str]) -> list[str]:
        """Give a command that runs another in the namespace, as the owner."""
        enter = [tool("nsenter"), "--target", str(self.pid), "--mount"]
        if self.network:
            enter += ["--net"]
        if self.owner.dropped:
            enter += ["--setuid", str(self.owner.uid), "--setgid", str(self.owner.uid)]
        else:
            enter += ["--user", "--preserve-credentials"]
        return [*enter, "--", *command]

    def entering_as_root(self, command: Sequence[str]) -> list[str]:
        """Give a command that runs another in the namespace without dropping the user."""
        enter = [tool("nsenter"), "--target", str(self.pid), "--mount"]
        if self.network:
            enter += ["--net"]
        if not self.owner.dropped:
            enter += ["--user", "--preserve-credentials"]
        return [*enter, "--", *command]

    def mount_memory(self, path: Path, *, size: int, entries: int) -> None:
        """Put a small file system in memory, the owner's, over a folder in the namespace.

        Args:
            path: the folder.
            size: bytes of all files.
            entries: number of files.
        """
        options = _options(size, entries, self.owner)
        command = [tool("mount"), "-t", "tmpfs", "-o", options, "basanite", str(path)]
        done = subprocess.run(self.entering_as_root(command), check=False, capture_output=True)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise SandboxLost(f"no file system in memory can be mounted ({said})", where="mount")

    def seen(self, path: Path) -> Path:
        """Give the way by which this process reaches a path of the namespace."""
        return Path(f"/proc/{self.pid}/root") / str(path).lstrip("/")

    def source(self, path: Path) -> Path:
        """Give the place in the namespace of a path of this machine."""
        return self.bound.get(path, path)

    def work_used(self, limit_entries: int) -> tuple[int, int]:
        """Give the bytes on disk and the number of entries of the work folder.

        `find` goes as deep as needed and follows no link; within the namespace it may enter
        what its owner has closed. Files that are deleted but still open are not seen.
        """
        command = ["find", str(self.work), "-mindepth", "1", "-xdev", "-printf", r"%b\n"]
        with subprocess.Popen(
            self.entering_as_root(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            found = summed(process.stdout or (), limit_entries)
            process.kill()
        return found

    def empty(self) -> None:
        """Remove what lies in a work folder on disk, also what its owner has closed."""
        subprocess.run(
            self.entering_as_root(["find", str(self.work), "-mindepth", "1", "-xdev", "-delete"]),
            check=False,
            stderr=subprocess.DEVNULL,
        )

    def alive(self) -> bool:
        """Whether the namespace is still there."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Let go of the namespace, and so of all that is mounted in it."""
        process = self._process
        if process is None:
            return
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.kill()
        process.wait()


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,
    )


def _options(size: int, entries: int, owner: Owner) -> str:
    # In a user namespace of its own, 0 is the owner.
    uid = owner.uid if owner.dropped else 0
    return f"size={size},nr_inodes={entries + 1},mode=0700,uid={uid},gid={uid},nosuid,nodev"


def reachable(path: Path) -> bool:
    """Whether every user of this machine can pass to a path and read it."""
    for parent in path.parents:
        if not parent.stat().st_mode & 0o001:
            return False
    return _readable(path)


def _readable(path: Path) -> bool:
    wanted = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & wanted == wanted


__all__ = ["Holder", "Owner", "missing_tools", "reachable", "tool"]
