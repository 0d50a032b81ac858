"""`sandbox kernel`: cells of Python, one after the other, in a kernel that keeps their state."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from . import _sandbox_options as box
from ._background import Background
from ._console import reported
from ._kernel_input import Cells
from ._kernel_output import Shower, note

if TYPE_CHECKING:
    from ..sandboxes import CellEvent, CellResult, SandboxSpec, Session

FAILED = 1
"""Exit code where input is no terminal: a cell did not end by itself and without exception."""
_DAY_S = 86_400.0
_WAIT_S = 0.1
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_Handler = Callable[[int, FrameType | None], None]


def register(app: typer.Typer) -> None:
    """Add this file's command to the command tree."""
    app.command("kernel")(reported(_kernel))


def _kernel(
    *,
    profile: Annotated[
        str, typer.Option(help="base or scanpy: what can be imported.", metavar="NAME")
    ] = "base",
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds until a cell is interrupted.", metavar="S"),
    ] = None,
    figures: Annotated[
        Path, typer.Option(help="Folder for images, made with the first one.", metavar="DIR")
    ] = Path("figures"),
    output: box.Output = None,
    backend: box.Backend = None,
    wall: box.Wall = _DAY_S,
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
) -> int:
    """Run cells of Python in a sandboxed kernel, from the terminal or a pipe.

    An empty line ends a cell. Ctrl-C interrupts the cell that runs, a second one kills the
    kernel; Ctrl-D ends. A kernel that dies is replaced by a new one. Where input is no terminal,
    the exit code is 1 if a cell failed.
    """
    limits: dict[str, object] = {
        "wall_s": wall,
        "cpu_s": cpu_time,
        "cpus": cpus,
        "memory_mb": memory,
        "processes": pids,
        "disk_mb": disk,
    }
    spec = box.specification(
        profile, inputs=inputs, env=env, limits=limits, gpus=gpu, floor=floor, workdir=workdir
    )
    box.check_output(output)
    asked = _Asked(spec, backend, profile, timeout, figures, output)
    try:
        with _handling(_ENDING, _end), Background() as home:
            return _ran(home, asked)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one call of the command asks for."""

    spec: SandboxSpec
    backend: str | None
    profile: str
    timeout_s: float | None
    figures: Path
    output: Path | None


def _ran(home: Background, asked: _Asked) -> int:
    from ..sandboxes import open_session

    prompts = sys.stdin.isatty() and sys.stdout.isatty()
    session = home.run(open_session(asked.spec, backend=asked.backend))
    try:
        if prompts:
            note(
                f"Python in {session.sandbox.backend}, profile {asked.profile}. An empty line "
                "runs a cell, Ctrl-C interrupts it, Ctrl-D ends."
            )
        loop = _Loop(home, session, Shower(asked.figures), asked.timeout_s)
        fine = loop.run(Cells(prompts=prompts))
        if asked.output is not None:
            _save(home, session, asked.output)
    finally:
        # A second Ctrl-C must not leave half of a sandbox behind; closing takes a moment.
        with _handling((signal.SIGINT, *_ENDING), _ignore):
            home.run(session.close())
    return 0 if fine or prompts else FAILED


class _Loop:
    """Takes one cell after the other and shows what comes of it."""

    def __init__(
        self, home: Background, session: Session, shower: Shower, timeout_s: float | None
    ) -> None:
        self._home = home
        self._session = session
        self._shower = shower
        self._timeout_s = timeout_s

    def run(self, cells: Cells) -> bool:
        """Run all; gives whether each of them ended well."""
        fine = True
        for code in cells:
            result = self._execute(code)
            self._shower.end(result)
            fine = fine and result.ok
            if not result.alive:
                self._home.run(self._session.restart())
        self._shower.close()
        return fine

    def _execute(self, code: str) -> CellResult:
        events: SimpleQueue[CellEvent | None] = SimpleQueue()
        cell = self._session.execute(code, timeout_s=self._timeout_s, on_event=events.put)
        with self._interrupts():
            work = self._home.start(cell)
            work.add_done_callback(lambda _: events.put(None))
            # Shown on this thread: a terminal that is slow must not stop the clock of the limits.
            while (event := _following(events)) is not None:
                self._shower.event(event)
        return work.result()

    @contextlib.contextmanager
    def _interrupts(self) -> Iterator[None]:
        """While it is entered, Ctrl-C is the cell's."""
        pressed = 0

        def press(number: int, frame: FrameType | None) -> None:
            nonlocal pressed
            pressed += 1
            if pressed == 1:
                self._home.start(self._session.interrupt())
            else:
                self._home.call(self._session.sandbox.stop)

        with _handling((signal.SIGINT,), press):
            yield


def _following(events: SimpleQueue[CellEvent | None]) -> CellEvent | None:
    """Wait for the next event, in short waits: a signal just before one does not end it."""
    while True:
        with contextlib.suppress(Empty):
            return events.get(timeout=_WAIT_S)


@contextlib.contextmanager
def _handling(numbers: Iterable[signal.Signals], handler: _Handler) -> Iterator[None]:
    before = {one: signal.signal(one, handler) for one in numbers}
    try:
        yield
    finally:
        for one, earlier in before.items():
            signal.signal(one, earlier)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


def _save(home: Background, session: Session, output: Path) -> None:
    """Copy the files of the work folder to a folder of the user's."""
    from ..sandboxes import keep_artifacts

    found = home.run(session.collect())
    output.mkdir(parents=True, exist_ok=True)
    keep_artifacts(found.artifacts, output)
    for one in found.rejected:
        note(f"not taken: {one.path}: {one.reason}")
    if not found.complete:
        note("there were more files than are listed")


__all__ = ["FAILED", "register"]
