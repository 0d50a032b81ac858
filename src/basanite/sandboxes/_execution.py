"""One execution from its start to its result, the same for every backend."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import SandboxLost
from ._capture import Capture
from ._cgroup import GroupUsage
from ._result import Chunk, Event, Started, Status, Usage
from ._runtime import Job, Running, Runtime
from ._spec import MIB
from ._tasks import finished
from ._watchdog import POLL_S, Tree

_GROUP_POLL_S = 0.05
_DISK_POLL_S = 0.5
_DRAIN_S = 5.0

Sink = Callable[[Event], None]


@dataclass(slots=True)
class Ended:
    """How an execution ended, before its files are looked at."""

    status: Status
    exit_code: int | None
    limits_hit: tuple[str, ...]
    captures: tuple[Capture, Capture]
    usage: Usage


class Execution:
    """Watches one process of a backend."""

    def __init__(
        self, runtime: Runtime, job: Job, sink: Sink | None, stop: asyncio.Event | None = None
    ) -> None:
        self._runtime = runtime
        self._job = job
        self._sink = sink
        self.stop = stop or asyncio.Event()
        """Set it to end the execution."""
        self.running: Running | None = None
        """What the backend has started, from then on."""
        self._why: Status | None = None
        self._hit: dict[str, None] = {}
        self._tree: Tree | None = None
        self._changed = asyncio.Event()

    async def run(self) -> Ended:
        """Start it, let it run within its limits, and wait until nothing of it is left."""
        running = self.running = await self._runtime.start(self._job)
        ended: Ended | None = None
        try:
            ended = await self._watched(running)
        finally:
            try:
                await finished(self._end(running))
            except BaseException:
                for capture in ended.captures if ended is not None else ():
                    capture.close()
                raise
        return ended

    async def _end(self, running: Running) -> None:
        if running.child.poll() is None:
            await running.kill()
            try:
                async with asyncio.timeout(_DRAIN_S):
                    await running.child.wait()
            except TimeoutError:
                running.child.kill()
                await running.child.wait()
        await running.remove()

    async def _watched(self, running: Running) -> Ended:
        captures = self._captures(running)
        loop = asyncio.get_running_loop()
        for capture in captures:
            loop.add_reader(capture.pipe, self._ready, capture)
        closed = False
        try:
            began = time.monotonic()
            if self._sink is not None:
                self._sink(Started())
            running.release()
            code = await self._until_end(running, captures, began)
            wall = time.monotonic() - began
            await self._drain(captures)
            usage = self._usage(running, wall)
            closed = True
            return self._ended(code, captures, usage)
        finally:
            for capture in captures:
                loop.remove_reader(capture.pipe)
                if not closed:
                    capture.close()

    def _captures(self, running: Running) -> tuple[Capture, Capture]:
        limits = self._job.limits
        names: tuple[Literal["stdout", "stderr"], ...] = ("stdout", "stderr")
        made = []
        for name, pipe in zip(names, running.child.take_outputs(), strict=True):
            made.append(
                Capture(
                    pipe,
                    self._job.folder / f"{name}.log",
                    keep=limits.output_bytes,
                    log_limit=limits.log_mb * MIB,
                    sink=self._chunks(name),
                )
            )
        return made[0], made[1]

    def _chunks(self, name: Literal["stdout", "stderr"]) -> Callable[[bytes], None] | None:
        sink = self._sink
        if sink is None:
            return None
        return lambda data: sink(Chunk(stream=name, data=data))

    def _ready(self, capture: Capture) -> None:
        capture.read()
        if capture.ended:
            asyncio.get_running_loop().remove_reader(capture.pipe)
            self._changed.set()
        elif capture.over and self._job.limits.on_output_limit == "kill":
            self._changed.set()

    async def _until_end(
        self, running: Running, captures: tuple[Capture, Capture], began: float
    ) -> int:
        waiting = asyncio.ensure_future(running.child.wait())
        pause = POLL_S if self._job.group is None else _GROUP_POLL_S
        next_disk = began + _DISK_POLL_S
        root = running.root_pid
        if self._job.group is None and root is not None:
            self._tree = Tree(root, self._job.limits.memory_mb * MIB, running.memory_of)
        try:
            while not waiting.done():
                left = began + self._job.limits.wall_s - time.monotonic()
                if left <= 0:
                    self._why = Status.TIMEOUT
                elif self.stop.is_set():
                    self._why = Status.CANCELLED
                else:
                    self._look(captures)
                    if self._on_disk() and time.monotonic() > next_disk:
                        await self._look_at_disk()
                        next_disk = time.monotonic() + _DISK_POLL_S
                if self._why is not None:
                    await running.kill()
                    return await _killed(waiting)
                await self._pause(waiting, min(pause, max(left, 0.001)))
            return waiting.result()
        finally:
            waiting.cancel()
            # Not awaited itself: that would hide a cancellation of the caller.
            await asyncio.wait((waiting,))

    async def _pause(self, waiting: asyncio.Future[int], seconds: float) -> None:
        self._changed.clear()
        woken = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((waiting, woken), timeout=seconds, return_when="FIRST_COMPLETED")
        finally:
            woken.cancel()

    def _look(self, captures: tuple[Capture, Capture]) -> None:
        limits = self._job.limits
        if limits.on_output_limit == "kill" and any(capture.over for capture in captures):
            self._why = Status.OUTPUT_LIMIT
        elif self._job.group is not None:
            usage = self._job.group.usage()
            if usage.oom_kills:
                self._why = Status.OUT_OF_MEMORY
            elif limits.cpu_s is not None and (usage.cpu_s or 0.0) > limits.cpu_s:
                self._why = Status.CPU_TIME
        elif self._tree is not None:
            seen = self._tree.look()
            if seen.memory_bytes > limits.memory_mb * MIB:
                self._why = Status.OUT_OF_MEMORY
            elif limits.cpu_s is not None and seen.cpu_s > limits.cpu_s:
                self._why = Status.CPU_TIME

    def _on_disk(self) -> bool:
        return self._job.spec.workdir == "disk"

    async def _look_at_disk(self) -> None:
        size, entries = await asyncio.to_thread(self._job.holder.work_used, self._job.limits.inodes)
        limits = self._job.limits
        for name, over in (
            ("disk", size > limits.disk_mb * MIB),
            ("inodes", entries > limits.inodes),
        ):
            if over:
                self._hit[name] = None
                self._why = Status.DISK_LIMIT

    async def _drain(self, captures: tuple[Capture, Capture]) -> None:
        """Read what is left: every writer is dead, so the pipes come to their end."""
        deadline = time.monotonic() + _DRAIN_S
        while not all(capture.ended for capture in captures):
            if time.monotonic() > deadline:
                return
            await self._pause(asyncio.get_running_loop().create_future(), 0.05)

    def _usage(self, running: Running, wall: float) -> Usage:
        if self._job.group is not None:
            found = self._job.group.usage()
            self._note(found)
            return Usage(
                wall_s=wall,
                cpu_s=found.cpu_s,
                peak_memory_bytes=found.peak_memory_bytes,
                peak_processes=found.peak_processes if running.counts_processes else None,
            )
        if self._tree is None:
            return Usage(wall_s=wall)
        seen = self._tree.usage
        return Usage(
            wall_s=wall,
            cpu_s=max(seen.cpu_s, running.child.cpu_s),
            # Nothing was seen of what ended before the first look.
            peak_memory_bytes=seen.peak_memory_bytes or None,
            peak_processes=(seen.peak_processes or None) if running.counts_processes else None,
        )

    def _note(self, found: GroupUsage) -> None:
        if found.oom_kills:
            self._why = self._why or Status.OUT_OF_MEMORY
        if found.processes_refused:
            self._hit["processes"] = None

    def _ended(self, code: int, captures: tuple[Capture, Capture], usage: Usage) -> Ended:
        status = self._why or Status.EXITED
        names = {
            Status.TIMEOUT: "wall",
            Status.CPU_TIME: "cpu_time",
            Status.OUT_OF_MEMORY: "memory",
            Status.OUTPUT_LIMIT: "output",
        }
        if status in names:
            self._hit[names[status]] = None
        if any(capture.over for capture in captures):
            self._hit["output"] = None
        return Ended(
            status=status,
            exit_code=code if status is Status.EXITED else None,
            limits_hit=tuple(self._hit),
            captures=captures,
            usage=usage,
        )


async def _killed(waiting: asyncio.Future[int]) -> int:
    try:
        async with asyncio.timeout(_DRAIN_S):
            return await waiting
    except TimeoutError:
        raise SandboxLost(
            "what was killed does not end", where="execution",
            todo="Look for processes that hang in the kernel (state D).",
        ) from None  # fmt: skip


def file_system_full(path: Path) -> tuple[str, ...]:
    """Say which limits of a work folder in memory are used up: `disk`, `inodes`."""
    found = os.statvfs(path)
    full = []
    if found.f_bavail * found.f_frsize < _NEARLY:
        full.append("disk")
    if found.f_files and found.f_favail == 0:
        full.append("inodes")
    return tuple(full)


_NEARLY = 4096

__all__ = ["Ended", "Execution", "Sink", "file_system_full"]
