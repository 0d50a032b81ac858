"""The manifest of a Kubernetes Job that runs a specification in gVisor.

The pod has two containers: `agent` runs the code, `keeper` sees the same work folder read-only
and stays until the files have been fetched. A NetworkPolicy that denies everything belongs to
it; it holds only where the cluster's network plugin enforces such policies.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ..errors import PolicyError
from ._enforcement import Aspect, Enforcement, Strength
from ._runtime import INSIDE_UID, WORK
from ._spec import MIB, SandboxSpec

START_S = 300
FETCH_S = 300
"""How long a pod may take to start, and its files to be fetched, beside the code's own time."""
_KEPT_S = 600
_MAX_CODE = 100_000
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?")
LABEL = "basanite/sandbox"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where a Job runs."""

    image: str
    """An image with Python, `sh`, `tar`, `timeout` and util-linux's `prlimit`."""
    namespace: str = "default"
    runtime_class: str = "gvisor"
    """The RuntimeClass; "" only where the cluster's default is a sandbox already."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """For the target of each mount, the PersistentVolumeClaim that holds what is seen there."""
    context: str | None = None
    """The context of `kubectl`; None: its current one."""


def job_manifest(spec: SandboxSpec, cluster: Cluster, name: str) -> dict[str, object]:
    """Give the NetworkPolicy and the Job as one `List`, for `kubectl apply`.

    Args:
        spec: what runs, and within which limits.
        cluster: where.
        name: unique in the namespace: lower-case letters, digits and `-`, at most 52.

    Raises:
        PolicyError: it asks for what a cluster can't give, or the name is none.
    """
    if not _NAME.fullmatch(name):
        raise PolicyError(
            "no name for a Job: use lower-case letters, digits and -, at most 52", where=name
        )
    return {
        "apiVersion": "v1",
        "kind": "List",
        # The policy first: the pod must not run a moment without it.
        "items": [_policy(spec, cluster, name), _job(spec, cluster, name)],
    }


def _metadata(cluster: Cluster, name: str) -> dict[str, object]:
    return {"name": name, "namespace": cluster.namespace, "labels": {LABEL: name}}


def _policy(spec: SandboxSpec, cluster: Cluster, name: str) -> dict[str, object]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(cluster, name),
        "spec": {
            "podSelector": {"matchLabels": {LABEL: name}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [],
            "egress": [_egress(e.url, e.api_key, e.name) for e in spec.network.endpoints],
        },
    }


def _egress(url: str, api_key: str | None, name: str) -> dict[str, object]:
    parts = urlsplit(url)
    try:
        address = ipaddress.ip_address(parts.hostname or "")
    except ValueError:
        raise PolicyError(
            "a NetworkPolicy knows no host names",
            where=f"endpoint {name}",
            todo="Give the address of the server's pod or machine, as the network plugin sees it.",
        ) from None
    if api_key is not None:
        raise PolicyError(
            "a Job has no proxy that keeps a key out of the sandbox",
            where=f"endpoint {name}",
            todo="Use a server without a key, or a sandbox on this machine.",
        )
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return {
        "to": [{"ipBlock": {"cidr": f"{address}/{address.max_prefixlen}"}}],
        "ports": [{"protocol": "TCP", "port": port}],
    }


def _job(spec: SandboxSpec, cluster: Cluster, name: str) -> dict[str, object]:
    wall = math.ceil(spec.limits.wall_s)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(cluster, name),
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": wall + START_S + FETCH_S,
            "ttlSecondsAfterFinished": _KEPT_S,
            "template": {
                "metadata": {"labels": {LABEL: name}},
                "spec": _pod(spec, cluster, wall),
            },
        },
    }


def _pod(spec: SandboxSpec, cluster: Cluster, wall: int) -> dict[str, object]:
    volumes, mounts = _volumes(spec, cluster)
    keeper_mounts = [{"name": "work", "mountPath": WORK, "readOnly": True}]
    keeper = {
        **_container("keeper", cluster, ["sleep", str(wall + START_S + FETCH_S)], keeper_mounts),
        "resources": _resources("10m", "64Mi", "16Mi"),
    }
    agent = {
        **_container("agent", cluster, _command(spec, wall), mounts),
        "env": [{"name": key, "value": value} for key, value in _environment(spec).items()],
        "resources": _agent_resources(spec),
    }
    pod: dict[str, object] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": False,
        "hostPID": False,
        "hostIPC": False,
        "shareProcessNamespace": False,
        "dnsPolicy": "None",
        # "None" asks for at least one server; nothing answers there.
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "terminationGracePeriodSeconds": 0,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": INSIDE_UID,
            "runAsGroup": INSIDE_UID,
            "fsGroup": INSIDE_UID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [agent, keeper],
        "volumes": volumes,
    }
    if cluster.runtime_class:
        pod["runtimeClassName"] = cluster.runtime_class
    return pod


def _container(
    name: str, cluster: Cluster, command: Sequence[str], mounts: list[dict[str, object]]
) -> dict[str, object]:
    return {
        "name": name,
        "image": cluster.image,
        "command": list(command),
        "workingDir": WORK,
        "volumeMounts": mounts,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _command(spec: SandboxSpec, wall: int) -> list[str]:
    if spec.code is not None:
        if len(spec.code.encode()) > _MAX_CODE:
            raise PolicyError(
                f"the code is longer than {_MAX_CODE:,} bytes",
                where="code",
                todo="Put it into the image, or into a volume.",
            )
        arguments: tuple[str, ...] = (spec.python, "-c", spec.code)
    elif spec.command is not None:
        arguments = spec.command
    else:
        raise PolicyError(
            "there is nothing to run", where="sandbox", todo="Give a command or code."
        )
    limits = spec.limits
    given = ["prlimit", "--core=0", f"--fsize={(limits.file_mb or limits.disk_mb) * MIB}"]
    given += [f"--nofile={limits.open_files}", f"--nproc={limits.processes}"]
    if limits.cpu_s is not None:
        given.append(f"--cpu={math.ceil(limits.cpu_s)}")
    # Its own deadline, shorter than the Job's: what it left can then still be fetched.
    return [*given, "--", "timeout", "--signal=KILL", str(wall), *map(_unexpanded, arguments)]


def _unexpanded(text: str) -> str:
    # Kubernetes replaces $(NAME) in commands, and $$ by $.
    return text.replace("$", "$$")


def _environment(spec: SandboxSpec) -> dict[str, str]:
    given = {"HOME": WORK, "USER": "agent", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
    for endpoint in spec.network.endpoints:
        given[f"BASANITE_ENDPOINT_{endpoint.name.upper()}"] = endpoint.url
    return {key: _unexpanded(value) for key, value in {**given, **spec.environment}.items()}


def _resources(cpu: str, memory: str, storage: str) -> dict[str, object]:
    amounts = {"cpu": cpu, "memory": memory, "ephemeral-storage": storage}
    return {"limits": amounts, "requests": dict(amounts)}


def _agent_resources(spec: SandboxSpec) -> dict[str, object]:
    limits = spec.limits
    amounts: dict[str, str] = {"memory": f"{limits.memory_mb}Mi"}
    disk = limits.log_mb * 2 + (limits.disk_mb if spec.workdir == "disk" else 0)
    amounts["ephemeral-storage"] = f"{disk}Mi"
    if limits.cpus is not None:
        amounts["cpu"] = f"{math.ceil(limits.cpus * 1000)}m"
    if spec.gpus:
        amounts["nvidia.com/gpu"] = str(len(spec.gpus))
    return {"limits": amounts, "requests": dict(amounts)}


def _volumes(
    spec: SandboxSpec, cluster: Cluster
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    limits = spec.limits
    work: dict[str, object] = {"sizeLimit": f"{limits.disk_mb}Mi"}
    if spec.workdir == "memory":
        work["medium"] = "Memory"
    volumes: list[dict[str, object]] = [{"name": "work", "emptyDir": work}]
    mounts: list[dict[str, object]] = [{"name": "work", "mountPath": WORK}]
    for name, place in (("tmp", "/tmp"), ("shm", "/dev/shm")):
        size = f"{limits.tmp_mb}Mi"
        volumes.append({"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": size}})
        mounts.append({"name": name, "mountPath": place})
    for number, mount in enumerate(spec.mounts):
        claim = cluster.claims.get(str(mount.target))
        if claim is None:
            raise PolicyError(
                "a cluster does not see this machine's files",
                where=f"mount {mount.target}",
                todo="Name the PersistentVolumeClaim that holds them in `Cluster.claims`.",
            )
        source = {"claimName": claim, "readOnly": True}
        volumes.append({"name": f"mount-{number}", "persistentVolumeClaim": source})
        mounts.append({"name": f"mount-{number}", "mountPath": str(mount.target), "readOnly": True})
    return volumes, mounts


def job_enforcement(spec: SandboxSpec, cluster: Cluster) -> dict[Aspect, Enforcement]:
    """Say how each aspect is held in a cluster that does what the manifest asks for."""
    soft = Strength.BEST_EFFORT
    kubelet = Enforcement(by="kubelet", strength=soft, residual="looks some times a minute")
    in_memory = spec.workdir == "memory"
    return {
        "files": Enforcement(by="image, read-only"),
        "network": Enforcement(
            by="NetworkPolicy", residual="only where the network plugin enforces it"
        ),
        "processes_seen": Enforcement(by="pod"),
        "privileges": Enforcement(by="no capabilities, no_new_privs"),
        "user": Enforcement(by="pod, a user without rights"),
        "syscalls": Enforcement(by=f"RuntimeClass {cluster.runtime_class or 'of the cluster'}"),
        "devices": Enforcement(by="pod"),
        "kernel": Enforcement(by="gVisor (own kernel)")
        if cluster.runtime_class
        else Enforcement(by="shared", strength=Strength.NONE),
        "memory": Enforcement(by="cgroup of the pod"),
        "processes": Enforcement(
            by="rlimit", strength=soft, residual="a kubelet's podPidsLimit holds them better"
        ),
        "cpus": Enforcement(by="cgroup of the pod"),
        "cpu_time": Enforcement(by="rlimit", strength=soft, residual="each process for itself"),
        "wall": Enforcement(by="timeout, activeDeadlineSeconds"),
        "disk": Enforcement(by="emptyDir in memory") if in_memory else kubelet,
        "inodes": Enforcement(
            by="memory of the pod" if in_memory else "kubelet",
            strength=soft,
            residual="they have no limit of their own",
        ),
        "file_size": Enforcement(by="rlimit"),
        "output": Enforcement(by="kubelet, ephemeral-storage", strength=soft),
    }


__all__ = ["FETCH_S", "LABEL", "START_S", "Cluster", "job_enforcement", "job_manifest"]
