"""Run a specification as a Kubernetes Job, by `kubectl`, and fetch what it left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..errors import SandboxLost, SandboxUnavailable
from ..schema import digest
from ._collect import Collected
from ._enforcement import check_floor
from ._kubectl import PARTLY, Kubectl, Pod, logs
from ._kubernetes import LABEL, START_S, Cluster, job_enforcement, job_manifest
from ._result import ExecResult, Status, Usage
from ._runtime import WORK
from ._spec import MIB, SandboxSpec
from ._tar import collect_tar
from ._tasks import finished

_POLL_S = 1.0
_MAX_POLL_S = 10.0
_TRIES = 5
_TAR_OVERHEAD = 16 * MIB
_TAR = f"tar -C {WORK} -cf - . || exit {PARTLY}"
"""Code may have left files that its own user can't read: that is no fault of the cluster."""
_OWN_FAULT = re.compile(
    r"Usage of EmptyDir volume|Container \S+ exceeded its local|Pod ephemeral local storage"
)
"""How a kubelet begins when a pod went over a limit of its own, and not the node."""
_NEVER = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError",
     "CreateContainerError", "RunContainerError", "StartError"}
)  # fmt: skip
"""Reasons for which a container that waits is not going to start."""


async def run_job(spec: SandboxSpec, cluster: Cluster, folder: Path) -> ExecResult:
    """Run a specification's command or code in a cluster, and wait for it.

    Args:
        spec: what runs, and within which limits.
        cluster: where it runs.
        folder: where logs and artifacts are put; made if it is not there. `stdout` holds both
            streams, as a cluster does not tell them apart.

    Raises:
        PolicyError: it asks for what a cluster can't give.
        IsolationFloorNotMet: a floor demands more than a cluster gives.
        SandboxUnavailable: kubectl, the cluster or the image does not answer.
        SandboxLost: the pod vanished, or its files can't be fetched.
    """
    name = f"basanite-{secrets.token_hex(6)}"
    manifest = job_manifest(spec, cluster, name)
    enforced = job_enforcement(spec, cluster)
    check_floor(spec, enforced, "kubernetes", None)
    await asyncio.to_thread(folder.mkdir, mode=0o700, parents=True, exist_ok=True)
    calls = Kubectl(cluster)
    await calls.run(["apply", "-f", "-"], stdin=json.dumps(manifest).encode())
    try:
        ended = await _ended(calls, name, spec)
        stdout = await logs(calls, ended.pod, folder, spec)
        found = await _fetch(calls, ended, folder, spec)
    finally:
        await finished(_remove(calls, name))
    policy = spec.model_dump(mode="json", exclude={"command", "code"})
    policy["floor"] = sorted(spec.floor)
    held = {str(aspect): entry for aspect, entry in enforced.items()}
    return ExecResult(
        status=ended.status,
        exit_code=ended.exit_code,
        limits_hit=ended.limits_hit,
        stdout=stdout,
        usage=Usage(wall_s=ended.wall_s),
        artifacts=tuple(found.artifacts),
        rejected=tuple(found.rejected),
        artifacts_complete=found.complete,
        backend="kubernetes",
        enforced=held,
        policy_hash=digest(
            {
                "policy": policy,
                "backend": "kubernetes",
                "enforced": {k: v.model_dump(mode="json") for k, v in held.items()},
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class _Ended:
    pod: str
    status: Status
    exit_code: int | None
    limits_hit: tuple[str, ...]
    wall_s: float
    readable: bool
    """Whether the pod is still there to be read."""


async def _ended(calls: Kubectl, name: str, spec: SandboxSpec) -> _Ended:
    """Wait for the end of the code."""
    loop = asyncio.get_running_loop()
    start_by = loop.time() + START_S
    pause, seen = _POLL_S, False
    while True:
        pods = await _pods(calls, name)
        for pod in pods:
            ended = _of_pod(pod, spec)
            if ended is not None:
                return ended
            reason = pod.waits_for
            if reason in _NEVER:
                raise SandboxUnavailable(
                    f"the pod does not start: {reason}: {pod.message}", where=f"pod {pod.name}",
                    todo="Check the image, the RuntimeClass and the quotas of the namespace.",
                )  # fmt: skip
        if seen and not pods:
            raise SandboxLost("the pod vanished", where=f"job {name}")
        seen = bool(pods)
        if loop.time() > start_by and not any(pod.started for pod in pods):
            why = pods[0].message if pods else "no pod was made"
            raise SandboxUnavailable(
                f"the Job did not start within {START_S} s: {why or 'no reason given'}",
                where=f"job {name}",
                todo="Look at `kubectl describe job`, and at the RuntimeClass.",
            )
        await asyncio.sleep(pause)
        pause = min(pause * 1.2, _MAX_POLL_S)


async def _pods(calls: Kubectl, name: str) -> list[Pod]:
    """Give the Job's pods; one call that fails is no reason to give up the work of days."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(SandboxUnavailable, SandboxLost):
            return await calls.pods(f"{LABEL}={name}")
        await asyncio.sleep(_POLL_S)
    return await calls.pods(f"{LABEL}={name}")


def _of_pod(pod: Pod, spec: SandboxSpec) -> _Ended | None:
    end = pod.terminated
    if pod.reason == "Evicted":
        if _OWN_FAULT.match(pod.message):
            return _Ended(pod.name, Status.DISK_LIMIT, None, ("disk",), 0.0, readable=False)
        raise SandboxLost(f"the pod was evicted: {pod.message}", where=f"pod {pod.name}")
    if pod.reason == "DeadlineExceeded":
        wall = spec.limits.wall_s
        return _Ended(pod.name, Status.TIMEOUT, None, ("wall",), wall, readable=False)
    if end is None:
        if pod.phase in ("Failed", "Succeeded", "Unknown"):
            raise SandboxLost(
                f"the pod ended without its code: {pod.reason or pod.phase}",
                where=f"pod {pod.name}",
            )
        return None
    wall = _seconds(end.get("startedAt"), end.get("finishedAt"))
    reason, code = end.get("reason"), end.get("exitCode")
    if reason == "OOMKilled":
        return _Ended(pod.name, Status.OUT_OF_MEMORY, None, ("memory",), wall, readable=True)
    if reason in _NEVER:
        raise SandboxUnavailable(
            f"the code can't be started: {end.get('message')}", where=f"pod {pod.name}",
            todo="The image needs sh, timeout and prlimit.",
        )  # fmt: skip
    if not isinstance(code, int):
        raise SandboxLost("the pod does not say how the code ended", where=f"pod {pod.name}")
    # `timeout` kills itself with the same signal as the code; times are in whole seconds.
    if code == _KILLED and wall >= spec.limits.wall_s - 1:
        return _Ended(pod.name, Status.TIMEOUT, None, ("wall",), wall, readable=True)
    return _Ended(pod.name, Status.EXITED, code, (), wall, readable=True)


_KILLED = 137


def _seconds(began: object, ended: object) -> float:
    try:
        first = datetime.fromisoformat(str(began))
        return (datetime.fromisoformat(str(ended)) - first).total_seconds()
    except ValueError:
        raise SandboxLost(
            "the pod does not say when the code ran", where=f"{began} to {ended}"
        ) from None


async def _fetch(calls: Kubectl, ended: _Ended, folder: Path, spec: SandboxSpec) -> Collected:
    if not ended.readable:
        return Collected(complete=False)
    archive = folder / "work.tar"
    limit = spec.limits.artifacts_mb * MIB + _TAR_OVERHEAD
    tar = ["exec", ended.pod, "--container", "keeper", "--", "sh", "-c", _TAR]
    whole = await calls.save(tar, archive, limit)
    try:
        found = await asyncio.to_thread(collect_tar, archive, folder / "artifacts", spec.limits)
    finally:
        archive.unlink(missing_ok=True)
    found.complete = found.complete and whole
    return found


async def _remove(calls: Kubectl, name: str) -> None:
    await calls.run(
        ["delete", "job,networkpolicy", name, "--ignore-not-found", "--wait=false",
         "--cascade=foreground"]
    )  # fmt: skip


__all__ = ["run_job"]
