"""Sandboxes of the container backends for tests, and a look at what they leave behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from basanite.sandboxes import Sandbox, SandboxSpec, open_sandbox, probe
from basanite.sandboxes._oci import VARIABLE
from basanite.sandboxes._state import state_root

PACKAGES = {"podman": "podman runc", "runc": "runc", "docker": "docker.io", "gvisor": "runsc"}
_CLOSED_S = 10.0
_REPORTS: dict[str, str] = {}


def need(engine: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Choose an engine and give its backend's name; skip where it does not work.

    Args:
        engine: `podman`, `runc`, `docker` or `gvisor`.
    """
    backend = "gvisor" if engine == "gvisor" else "oci"
    if backend == "oci":
        monkeypatch.setenv(VARIABLE, engine)
    if engine not in _REPORTS:
        report = asyncio.run(probe([backend])).backends[0]
        _REPORTS[engine] = "" if report.available else report.why
    if _REPORTS[engine]:
        reason = _REPORTS[engine].splitlines()[0]
        pytest.skip(f"{engine} does not work here: {reason} (apt-get install {PACKAGES[engine]})")
    return backend


@asynccontextmanager
async def opened(backend: str, **fields: object) -> AsyncIterator[Sandbox]:
    """Open a sandbox, close it, and see that nothing of it is left."""
    sandbox = await open_sandbox(SandboxSpec.create(**fields), backend=backend)
    assert sandbox._folder is not None
    identity = sandbox._folder.id
    try:
        yield sandbox
    finally:
        await sandbox.close()
        assert await asyncio.to_thread(settled, identity) == []


def settled(identity: str) -> list[str]:
    """Give what is left of a sandbox, after a moment for the kernel."""
    deadline = time.monotonic() + _CLOSED_S
    while (left := list(traces(identity))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def traces(identity: str) -> Iterator[str]:
    """Look for processes, mounts, control groups, containers and files of a sandbox."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            groups = (process / "cgroup").read_text("ascii", "replace")
        except OSError:
            continue
        if identity.encode() in command or identity in groups:
            yield f"process {process.name}: {command.decode('utf-8', 'replace')}"
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines():
        if identity in line:
            yield f"mount {line}"
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        yield from (f"group {folder}/{name}" for name in names if identity in name)
    if (state_root() / identity).exists():
        yield f"folder {state_root() / identity}"
    if shutil.which("podman") and os.getuid() == 0:
        listed = subprocess.run(
            ["podman", "ps", "--all", "--format", "{{.Names}}"],
            check=False, capture_output=True, text=True,
        ).stdout  # fmt: skip
        yield from (f"container {name}" for name in listed.split() if identity in name)


def is_root() -> bool:
    """Whether these tests run as root."""
    return os.getuid() == 0


__all__ = ["is_root", "need", "opened", "settled", "traces"]
