"""A Jupyter kernel in a sandbox: cells one after the other, with what they define kept."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Self

from ..errors import BasaniteError, PolicyError
from ._cell import CellEvent, CellResult, CellStatus
from ._cell_record import CellRecord
from ._collect import Collected, collect
from ._freeze import NotFrozen, frozen
from ._kernel import Kernel
from ._result import ExecResult
from ._sandbox import Sandbox
from ._spec import SandboxSpec

_GRACE_S = 3.0
"""How long an interrupted cell may take to end before its kernel is killed."""
_AGAIN_S = 1.0
_IDLE_S = 1.0
"""How long to wait for the end of the output once the cell's end was reported."""
_FREEZE_S = 1.0

CellSink = Callable[[CellEvent], None]


class Session:
    """An open session. Made by `open_session`; close it, or use it as a context manager.

    The kernel is one execution of the sandbox: `Limits.wall_s` is its whole life, and the other
    limits are those of all its cells together. `sandbox` is there for commands beside it.
    """

    def __init__(self, sandbox: Sandbox, python: str, *, owns: bool) -> None:
        self.sandbox = sandbox
        self._python = python
        self._owns = owns
        self._kernel = Kernel(sandbox, python)
        self._turn = asyncio.Lock()
        self._collected = 0
        self._current: CellRecord | None = None
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether the kernel takes a cell."""
        return not self._closed and self._kernel.alive

    async def execute(
        self, code: str, *, timeout_s: float | None = None, on_event: CellSink | None = None
    ) -> CellResult:
        """Run one cell; another that is asked for meanwhile waits for its end.

        A cell that outlives its time or floods its output is interrupted, and where it goes on
        for three more seconds its kernel is killed. A cancelled call does the same.

        Args:
            code: as in a notebook; IPython's magics work.
            timeout_s: seconds it may take; None: as long as the kernel may live.
            on_event: called in this thread with each piece of output as it comes.

        Raises:
            PolicyError: the session is closed, or the time is no positive number.
            SandboxLost: the sandbox broke; a kernel that dies is a result instead.
        """
        if timeout_s is not None and not timeout_s > 0:
            raise PolicyError(
                f"{timeout_s} is no time that a cell may take",
                where="timeout_s",
                todo="Give seconds above 0, or None.",
            )
        async with self._turn:
            self._check_open()
            began = time.monotonic()
            if not self._kernel.alive:
                return await self._dead(None, began)
            record = self._current = self._kernel.begin(code)
            cell = _Cell(self._kernel, record, timeout_s, on_event)
            try:
                why = await cell.run()
            except BaseException:
                await asyncio.shield(cell.abandon())
                raise
            finally:
                self._current = None
                self._kernel.end()
            if not self._kernel.alive or cell.killed:
                return await self._dead(record, began, why)
            return _result(record, why, time.monotonic() - began)

    async def _dead(
        self, record: CellRecord | None, began: float, why: CellStatus | None = None
    ) -> CellResult:
        """Say that the kernel is gone, and how. Raises SandboxLost where it was not its fault."""
        ended = await self._kernel.ended
        result = _result(record, why, time.monotonic() - began)
        return result.model_copy(
            update={
                "status": why or CellStatus.KERNEL_DIED,
                "alive": False,
                "death": ended.status,
                "exit_code": ended.exit_code,
                "limits_hit": ended.limits_hit,
            }
        )

    async def interrupt(self) -> None:
        """Interrupt the cell that runs, if one does: it ends as `interrupted` if it lets itself."""
        if self._current is not None:
            self._current.interrupt_asked = True
            self._current.changed.set()

    async def restart(self) -> None:
        """Kill the kernel and start another in the same work folder.

        Raises:
            PolicyError: the session is closed.
            SandboxLost: the new one did not get ready.
        """
        await self._kernel.close()
        async with self._turn:
            self._check_open()
            await self._kernel.close()
            self._kernel = Kernel(self.sandbox, self._python)
            await self._kernel.start()

    async def upload(self, path: str, data: bytes) -> None:
        """Put a file into the work folder; see `Sandbox.upload`."""
        await self.sandbox.upload(path, data)

    async def collect(self) -> Collected:
        """Copy the files out of the work folder, once no cell runs.

        What cells have left running is stopped meanwhile, so that nothing changes under the
        copy. Where that fails within a second (processes that keep waking each other, or a
        backend that hides them) the kernel is killed first. The copies are there until the
        sandbox closes.

        Raises:
            PolicyError: the session is closed.
        """
        async with self._turn:
            self._check_open()
            root = self._kernel.root_pid
            if root is not None:
                with contextlib.suppress(NotFrozen):
                    return await asyncio.to_thread(self._collect, root)
            await self._kernel.close()
            return await asyncio.to_thread(self._collect, None)

    def _collect(self, root: int | None) -> Collected:
        folder, holder = self.sandbox._ready()
        self._collected += 1
        target = folder.path / f"collected-{self._collected}"
        limits = self.sandbox.spec.limits
        with contextlib.ExitStack() as stack:
            if root is not None:
                stack.enter_context(frozen(root, self._kernel.groups, within_s=_FREEZE_S))
            return collect(holder.seen(holder.work), target, limits)

    def _check_open(self) -> None:
        if self._closed:
            raise PolicyError("the session is closed", where="session", todo="Open a new one.")

    async def close(self) -> ExecResult | None:
        """Kill the kernel, and close the sandbox if it was opened for this session.

        Gives how the kernel's process ended; None where the sandbox broke.
        """
        self._closed = True
        try:
            return await self._kernel.close()
        finally:
            if self._owns:
                await self.sandbox.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


class _Cell:
    """Waits for the end of one cell and brings it about where need be."""

    def __init__(
        self, kernel: Kernel, record: CellRecord, timeout_s: float | None, sink: CellSink | None
    ) -> None:
        self._kernel = kernel
        self._record = record
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._sink = sink
        self._why: CellStatus | None = None
        self._kill_at: float | None = None
        self._next_interrupt = 0.0
        self.killed = False

    async def run(self) -> CellStatus | None:
        """Send it and wait for its end; gives what ended it if it was not itself."""
        await self._kernel.send(self._record)
        return await self._until_end()

    async def _until_end(self) -> CellStatus | None:
        record = self._record
        while True:
            self._pass_on()
            if record.complete or self._silent() or not self._kernel.alive:
                break
            await self._look()
            if self.killed:
                break
            await self._wait()
        self._pass_on()
        return self._why

    def _pass_on(self) -> None:
        while self._record.events:
            event = self._record.events.popleft()
            if self._sink is not None:
                self._sink(event)

    def _silent(self) -> bool:
        said = self._said_end()
        return said is not None and time.monotonic() > said + _IDLE_S

    def _said_end(self) -> float | None:
        # Of the two messages that say it is over, one may be missing: the kernel drops output
        # that nobody read in time, and answers nothing where an interrupt hits itself.
        if self._record.replied is not None:
            return self._record.replied
        return None if self._why is None else self._record.idle

    async def _look(self) -> None:
        now = time.monotonic()
        if self._why in {None, CellStatus.INTERRUPTED}:
            if self._record.over:
                self._why, self._kill_at = CellStatus.OUTPUT_LIMIT, now + _GRACE_S
            elif self._deadline is not None and now > self._deadline:
                self._why, self._kill_at = CellStatus.TIMEOUT, now + _GRACE_S
        if self._kill_at is not None and now > self._kill_at:
            self.killed = True
            await self._kernel.close()
        elif self._record.interrupt_asked and self._record.began:
            # Not before it began: the kernel ignores what comes between two cells.
            self._record.interrupt_asked = False
            self._why = self._why or CellStatus.INTERRUPTED
            await self._kernel.interrupt()
        elif self._kill_at is not None and now >= self._next_interrupt:
            self._next_interrupt = now + _AGAIN_S
            await self._kernel.interrupt()

    async def _wait(self) -> None:
        ends = [t for t in (self._kill_at, self._deadline) if t is not None]
        said = self._said_end()
        if said is not None:
            ends.append(said + _IDLE_S)
        if self._kill_at is not None:
            ends.append(self._next_interrupt)
        now = time.monotonic()
        pause = min((t - now for t in ends if t > now), default=None)
        changed = asyncio.ensure_future(self._record.changed.wait())
        try:
            await asyncio.wait(
                (changed, self._kernel.ended),
                timeout=None if pause is None else pause + 0.001,
                return_when="FIRST_COMPLETED",
            )
        finally:
            changed.cancel()
        self._record.changed.clear()

    async def abandon(self) -> None:
        """End it because nobody waits for it any more."""
        self._sink = None
        self._deadline = 0.0
        with contextlib.suppress(BasaniteError):
            await self._until_end()


def _result(record: CellRecord | None, why: CellStatus | None, wall: float) -> CellResult:
    if record is None:
        return CellResult(status=CellStatus.KERNEL_DIED, wall_s=wall, alive=False)
    ended = CellStatus.OK if record.reply_ok else CellStatus.ERROR
    status = why if why is not None and not _by_itself(record, why) else ended
    return CellResult(
        status=status,
        stdout=record.output("stdout"),
        stderr=record.output("stderr"),
        outputs=tuple(record.outputs),
        outputs_left_out=record.left_out,
        error=None if record.reply_ok else record.error,
        execution_count=record.count,
        wall_s=wall,
        alive=True,
        limits_hit=("output",) if why is CellStatus.OUTPUT_LIMIT else (),
    )


def _by_itself(record: CellRecord, why: CellStatus) -> bool:
    """Whether a cell that was asked to stop ended before that, or took no notice."""
    stopped = record.error is not None and record.error.name == "KeyboardInterrupt"
    return why is CellStatus.INTERRUPTED and record.replied is not None and not stopped


async def open_session(
    spec: SandboxSpec | Sandbox, *, python: str | None = None, backend: str | None = None
) -> Session:
    """Start a kernel in a sandbox.

    Args:
        spec: the policy of a sandbox that is opened, and closed with the session; or a sandbox
            that is open and stays so.
        python: an interpreter with ipykernel, as a path inside; None: the specification's.
        backend: see `open_sandbox`.

    Raises:
        SetupError: the interpreter has no ipykernel.
        SandboxLost: the kernel did not get ready.
        PolicyError, SandboxUnavailable, IsolationFloorNotMet: see `open_sandbox`.
    """
    from ._probe import open_sandbox

    owns = isinstance(spec, SandboxSpec)
    sandbox = await open_sandbox(spec, backend=backend) if isinstance(spec, SandboxSpec) else spec
    session = Session(sandbox, python or sandbox.spec.python, owns=owns)
    try:
        await session._kernel.start()
    except BaseException:
        await asyncio.shield(session.close())
        raise
    return session


__all__ = ["CellSink", "Session", "open_session"]
