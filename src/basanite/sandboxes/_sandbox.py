"""A sandbox: a policy, a work folder, and executions one after the other or side by side."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from ..errors import PolicyError, SandboxLost
from ..schema import digest
from . import _cgroup, _state
from ._collect import Collected, collect
from ._command import arguments_of
from ._enforcement import Aspect, Enforcement
from ._execution import Ended, Execution, Sink, file_system_full
from ._holder import Holder, Owner, reachable
from ._result import Event, ExecResult, Finished, NetworkRequest, Status
from ._runtime import WORK, Job, Runtime
from ._spec import Limits, SandboxSpec
from ._tasks import finished
from ._upload import place_file, stdin_of

if TYPE_CHECKING:
    from ._proxy import Proxy

_PATH = "/usr/local/bin:/usr/bin:/bin"
_MAX_SIGNAL = 64
_SETTLE_S = 1.0


class Sandbox:
    """An open sandbox. Made by `open_sandbox`; close it, or use it as a context manager.

    Each execution has processes of its own that end with it; files in the work folder stay
    until the sandbox closes.
    """

    def __init__(
        self,
        runtime: Runtime,
        spec: SandboxSpec,
        maker: _cgroup.GroupMaker | None,
        enforced: Mapping[Aspect, Enforcement],
    ) -> None:
        self.spec = runtime.fitted(spec)
        self.backend = runtime.name
        self.enforced = dict(enforced)
        self._runtime = runtime
        self._maker = maker if runtime.uses_groups else None
        self._folder: _state.Folder | None = None
        self._slot: _state.UserSlot | None = None
        self._holder: Holder | None = None
        self._proxy: Proxy | None = None
        self._number = 0
        self._counting = threading.Lock()
        self._running: set[asyncio.Event] = set()
        self._idle = asyncio.Event()
        self._names: list[str] = []

    @property
    def policy_hash(self) -> str:
        """SHA-256 of the policy, the backend and what it enforces; without what is run."""
        policy = self.spec.model_dump(mode="json", exclude={"command", "code"})
        policy["floor"] = sorted(self.spec.floor)
        enforced = {name: entry.model_dump(mode="json") for name, entry in self.enforced.items()}
        return digest({"policy": policy, "backend": self.backend, "enforced": enforced})

    @property
    def network_log(self) -> tuple[NetworkRequest, ...]:
        """What code inside has asked of its model endpoints, by the order in which it ended."""
        return () if self._proxy is None else self._proxy.account.since(0)

    async def open(self) -> Self:
        """Make the work folder and the namespaces around it."""
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise
        return self

    async def _open(self) -> None:
        self._folder = _state.Folder.create()
        path = self._folder.path
        if _state.drops_user():
            self._slot = _state.UserSlot()
        owner = Owner.of(None if self._slot is None else self._slot.uid)
        work = path / "work"
        work.mkdir(mode=0o700)
        if owner.dropped:
            os.chown(work, owner.uid, owner.uid)
        sources = [mount.source for mount in self.spec.mounts]
        for source in sources:
            owner.check_readable(source)
        hidden = [s for s in sources if owner.dropped and not reachable(s)]
        self._holder = Holder(owner, work, network=bool(self.spec.network.endpoints))
        await self._holder.open(
            path, self.spec.limits, memory=self.spec.workdir == "memory", hidden=hidden
        )
        if self.spec.network.endpoints:
            from ._proxy import open_proxy

            self._proxy = await open_proxy(self.spec.network, self._holder)
        self._note()

    def _note(self) -> None:
        """Write down what a successor must remove should this process be killed now."""
        folder, holder = self._ready()
        groups = (
            []
            if self._maker is None
            else [str(p) for n in self._names for p in self._maker.paths(n)]
        )
        folder.note(
            processes=[_state.process_mark(holder.pid)],
            groups=groups,
            commands=[list(c) for name in self._names for c in self._runtime.cleanup(name)],
        )

    def _ready(self) -> tuple[_state.Folder, Holder]:
        if self._folder is None or self._holder is None:
            raise PolicyError("the sandbox is closed", where="sandbox", todo="Open a new one.")
        if not self._holder.alive():
            raise SandboxLost("the sandbox's namespace is gone", where=self._folder.id)
        return self._folder, self._holder

    async def run(
        self, *, collect: bool = True, on_event: Sink | None = None, stdin: bytes | None = None
    ) -> ExecResult:
        """Run the specification's own command or code."""
        return await self.execute(
            self.spec.command, code=self.spec.code, collect=collect, on_event=on_event, stdin=stdin
        )

    async def execute(
        self,
        command: Sequence[str] | None = None,
        *,
        code: str | None = None,
        stdin: bytes | None = None,
        isolated: bool = False,
        wall_s: float | None = None,
        collect: bool = True,
        on_event: Sink | None = None,
    ) -> ExecResult:
        """Run a command, or Python source, and give what came of it.

        Args:
            command: a program of the sandbox and its arguments.
            code: Python source for `spec.python`, instead of a command.
            stdin: what it can read; None: nothing.
            isolated: run the source by `python -I`, which imports nothing from the work folder
                and heeds no variable.
            wall_s: another limit of time than the specification's.
            collect: whether the work folder's files are taken out afterwards.
            on_event: called in this thread with each event, so that output is seen as it comes.

        Raises:
            PolicyError: nothing, or two things, to run.
            SandboxLost: the sandbox broke; nothing that ran in it counts.
            SandboxUnavailable: the machine refused.
        """
        arguments = arguments_of(command, code, python=self.spec.python, isolated=isolated)
        limits = self.spec.limits
        if wall_s is not None:
            limits = SandboxSpec.create(limits={**limits.model_dump(), "wall_s": wall_s}).limits
        stop = asyncio.Event()
        with self._counted(stop):
            job = await finished(
                asyncio.to_thread(self._job, arguments, code, stdin, limits), undo=self._discard
            )
            execution = Execution(self._runtime, job, on_event, stop)
            result = await self._run_job(job, execution, collect=collect)
        if on_event is not None:
            on_event(Finished(result=result))
        return result

    async def _run_job(self, job: Job, execution: Execution, *, collect: bool) -> ExecResult:
        """Run what `_job` has prepared, and remove it; kernels do so too."""
        with self._counted(execution.stop):
            try:
                ended = await execution.run()
                if self._proxy is not None and len(self._running) == 1:
                    await self._proxy.account.settled(_SETTLE_S)
                return await finished(asyncio.to_thread(self._result, job, ended, collect))
            finally:
                await finished(asyncio.to_thread(self._discard, job))

    @contextlib.contextmanager
    def _counted(self, stop: asyncio.Event) -> Iterator[None]:
        """Have `close` end an execution, by setting `stop`, and wait for it."""
        self._running.add(stop)
        try:
            yield
        finally:
            self._running.discard(stop)
            if not self._running:
                self._idle.set()

    def _discard(self, job: Job) -> None:
        """Remove what `_job` made."""
        if job.stdin is not None:
            os.close(job.stdin)
        if job.group is not None:
            job.group.remove()
        with self._counting:
            self._names.remove(job.name)

    async def stream(
        self, command: Sequence[str] | None = None, *, code: str | None = None, **options: object
    ) -> AsyncIterator[Event]:
        """Run something and give its events as they come; the last one holds the result.

        Leaving the iteration early ends the execution. Takes the options of `execute`.
        """
        events: asyncio.Queue[Event] = asyncio.Queue()
        work = asyncio.ensure_future(
            self.execute(command, code=code, on_event=events.put_nowait, **options)  # type: ignore[arg-type]
        )
        following = asyncio.ensure_future(events.get())
        try:
            while True:
                await asyncio.wait((following, work), return_when="FIRST_COMPLETED")
                if not following.done():
                    await work  # raises what broke
                    return
                event = following.result()
                yield event
                if isinstance(event, Finished):
                    return
                following = asyncio.ensure_future(events.get())
        finally:
            following.cancel()
            work.cancel()
            await asyncio.wait((work,))
            if not work.cancelled():
                work.result()  # raises what broke

    def _job(
        self,
        arguments: tuple[str, ...],
        code: str | None,
        stdin: bytes | None,
        limits: Limits,
        shared: str | None = None,
    ) -> Job:
        folder, holder = self._ready()
        with self._counting:
            self._number += 1
            number = self._number
            name = f"{_cgroup.PREFIX}{folder.id}-{number}"
            self._names.append(name)
            self._note()
        place = folder.path / f"run-{number}"
        place.mkdir(mode=0o711)
        environment = self._environment()
        source = None
        if code is not None:
            source = place / "code.py"
            # What a model writes can hold half characters; Python itself says so, as a result.
            source.write_text(code, "utf-8", "surrogatepass")
            source.chmod(0o644)
            environment.setdefault("PYTHONPATH", WORK)
        folders: tuple[tuple[Path, str], ...] = ()
        if shared is not None:
            folders = ((place / "shared", shared),)
            folders[0][0].mkdir(mode=0o700)
        group = (
            None
            if self._maker is None
            else self._maker.create(name, limits, self._runtime.own_processes)
        )
        return Job(
            name=name,
            arguments=arguments,
            environment=environment,
            spec=self.spec,
            limits=limits,
            folder=place,
            holder=holder,
            group=group,
            code=source,
            shared=folders,
            stdin=None if stdin is None else stdin_of(stdin),
            requests_before=0 if self._proxy is None else self._proxy.account.ended,
        )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": _PATH,
            "HOME": WORK,
            "USER": "agent",
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",
            "PYTHONDONTWRITEBYTECODE": "1",
            **({} if self._proxy is None else self._proxy.environment()),
            **self.spec.environment,
        }

    def _result(self, job: Job, ended: Ended, wanted: bool) -> ExecResult:
        stdout, stderr = (capture.close() for capture in ended.captures)
        _, holder = self._ready()
        work = holder.seen(holder.work)
        # Code may have taken its own right to the folder away, and with it ours.
        work.chmod(0o700)
        hit = dict.fromkeys(ended.limits_hit)
        if self.spec.workdir == "memory":
            hit |= dict.fromkeys(file_system_full(work))
        found = collect(work, job.folder / "artifacts", job.limits) if wanted else Collected()
        account = None if self._proxy is None else self._proxy.account
        network = () if account is None else account.since(job.requests_before)
        if account is not None and any(one.why for one in network):
            hit |= account.hit
        status, signal = ended.status, None
        if status is Status.EXITED and ended.exit_code is not None:
            over = ended.exit_code - 128
            signal = over if 0 < over <= _MAX_SIGNAL else None
        return ExecResult(
            status=status,
            exit_code=ended.exit_code,
            signal=signal,
            limits_hit=tuple(hit),
            stdout=stdout,
            stderr=stderr,
            usage=ended.usage,
            artifacts=tuple(found.artifacts),
            rejected=tuple(found.rejected),
            artifacts_complete=found.complete,
            network=network,
            network_complete=account is None or account.complete,
            backend=self.backend,
            enforced={str(name): entry for name, entry in self.enforced.items()},
            policy_hash=self.policy_hash,
        )

    async def upload(self, path: str, data: bytes) -> None:
        """Put a file into the work folder, its folders made if need be.

        Raises:
            PolicyError: the path leads out of the work folder, or through something that code
                inside has put there, or the folder is full.
        """
        _, holder = self._ready()
        parts = PurePosixPath(path).parts
        if not isinstance(data, bytes | bytearray | memoryview):
            raise PolicyError("what is uploaded is bytes", where=f"upload {path}")
        if not parts or PurePosixPath(path).is_absolute() or ".." in parts or "\0" in path:
            raise PolicyError("a path in the work folder is relative, without '..'", where=path)
        try:
            await asyncio.to_thread(place_file, holder, parts, data)
        except OSError as error:
            raise PolicyError(
                f"can't be written ({error.strerror})", where=f"upload {path}"
            ) from None

    def stop(self) -> None:
        """Have all that runs killed: each execution ends as `cancelled`, its files collected."""
        for stop in list(self._running):
            stop.set()

    async def close(self) -> None:
        """End what runs, and remove the work folder and all copies of its files."""
        await finished(self._close())

    async def _close(self) -> None:
        self.stop()
        while self._running:
            self._idle.clear()
            await self._idle.wait()
        if self._proxy is not None:
            await self._proxy.close()
        holder, folder, slot = self._holder, self._folder, self._slot
        self._holder = self._folder = self._slot = None
        await asyncio.to_thread(self._remove, holder, folder, slot)

    def _remove(
        self, holder: Holder | None, folder: _state.Folder | None, slot: _state.UserSlot | None
    ) -> None:
        if holder is not None:
            if self.spec.workdir == "disk" and holder.alive():
                holder.empty()
            holder.close()
        if folder is not None:
            folder.remove()
        if slot is not None:
            slot.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


__all__ = ["Sandbox"]
