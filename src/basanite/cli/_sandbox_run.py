"""`sandbox run`: one command in a sandbox, its output and its exit code."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from ..errors import BasaniteError, SandboxLost
from . import _options as opt
from . import _sandbox_options as box
from ._console import fail, from_os_error, print_json, reported, stderr
from ._terminal import Terminal

if TYPE_CHECKING:
    from ..sandboxes import ExecResult, SandboxSpec

_KILLED = 137
_TIMED_OUT = 124  # as `timeout` of coreutils gives


def register(app: typer.Typer) -> None:
    """Add this file's command to the command tree."""
    settings = {"ignore_unknown_options": False, "allow_interspersed_args": False}
    app.command("run", context_settings=settings)(reported(_run))


@dataclass(frozen=True, slots=True)
class Asked:
    """What one call of the command asks for."""

    spec: SandboxSpec
    backend: str | None
    output: Path | None
    stdin: bytes | None
    live: bool


def _run(
    command: Annotated[
        list[str],
        typer.Argument(help="The command, after `--`.", metavar="CMD", show_default=False),
    ],
    *,
    profile: Annotated[
        str | None,
        typer.Option(help="base or scanpy: `python` is the one of this profile.", metavar="NAME"),
    ] = None,
    backend: box.Backend = None,
    wall: box.Wall = 600.0,
    cpu_time: box.CpuTime = None,
    cpus: box.Cpus = None,
    memory: box.Memory = 2048,
    pids: box.Pids = 256,
    disk: box.Disk = 512,
    workdir: box.Workdir = "memory",
    inputs: box.Inputs = None,
    env: box.Env = None,
    gpu: box.Gpu = None,
    floor: box.Floor = None,
    output: box.Output = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Let the command read this command's input.")
    ] = False,
    as_json: opt.AsJson = False,
) -> int:
    """Run a command in a sandbox. Its output and its exit code are this command's.

    Exit code 125: the sandbox itself failed. 124: killed at its limit of time. 137: at another.
    """
    try:
        limits: dict[str, object] = {
            "wall_s": wall,
            "cpu_s": cpu_time,
            "cpus": cpus,
            "memory_mb": memory,
            "processes": pids,
            "disk_mb": disk,
        }
        spec = box.specification(
            profile,
            inputs=inputs,
            env=env,
            limits=limits,
            gpus=gpu,
            floor=floor,
            workdir=workdir,
        )
        box.check_output(output)
        data = sys.stdin.buffer.read() if stdin else None
        return _ran(Asked(spec, backend, output, data, not as_json), command, as_json=as_json)
    except BasaniteError as error:
        fail(error)
        return box.BROKEN
    except OSError as error:  # of files that could not be saved; no exit code of the command's
        fail(from_os_error(error))
        return box.BROKEN


def _ran(asked: Asked, command: list[str], *, as_json: bool) -> int:
    try:
        result, stopped = asyncio.run(_executed(asked, command))
    except BrokenPipeError:
        return 128 + signal.SIGPIPE  # who read our output is gone: as for any other command
    if as_json:
        print_json({"schema": "basanite.sandbox.run/1", **_plain(result)})
    if stopped is not None:
        return 128 + stopped
    for line in _notes(result, asked):
        stderr.print(line, markup=False)
    if result.exit_code is not None:
        return result.exit_code
    return _TIMED_OUT if result.status == "timeout" else _KILLED


def _plain(result: ExecResult) -> dict[str, object]:
    """Give the result without the paths of copies that are gone when this command ends."""
    plain: dict[str, object] = result.model_dump(
        mode="json",
        exclude={
            "stdout": {"log"},
            "stderr": {"log"},
            "artifacts": {"__all__": {"file"}},
        },
    )
    return plain


async def _executed(asked: Asked, command: list[str]) -> tuple[ExecResult, int | None]:
    """Run it; a signal that ends this command ends what it runs, and is given as well."""
    from ..sandboxes import Chunk, Finished, open_sandbox

    outputs = {"stdout": Terminal(sys.stdout.buffer), "stderr": Terminal(sys.stderr.buffer)}
    result: ExecResult | None = None
    async with await open_sandbox(asked.spec, backend=asked.backend) as sandbox:
        with _Stopped(sandbox.stop) as stopped:
            async for event in sandbox.stream(command, stdin=asked.stdin):
                if isinstance(event, Chunk) and asked.live:
                    # On a thread: a reader that is slow must not stop the clock of the limits.
                    await asyncio.to_thread(outputs[event.stream].write, event.data)
                elif isinstance(event, Finished):
                    result = event.result
            for one in outputs.values():
                one.close()
            if result is None:
                raise SandboxLost("it ended without a result", where="sandbox")
            if asked.output is not None:
                await asyncio.to_thread(_save, result, asked.output)
    return result, stopped.by


class _Stopped:
    """While it is entered, the first signal to end asks for it kindly, the second one does not."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self.by: int | None = None
        self._stop = stop

    def __enter__(self) -> Self:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        for one in _ENDING:
            self._loop.add_signal_handler(one, self._signal, one)
        return self

    def __exit__(self, *error: object) -> None:
        for one in _ENDING:
            self._loop.remove_signal_handler(one)

    def _signal(self, number: int) -> None:
        if self.by is not None and self._task is not None:
            self._task.cancel()
        self.by = number
        self._stop()


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _save(result: ExecResult, output: Path) -> None:
    from ..sandboxes import keep_artifacts

    output.mkdir(parents=True, exist_ok=True)
    keep_artifacts(result.artifacts, output)


def _notes(result: ExecResult, asked: Asked) -> Iterator[str]:
    limits = asked.spec.limits
    amounts = {
        "wall": f"{limits.wall_s:g} s (--wall)",
        "cpu_time": f"{limits.cpu_s} s of CPU (--cpu-time)",
        "memory": f"{limits.memory_mb} MB of memory (--memory)",
        "processes": f"{limits.processes} processes (--pids)",
        "disk": f"{limits.disk_mb} MB in the work folder (--disk)",
        "inodes": f"{limits.inodes} files in the work folder",
        "output": f"{limits.log_mb} MB of output",
    }
    for name in result.limits_hit:
        yield f"basanite: limit hit: {name}: {amounts.get(name, name)}"
    if asked.output is None:
        return
    for one in result.rejected:
        yield f"basanite: not taken: {one.path}: {one.reason}"
    if not result.artifacts_complete:
        yield "basanite: there were more files than are listed"


__all__ = ["register"]
