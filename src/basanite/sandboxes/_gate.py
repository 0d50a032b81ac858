"""A pipe at which the first process of a container waits until its code may run.

It is a FIFO that is bound into the container. That someone has opened it for reading shows that
the container is set up; one line lets it go on, and if this process dies first, the end of the
pipe makes it give up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path

from ..errors import SandboxLost
from ._child import Child

INSIDE = "/run/basanite/gate"
_POLL_S = 0.002
_START_S = 60.0
_RUN = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?'
"""The shell stays: the first process of a namespace ignores signals and must wait for orphans."""


def reaping(command: list[str]) -> list[str]:
    """Give a command that runs another as the second process, and ends as that one did."""
    return ["/bin/sh", "-c", _RUN, "sh", *command]


def waiting(command: list[str]) -> list[str]:
    """Give such a command that first waits at the gate, inside."""
    return ["/bin/sh", "-c", f"read -r _ <{INSIDE} || exit 125; {_RUN}", "sh", *command]


def held(command: list[str], gate: Path) -> list[str]:
    """Give a command that waits at the gate outside, and then becomes another."""
    script = 'read -r _ <"$0" || exit 125; exec "$@"'
    return ["/bin/sh", "-c", script, str(gate), *command]


class Gate:
    """Our end of the pipe."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "gate"
        os.mkfifo(self.path, 0o600)
        self.path.chmod(0o644)
        self._descriptor: int | None = None

    async def reached(self, child: Child) -> bool:
        """Wait until the container stands at the gate; False: its runtime ended before.

        Raises:
            SandboxLost: it did not come in time.
        """
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            # Without a reader this fails, and a reader is the container's first process.
            with contextlib.suppress(OSError):
                self._descriptor = os.open(
                    self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
                )
                return True
            if child.poll() is not None:
                return False
            await asyncio.sleep(_POLL_S)
        raise SandboxLost("a container did not start in time", where="container")

    def open(self) -> None:
        """Let the code run."""
        if self._descriptor is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._descriptor, b"\n")
        self.close()

    def close(self) -> None:
        """Let go of the pipe: who still waits there gives up."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self.path.unlink(missing_ok=True)


__all__ = ["INSIDE", "Gate", "held", "reaping", "waiting"]
