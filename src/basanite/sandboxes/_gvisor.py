"""Containment by gVisor: a kernel of its own, in user space, between the code and the host's.

`runsc run` with a bundle, never `runsc do`: that shows the host's files. The whole of gVisor is
in the control group of the execution, so its own memory counts too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ..errors import PolicyError, SandboxLost, SandboxUnavailable
from ._amounts import amounts
from ._bubblewrap_args import process_limits
from ._cgroup import Group, GroupMaker
from ._child import Child
from ._container import WITH_US, ContainerRun, abandon, hold, only_descendant, refused
from ._enforcement import Aspect, Enforcement, Strength
from ._engines import said_version
from ._gate import Gate, held, reaping
from ._oci_config import Bundle, configuration
from ._report import BackendReport
from ._rootfs import Bind, binds, write_rootfs
from ._runtime import Job, report_of
from ._spec import SandboxSpec
from ._state import drops_user
from ._tasks import finished

_PLATFORMS = ("systrap", "ptrace")
_FLAGS = ("--network=none", "--ignore-cgroups", "--oci-seccomp")
_OWN_TASKS = 256
_TASKS_EACH = 4
"""How many threads of the host gVisor may need: for itself, and for each of the code's."""
_UNKNOWN = ("memlock", "msgqueue")
"""Limits that gVisor does not know; it has no such memory and no such queues of the host's."""
_FAILED = 128
"""The exit code of runsc when it failed itself."""
_KILLED = 137
"""That of the process around it when it was killed, perhaps before it had started the code."""
_ADVICE = (
    "On Debian or Ubuntu: apt-get install runsc, or get it from https://gvisor.dev/docs/user_guide"
)


class Gvisor:
    """The backend for code that may know a hole in the host's kernel."""

    name = "gvisor"
    uses_groups = True
    own_processes = 0  # see `_widen`

    def report(self) -> BackendReport:
        """See `Runtime.report`; the version names the platform."""

        def looked() -> str:
            return f"{said_version(_program(), '--version')} ({_platform()})"

        return report_of(self.name, looked, _ADVICE)

    def fitted(self, spec: SandboxSpec) -> SandboxSpec:
        """See `Runtime.fitted`.

        Raises:
            PolicyError: it asks for what gVisor has no way to.
        """
        for wanted, what in (
            (spec.network.endpoints, "model endpoints can't be reached"),
            (spec.gpus, "GPUs can't be used"),
        ):
            if wanted:
                raise PolicyError(
                    f"{what} from a gVisor sandbox",
                    where="sandbox",
                    todo="Choose the backend bubblewrap or oci, or leave it out.",
                )
        return spec

    def enforcement(
        self, spec: SandboxSpec, maker: GroupMaker | None
    ) -> Mapping[Aspect, Enforcement]:
        """See `Runtime.enforcement`."""
        return {**_borders(), **amounts(spec, maker), **_own_amounts(maker)}

    async def start(self, job: Job) -> ContainerRun:
        """See `Runtime.start`: gVisor itself starts when the code is released.

        Raises:
            PolicyError: folders are to be shared with it while it runs, as sessions need it.
        """
        if job.shared:
            raise PolicyError(
                "a session's sockets can't be seen through gVisor",
                where="sandbox",
                todo="Open the session with the backend bubblewrap or oci.",
            )
        gate = Gate(job.folder)
        command = await asyncio.to_thread(_command, job)
        child = Child(
            job.holder.entering_as_root([*WITH_US, *held(command, gate.path)]),
            environment={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
            stdin=job.stdin,
        )
        try:
            if not await gate.reached(child):
                raise await refused(child, "gvisor", _ADVICE)
            pid = only_descendant(child.pid, 1)
            if job.group is not None:
                _widen(job.group, job.limits.processes)
            hold(job, pid)
            return _GvisorRun(
                child, gate, pid, removing=lambda: asyncio.to_thread(_check, job, child)
            )
        except BaseException:
            gate.close()
            await finished(abandon(child))
            raise

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Nothing: its processes die with their supervisor."""
        return ()


class _GvisorRun(ContainerRun):
    counts_processes = False
    _memory_file: str | None = None

    def memory_of(self, pids: list[int]) -> int:
        """Give what the code holds, which is in a file without a name, and gVisor's own memory.

        What of that file is mapped, and so resident, at a moment says little.
        """
        if self._memory_file is None:
            self._memory_file = next(_memory_files(pids), None)
        inside = 0
        if self._memory_file is not None:
            with contextlib.suppress(OSError):
                inside = os.stat(self._memory_file).st_blocks * 512  # noqa: PTH116
        return inside + sum(map(_anonymous, pids))

    async def kill(self) -> None:
        """End the process namespace by its parent, and wait until nothing is left in it.

        Killed itself, its first process would make the parent complain where the code's own
        output goes.
        """
        self.child.kill()
        await self.init_ended()


def _memory_files(pids: list[int]) -> Iterator[str]:
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if "memfd:runsc-memory" in str(entry.readlink()):
                        yield str(entry)


def _anonymous(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def _command(job: Job) -> list[str]:
    """Write the bundle, and give the command that runs it."""
    owner = job.holder.owner
    # Without a user namespace the code has the number of its user outside.
    uid = owner.uid if owner.dropped else 0
    bound = binds(job, gate=None)
    bundle = Bundle(
        rootfs=write_rootfs(job, uid=uid, binds=bound),
        binds=(*bound, *_covers(job)),
        command=reaping(list(job.arguments)),
        uid=uid,
        users=(),
        limits=_limits(job),
        own_kernel=True,
    )
    (job.folder / "config.json").write_text(json.dumps(configuration(job, bundle)), "utf-8")
    return [
        *(_program(), "--root", str(job.folder / "runsc"), *_FLAGS),
        *(f"--platform={_platform()}", f"--log={job.folder / 'runsc.log'}"),
        *(() if owner.dropped else ("--rootless",)),
        *("run", "--bundle", str(job.folder), "--pid-file", str(job.folder / "pid"), job.name),
    ]


def _covers(job: Job) -> Iterator[Bind]:
    """Cover the devices of gVisor's own with which file systems and networks are made."""
    empty = job.folder / "empty"
    empty.touch(mode=0)
    for device in ("/dev/fuse", "/dev/net/tun"):
        yield Bind(str(empty), device)


def _limits(job: Job) -> dict[str, int]:
    limits = process_limits(job, all_held=False)
    if job.group is not None:
        del limits["data"]  # the group holds it, and counts what is really used
    return {name: value for name, value in limits.items() if name not in _UNKNOWN}


def _widen(group: Group, processes: int) -> None:
    """Leave room for gVisor's own threads: its kernel counts the code's processes."""
    for folder in group.paths:
        limit = folder / "pids.max"
        if limit.exists():
            limit.write_text(str(processes * _TASKS_EACH + _OWN_TASKS), "ascii")


def _check(job: Job, child: Child) -> None:
    """Tell a failure of gVisor itself from one of the code.

    Raises:
        SandboxLost: gVisor did not run the code.
    """
    log = job.folder / "runsc.log"
    said = log.read_text("utf-8", "replace") if log.exists() else ""
    started = (job.folder / "pid").exists() or child.exit_code == _KILLED
    if not started or (child.exit_code == _FAILED and "FATAL" in said):
        _, _, reason = said.partition("FATAL")
        reason = reason.partition("\n")[0][:500] or f"exit code {child.exit_code}"
        raise SandboxLost(f"gVisor failed: {reason}", where="runsc")


def _program() -> str:
    program = shutil.which("runsc")
    if program is None:
        raise SandboxUnavailable("runsc is not installed", todo=_ADVICE)
    return program


@lru_cache(maxsize=1)
def _platform() -> str:
    """Find the way of catching system calls that works here.

    Raises:
        SandboxUnavailable: none.
    """
    program, said = _program(), ""
    with tempfile.TemporaryDirectory() as state:
        for platform in _PLATFORMS:
            # Only `true` is run so, no code of anyone's.
            command = [program, "--root", state, f"--platform={platform}", *_FLAGS, "--rootless"]
            done = subprocess.run(
                [*command, "do", "/bin/true"],
                check=False, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if done.returncode == 0:
                return platform
            said = done.stderr.strip().rpartition("\n")[2]
    raise SandboxUnavailable(f"runsc fails: {said}", where="runsc", todo=_ADVICE)


def _borders() -> dict[Aspect, Enforcement]:
    return {
        "files": Enforcement(
            by="gVisor's file server, read-only",
            residual="its own /dev, in memory, is open to the code's user 0 where that is its user",
        ),
        "network": Enforcement(by="gVisor without a network"),
        "processes_seen": Enforcement(by="gVisor (own kernel)"),
        "privileges": Enforcement(
            by="gVisor (own kernel), no capabilities, no_new_privs",
            residual="newer versions know clone3, and so rights over nothing but gVisor itself",
        ),
        "user": Enforcement(by="gVisor (own kernel), a user without rights")
        if drops_user()
        else Enforcement(
            by="gVisor (own kernel)",
            strength=Strength.NONE,
            residual="without root the code is user 0 of gVisor's, without capabilities",
        ),
        "syscalls": Enforcement(by="gVisor (own kernel), seccomp deny-list"),
        "devices": Enforcement(by="gVisor (own kernel)"),
        "kernel": Enforcement(
            by="gVisor (own kernel)",
            residual="what gVisor itself asks of the host's kernel, behind a filter of its own",
        ),
    }


def _own_amounts(maker: GroupMaker | None) -> dict[Aspect, Enforcement]:
    held: dict[Aspect, Enforcement] = {
        "processes": Enforcement(
            by="gVisor's rlimit", residual="neither a hit nor the number used is reported"
        ),
        "file_size": Enforcement(by="gVisor's rlimit"),
    }
    if maker is not None:
        held["memory"] = Enforcement(
            by=maker.mechanism, residual="gVisor's own, some 30 MB, counts too"
        )
    else:
        held["memory"] = Enforcement(
            by="watchdog", strength=Strength.BEST_EFFORT,
            residual="many processes together can exceed it for some 0.02 s",
        )  # fmt: skip
    return held


__all__ = ["Gvisor"]
