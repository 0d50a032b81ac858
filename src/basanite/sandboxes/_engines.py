"""What the oci backend asks of an engine, and which engines there are."""

from __future__ import annotations

import re
import subprocess
from typing import Protocol

from ..errors import SandboxUnavailable
from ._container import ContainerRun
from ._runtime import Job


class Engine(Protocol):
    """One program that runs containers."""

    @property
    def name(self) -> str:
        """`podman`, `runc` or `docker`."""

    @property
    def todo(self) -> str:
        """How it is installed."""

    def version(self) -> str:
        """Give its version.

        Raises:
            SandboxUnavailable: it is not there, or does not answer.
        """

    def in_daemon(self) -> bool:
        """Whether a daemon starts the containers, which does not see what is mounted here."""

    async def start(self, job: Job) -> ContainerRun:
        """See `Runtime.start`."""

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """See `Runtime.cleanup`."""


def said_version(*command: str) -> str:
    """Ask a program for its version.

    Raises:
        SandboxUnavailable: it fails, or says none.
    """
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"{command[0]} does not run ({error})") from None
    numbers = re.search(r"\d+(\.\d+)+\S*", done.stdout)
    if done.returncode != 0 or numbers is None:
        said = (done.stderr or done.stdout).strip()
        raise SandboxUnavailable(f"{command[0]} fails: {said or f'exit code {done.returncode}'}")
    return numbers[0]


__all__ = ["Engine", "said_version"]
