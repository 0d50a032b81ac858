"""Reading hostile files in a child process with limits.

A paper that decompresses to terabytes, an archive that nests for ever, a file on which a parser
written in C crashes: `run_limited` calls a function on them in a child, and says what happened. It
is a fence around accidents and bombs. It is **no sandbox**: a file that takes over its parser runs
code with this user's rights to read, and only what `held` names stands against it. Run programs
that others wrote in a sandbox.

What holds, by kernel limits of the one process that there is:

- memory: address space beyond what Python and the function's module take (`RLIMIT_AS`);
- CPU time and wall-clock time; open files; no file grows (`RLIMIT_FSIZE` 0); no core file;
- where the kernel has Landlock: no file is written, made or removed, no TCP;
- where pyseccomp is installed: no socket, no new process, no signal to others.

The child is a fresh interpreter, not a fork. Function and arguments go there as a name and a
pickle; what it gives back comes as JSON and is validated here. Nothing that it sends is unpickled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ..errors import PolicyError, SetupError
from ..schema import Model
from ._limited_outcome import Crashed, Invalid, LimitHit, Outcome, Raised, Returned
from ._spec import MIB

T = TypeVar("T")

_CHILD = Path(__file__).with_name("_limited_child.py")
_START_S = 120.0  # an interpreter and its imports, on a machine under load
_STDERR_TAIL = 2000
_HEAD_BYTES = 64 * 1024
_DRAIN_S = 5.0


class ReadLimits(Model):
    """How much a call by `run_limited` may use. Sizes are in MB of 2**20 bytes."""

    wall_s: float = Field(default=60.0, gt=0)
    """Seconds from the moment at which the limits hold."""
    cpu_s: int = Field(default=60, gt=0)
    """Seconds of CPU time, counted from there as well."""
    memory_mb: int = Field(default=1024, gt=0)
    """Address space beyond what Python and the function's module take."""
    open_files: int = Field(default=64, gt=8)
    result_mb: int = Field(default=16, gt=0)
    """The longest result, as JSON."""


async def run_limited_async(
    function: Callable[..., object] | str,
    *args: object,
    returns: type[T],
    limits: ReadLimits | None = None,
) -> Outcome[T]:
    """Call a function in a child process with limits, and give what came of it.

    Args:
        function: one at the top level of a module that can be imported, or its name as
            `package.module:function`, which loads the module in the child alone.
        args: what it takes; they are pickled.
        returns: what it gives, as a type that pydantic validates. The function may give plain
            values, a pydantic model or a dataclass. A lone surrogate in a text becomes `?`.
        limits: how much it may use.

    Raises:
        PolicyError: the function is not at the top level of a module.
        SetupError: the child could not be set up; nothing was read.
    """
    limits = limits or ReadLimits()
    task = _task(function, args, limits)
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_CHILD),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_HEAD_BYTES,
    )
    try:
        return await _watch(child, task, TypeAdapter(returns), limits)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await _closed(child)


async def _closed(child: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process that is killed, and of its pipes.

    asyncio waits for the pipes as well, and one that nobody reads any more never ends.
    """
    try:
        async with asyncio.timeout(_DRAIN_S):
            for pipe in (child.stdout, child.stderr):
                while pipe is not None and await pipe.read(_HEAD_BYTES):
                    pass
            await child.wait()
    except TimeoutError:  # another process holds a pipe open
        child._transport.close()  # type: ignore[attr-defined]


def run_limited(
    function: Callable[..., object] | str,
    *args: object,
    returns: type[T],
    limits: ReadLimits | None = None,
) -> Outcome[T]:
    """Do as `run_limited_async`, and wait for it; also where an event loop runs already."""

    def work() -> Outcome[T]:
        return asyncio.run(run_limited_async(function, *args, returns=returns, limits=limits))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    return _in_thread(work)


def _in_thread(work: Callable[[], Outcome[T]]) -> Outcome[T]:
    done: list[Outcome[T]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the one who waits
            failed.append(error)

    thread = threading.Thread(target=run, name="run_limited")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _task(
    function: Callable[..., object] | str, args: tuple[object, ...], limits: ReadLimits
) -> bytes:
    module, name = _place(function)
    head = {
        "module": module,
        "name": name,
        "path": [entry for entry in sys.path if entry],
        "memory": limits.memory_mb * MIB,
        "cpu_s": limits.cpu_s,
        "open_files": limits.open_files,
    }
    return json.dumps(head).encode() + b"\n" + pickle.dumps(args)


def _place(function: Callable[..., object] | str) -> tuple[str, str]:
    """Give a function's module and name, by which a child can find it."""
    if isinstance(function, str):
        module, _, name = function.partition(":")
        if module and name.isidentifier():
            return module, name
    else:
        module = getattr(function, "__module__", "__main__")
        name = getattr(function, "__qualname__", "")
        found = getattr(sys.modules.get(module), name, None)
        if module != "__main__" and found is function:
            return module, name
    raise PolicyError(
        "a child can't import this function",
        where=f"{function!r}",
        todo="Give a function at the top level of a module other than the main script.",
    )


async def _watch(
    child: asyncio.subprocess.Process, task: bytes, adapter: TypeAdapter[T], limits: ReadLimits
) -> Outcome[T]:
    assert child.stdin is not None
    assert child.stdout is not None
    said = asyncio.create_task(_tail(child.stderr))
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            child.stdin.write(task)
            await child.stdin.drain()
        child.stdin.close()
        held = await _ready(child.stdout, said)
        try:
            async with asyncio.timeout(limits.wall_s):
                data = await _up_to(child.stdout, limits.result_mb * MIB)
                if data is None:
                    return LimitHit("result")
                code = await child.wait()
        except TimeoutError:
            return LimitHit("wall")
        return _outcome(code, data, held, adapter) or _crash(code, await said)
    finally:
        said.cancel()


async def _ready(stdout: asyncio.StreamReader, said: asyncio.Task[str]) -> tuple[str, ...]:
    """Read the first line, which is written before anything hostile is read."""
    try:
        async with asyncio.timeout(_START_S):
            line = await stdout.readline()
            report: dict[str, Any] = json.loads(line) if line else {"unready": await said}
    except TimeoutError:
        report = {"unready": f"it did not start within {_START_S:.0f} s"}
    if "unready" in report:
        raise SetupError(
            f"a child for reading files could not be set up: {report['unready']}",
            where="run_limited",
        )
    return tuple(report["held"])


async def _up_to(stream: asyncio.StreamReader, size: int) -> bytes | None:
    """Read to the end; None where there is more than so many bytes."""
    data = bytearray()
    while chunk := await stream.read(_HEAD_BYTES):
        data += chunk
        if len(data) > size:
            return None
    return bytes(data)


async def _tail(stream: asyncio.StreamReader | None) -> str:
    tail = b""
    while stream is not None and (chunk := await stream.read(_HEAD_BYTES)):
        tail = (tail + chunk)[-_STDERR_TAIL:]
    return tail.decode("utf-8", "backslashreplace")


def _outcome(
    code: int, data: bytes, held: tuple[str, ...], adapter: TypeAdapter[T]
) -> Outcome[T] | None:
    """Read the answer; None where there is none."""
    if code == -signal.SIGXCPU:
        return LimitHit("cpu")
    if not data.endswith(b"\n"):
        return None
    try:
        answer = _ANSWER.validate_json(data)
        if answer.memory:
            return LimitHit("memory")
        if answer.raised is not None:
            return Raised(answer.raised.type, answer.raised.message)
        if "value" not in answer.model_fields_set:
            return Invalid("an answer without a value")
        return Returned(adapter.validate_python(answer.value), held)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return Invalid(f"{place}: {first['msg']}" if place else first["msg"])


def _crash(code: int, said: str) -> Crashed:
    return Crashed(-code, None, said) if code < 0 else Crashed(None, code, said)


class _RaisedAnswer(Model):
    type: str = Field(max_length=200)
    message: str = Field(max_length=2000)


class _Answer(Model):
    value: Any = None
    raised: _RaisedAnswer | None = None
    memory: bool = False


_ANSWER = TypeAdapter(_Answer)

__all__ = ["ReadLimits", "run_limited", "run_limited_async"]
