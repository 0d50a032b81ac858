"""A Jupyter kernel's process in a sandbox, and the channels to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BasaniteError, SandboxLost, SetupError
from ._cell_record import CellRecord
from ._execution import Execution
from ._kernel_inside import CHANNELS, MISSING, SOCKETS, source
from ._kernel_messages import Message, Wire
from ._result import ExecResult
from ._runtime import CODE, Job
from ._spec import MIB
from ._tasks import finished
from ._zmtp import BrokenPeer, Connection

if TYPE_CHECKING:
    from ._sandbox import Sandbox

_START_S = 60.0
_POLL_S = 0.005
_GONE_S = 1.0
"""How long a process may outlive its channels."""
_SOCKETS_SIZE = 64 * 1024
_SOCKETS_ENTRIES = 32
_YIELD_EVERY = 32
_SAID = 2000


class Kernel:
    """One kernel from its start to its end. Use `Session`, which starts another when asked."""

    def __init__(self, sandbox: Sandbox, python: str) -> None:
        self._sandbox = sandbox
        self._python = python
        self._wire = Wire(secrets.token_hex(32).encode("ascii"))
        self._channels: dict[str, Connection] = {}
        self._readers: list[asyncio.Task[None]] = []
        self._record: CellRecord | None = None
        self._awaited: dict[str, asyncio.Future[None]] = {}
        self._idle_bytes = 0
        self._cell_begins = asyncio.Event()
        self._job: Job | None = None
        self._execution: Execution | None = None
        self._ended: asyncio.Task[ExecResult] | None = None
        self.started_s = 0.0
        """Seconds from its start until it was ready."""

    @property
    def ended(self) -> asyncio.Task[ExecResult]:
        """Done when nothing of the kernel is left."""
        if self._ended is None:
            raise SandboxLost("the kernel was not started", where=self._python)
        return self._ended

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._ended is not None and not self._ended.done()

    @property
    def root_pid(self) -> int | None:
        """The process under which all of it is found, if it can be seen."""
        running = None if self._execution is None else self._execution.running
        return None if running is None or not self.alive else running.root_pid

    @property
    def groups(self) -> tuple[Path, ...]:
        """The control groups that hold it."""
        return () if self._job is None or self._job.group is None else self._job.group.paths

    async def start(self) -> None:
        """Start it and wait until it takes requests.

        Raises:
            SetupError: the interpreter has no ipykernel.
            SandboxLost: it did not get ready.
        """
        began = time.monotonic()
        job = self._job = await finished(
            asyncio.to_thread(self._prepared), undo=self._sandbox._discard
        )
        self._execution = Execution(self._sandbox._runtime, job, None)
        self._ended = asyncio.ensure_future(
            self._sandbox._run_job(job, self._execution, collect=False)
        )
        try:
            await self._until_ready(job, self._ended)
        except BaseException:
            await asyncio.shield(self.close())
            raise
        self.started_s = time.monotonic() - began

    def _prepared(self) -> Job:
        command = (self._python, "-I", "-B", CODE)
        program = source(self._wire.key.decode("ascii"))
        limits = self._sandbox.spec.limits
        job = self._sandbox._job(command, program, None, limits, shared=SOCKETS)
        try:
            # A few kilobytes in memory: what code writes there must not fill this machine's disk.
            folder = job.shared[0][0]
            job.holder.mount_memory(folder, size=_SOCKETS_SIZE, entries=_SOCKETS_ENTRIES)
        except BaseException:
            self._sandbox._discard(job)
            raise
        return job

    async def _until_ready(self, job: Job, ended: asyncio.Task[ExecResult]) -> None:
        ready = asyncio.ensure_future(self._connect(job))
        await asyncio.wait((ready, ended), timeout=_START_S, return_when="FIRST_COMPLETED")
        if ready.done() and not ready.exception():
            return
        ready.cancel()
        with contextlib.suppress(asyncio.CancelledError, BrokenPeer, OSError):
            await ready
        if self._execution is not None:
            self._execution.stop.set()
        result = await ended
        said = result.stderr.text.strip()[-_SAID:]
        if result.exit_code == MISSING:
            raise SetupError(
                f"there is no Jupyter kernel for this interpreter ({said})",
                where=self._python,
                todo="Install ipykernel into its environment, or choose a profile that has it.",
            )
        raise SandboxLost(
            f"the kernel did not get ready ({result.status.value}): {said or 'it said nothing'}",
            where=self._python,
        )

    async def _connect(self, job: Job) -> None:
        place = job.holder.seen(job.shared[0][0])
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            for name in ("iopub", "shell", "control"):
                kind = b"SUB" if name == "iopub" else b"DEALER"
                self._channels[name] = await _channel(folder, name, kind)
        finally:
            os.close(folder)
        self._readers = [asyncio.ensure_future(self._read(name)) for name in self._channels]
        while True:
            # A subscription takes effect some time after it was sent, so this is asked until
            # its answer is published as well; newer kernels say that they welcome us.
            published = await self._ask("shell", "kernel_info_request")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(published, 0.25)
                return

    async def _ask(self, channel: str, kind: str) -> asyncio.Future[None]:
        """Send a request and give what is done once its end is published."""
        identity, parts = self._wire.request(kind, {})
        published: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._awaited = {identity: published}
        await self._channels[channel].send(parts)
        return published

    async def _read(self, channel: str) -> None:
        connection, count = self._channels[channel], 0
        allowed = self._sandbox.spec.limits.log_mb * MIB
        try:
            while True:
                received = await connection.receive()
                count += 1
                if count % _YIELD_EVERY == 0:
                    await asyncio.sleep(0)  # a flood must leave time for deadlines
                if self._record is None:
                    self._idle_bytes += received.size
                    if self._idle_bytes > allowed:
                        # No cell runs: what threads go on writing waits for the next one.
                        await self._cell_begins.wait()
                else:
                    self._record.count_bytes(received.size, whole=received.whole)
                wanted = frozenset(self._awaited)
                if self._record is not None:
                    wanted |= {self._record.request}
                if wanted and received.whole:
                    message = self._wire.read(received.parts, wanted)
                    if message is not None:
                        self._take(channel, message)
        except BrokenPeer:
            await self._unheard()

    async def _unheard(self) -> None:
        """Kill what sends or takes nothing any more.

        Mostly its process has just ended by itself; then how it ended is what counts.
        """
        await asyncio.wait((self.ended,), timeout=_GONE_S)
        if self._execution is not None:
            self._execution.stop.set()

    def _take(self, channel: str, message: Message) -> None:
        awaited = self._awaited.get(message.parent)
        if awaited is not None:
            if channel == "iopub" and not awaited.done():
                awaited.set_result(None)
        elif self._record is None:
            return
        elif channel == "shell":
            self._record.replies(message)
        elif channel == "iopub":
            self._record.says(message)

    def begin(self, code: str) -> CellRecord:
        """Prepare a cell and listen to what is said about it."""
        content: Mapping[str, object] = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        identity, parts = self._wire.request("execute_request", content)
        self._record = CellRecord(identity, parts, self._sandbox.spec.limits)
        self._awaited = {}
        self._cell_begins.set()
        return self._record

    async def send(self, record: CellRecord) -> None:
        """Send a cell; a kernel that does not take it is killed."""
        try:
            await self._channels["shell"].send(record.parts)
        except BrokenPeer:
            await self._unheard()

    def end(self) -> None:
        """Forget the cell; what is still said about it is not heard."""
        self._record = None
        self._idle_bytes = 0
        self._cell_begins.clear()

    async def interrupt(self) -> None:
        """Ask the kernel to interrupt what runs in it."""
        _, parts = self._wire.request("interrupt_request", {})
        with contextlib.suppress(BrokenPeer):
            await self._channels["control"].send(parts)

    async def close(self) -> ExecResult | None:
        """Kill it, and give how its process ended."""
        if self._execution is not None:
            self._execution.stop.set()
        result = None
        if self._ended is not None:
            with contextlib.suppress(BasaniteError):
                result = await self._ended
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._readers = []
        for channel in self._channels.values():
            channel.close()
        return result


async def _channel(folder: int, name: str, kind: bytes) -> Connection:
    """Connect to a socket as soon as the kernel has made it."""
    file = f"s-{CHANNELS.index(name) + 1}"
    while True:
        try:
            descriptor = os.open(file, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except FileNotFoundError:
            await asyncio.sleep(_POLL_S)
            continue
        try:
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                raise BrokenPeer("no socket")
            return await Connection.connect(descriptor, kind)
        except ConnectionRefusedError:
            await asyncio.sleep(_POLL_S)  # bound, but not listening yet
        finally:
            os.close(descriptor)


__all__ = ["Kernel"]
