"""Calls of `kubectl`, and what it says about pods."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SandboxLost, SandboxUnavailable
from ._capture import Capture
from ._kubernetes import Cluster
from ._result import Output
from ._spec import MIB, SandboxSpec

_CALL_S = 120.0
_SAVE_S = 300.0
_BLOCK = 1 << 20
PARTLY = 77
"""The exit code by which a command says that it gave what it could, and not all."""
_ADVICE = "Install kubectl, and check that `kubectl auth can-i create jobs` says yes."


@dataclass(frozen=True, slots=True)
class Pod:
    """What a cluster says about a pod and its container `agent`."""

    name: str
    phase: str
    reason: str
    message: str
    waits_for: str
    """Why the container waits; "": it does not."""
    started: bool
    terminated: Mapping[str, object] | None
    """How the container ended."""


class Kubectl:
    """Runs `kubectl` for one cluster and namespace."""

    def __init__(self, cluster: Cluster) -> None:
        program = shutil.which("kubectl")
        if program is None:
            raise SandboxUnavailable("kubectl is not installed", where="kubernetes", todo=_ADVICE)
        context = [] if cluster.context is None else ["--context", cluster.context]
        self._command = [program, "--namespace", cluster.namespace, *context]

    async def _start(self, arguments: Sequence[str], *, stdin: bool) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, arguments: Sequence[str], *, stdin: bytes | None = None) -> bytes:
        """Run a command and give what it says.

        Raises:
            SandboxUnavailable: it fails.
            SandboxLost: it does not end.
        """
        process = await self._start(arguments, stdin=stdin is not None)
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin), _CALL_S)
        except TimeoutError:
            raise SandboxLost("kubectl does not answer", where=f"kubectl {arguments[0]}") from None
        finally:
            await _end(process)
        if process.returncode != 0:
            said = err.decode("utf-8", "replace").strip()
            raise SandboxUnavailable(
                f"kubectl fails: {said or process.returncode}", where=f"kubectl {arguments[0]}",
                todo=_ADVICE,
            )  # fmt: skip
        return out

    async def save(self, arguments: Sequence[str], file: Path, limit: int) -> bool:
        """Write what a command says to a file.

        Returns:
            Whether that is all: False if it was more than `limit` bytes, or if the command ended
            with `PARTLY`.

        Raises:
            SandboxLost: it fails.
        """
        process = await self._start(arguments, stdin=False)
        # Read beside the output, or a full pipe would stop it.
        said = asyncio.ensure_future(_beginning(process.stderr))
        try:
            whole = await asyncio.wait_for(_spooled(process, file, limit), _SAVE_S)
            if whole and await process.wait() not in (0, PARTLY):
                error = (await said).decode("utf-8", "replace").strip()
                raise SandboxLost(f"kubectl fails: {error}", where=f"kubectl {arguments[0]}")
        except TimeoutError:
            raise SandboxLost("kubectl does not end", where=f"kubectl {arguments[0]}") from None
        finally:
            said.cancel()
            await asyncio.wait((said,))
            await _end(process)
        return whole and process.returncode == 0

    async def pods(self, selector: str) -> list[Pod]:
        """Give the pods with a label."""
        text = await self.run(["get", "pods", "--selector", selector, "--output", "json"])
        try:
            items = json.loads(text)["items"]
            return [_pod(item) for item in items]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SandboxLost("kubectl says nothing readable about pods", where=selector) from None


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
        # What nobody has read yet would hold up its end.
        for stream in (process.stdout, process.stderr):
            while stream is not None and await stream.read(_BLOCK):
                pass
        await process.wait()


async def _beginning(stream: asyncio.StreamReader | None) -> bytes:
    kept = b""
    while stream is not None and (block := await stream.read(4096)):
        kept = (kept + block)[:4096]
    return kept


async def _spooled(process: asyncio.subprocess.Process, file: Path, limit: int) -> bool:
    stream, left = process.stdout, limit
    if stream is None:
        raise ValueError("the process was started without a pipe")
    with file.open("wb") as target:
        while block := await stream.read(_BLOCK):
            target.write(block[:left])
            left -= len(block)
            if left < 0:
                return False
    return True


def _pod(item: Mapping[str, Mapping[str, object]]) -> Pod:
    status = item["status"]
    agent: Mapping[str, object] = {}
    statuses = status.get("containerStatuses") or []
    for container in statuses if isinstance(statuses, list) else []:
        if container["name"] == "agent":
            agent = container.get("state") or {}
    waiting, ended = agent.get("waiting"), agent.get("terminated")
    wait = waiting if isinstance(waiting, dict) else {}
    conditions = status.get("conditions") or []
    unmet = [c.get("message", "") for c in conditions if c.get("status") == "False"]  # type: ignore[attr-defined]
    return Pod(
        name=str(item["metadata"]["name"]),
        phase=str(status.get("phase", "")),
        reason=str(status.get("reason", "")),
        message=str(status.get("message") or wait.get("message") or next(iter(unmet), "")),
        waits_for=str(wait.get("reason", "")),
        started="running" in agent or ended is not None,
        terminated=ended if isinstance(ended, dict) else None,
    )


async def logs(calls: Kubectl, pod: str, folder: Path, spec: SandboxSpec) -> Output:
    """Give what the code wrote, as far as the cluster kept it."""
    limits = spec.limits
    raw = folder / "output.raw"
    try:
        whole = await calls.save(["logs", pod, "--container", "agent"], raw, limits.log_mb * MIB)
    except SandboxLost:
        # Of a pod that was evicted nothing is left.
        raw.write_bytes(b"")
        whole = False
    pipe = os.open(raw, os.O_RDONLY | os.O_CLOEXEC)
    capture = Capture(
        pipe, folder / "stdout.log", keep=limits.output_bytes, log_limit=limits.log_mb * MIB
    )
    while not capture.ended:
        capture.read()
    output = capture.close()
    raw.unlink()
    return output if whole else output.model_copy(update={"log_complete": False})


__all__ = ["PARTLY", "Kubectl", "Pod", "logs"]
