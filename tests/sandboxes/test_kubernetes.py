"""Kubernetes Jobs: their manifests by the published schemas, their course by a fake kubectl."""

from __future__ import annotations

import asyncio
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from basanite.errors import IsolationFloorNotMet, PolicyError, SandboxLost, SandboxUnavailable
from basanite.sandboxes import (
    Cluster,
    ExecResult,
    Floor,
    Limits,
    SandboxSpec,
    Status,
    job_manifest,
    run_job,
)
from basanite.sandboxes._tar import collect_tar
from support.fake_kubectl import FakeKubectl, ended, pod

CLUSTER = Cluster(image="registry.example/science:1", namespace="agents")
RUNS = pod({"running": {"startedAt": "2026-01-02T03:04:00Z"}})


Json = dict[str, Any]


def manifest(**fields: object) -> tuple[Json, Json]:
    """Give the NetworkPolicy and the Job of a specification."""
    fields.setdefault("command", ["python3", "-c", "print(1)"])
    listed: Json = job_manifest(SandboxSpec.create(**fields), CLUSTER, "basanite-1")
    policy, job = listed["items"]
    return policy, job


SPECS: dict[str, dict[str, object]] = {
    "plain": {},
    "code": {"code": "print('$(HOME)')", "command": None},
    "all": {
        "environment": {"TOKEN": "a$(HOME)"},
        "limits": {"cpus": 1.5, "cpu_s": 10, "memory_mb": 300, "disk_mb": 20, "tmp_mb": 8},
        "workdir": "disk",
        "gpus": [0, 1],
        "network": {
            "endpoints": [
                {"name": "judge", "url": "http://10.1.2.3:8000/v1"},
                {"name": "embed", "url": "https://[fd00::1]/v1"},
            ]
        },
    },
}


@pytest.mark.parametrize("version", ["1.28", "1.32", kubernetes_validate.latest_version()])
@pytest.mark.parametrize("name", SPECS)
def test_manifests_follow_the_published_schemas(name: str, version: str) -> None:
    for item in manifest(**SPECS[name]):
        kubernetes_validate.validate(item, version, strict=True)


def test_the_schemas_would_notice() -> None:
    _, job = manifest()
    job["spec"]["template"]["spec"]["automountServiceAccountTokens"] = False
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, "1.32", strict=True)


def test_a_job_has_no_rights_and_no_network() -> None:
    policy, job = manifest()
    assert policy["spec"]["egress"] == policy["spec"]["ingress"] == []
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    template = job["spec"]["template"]
    labels = policy["spec"]["podSelector"]["matchLabels"]
    assert labels.items() <= template["metadata"]["labels"].items()
    shown = template["spec"]
    assert shown["runtimeClassName"] == "gvisor"
    assert shown["automountServiceAccountToken"] is False
    assert shown["securityContext"]["runAsNonRoot"] is True
    assert shown["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not any(shown[name] for name in ("hostNetwork", "hostPID", "hostIPC"))
    for container in shown["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is context["privileged"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert set(container["resources"]["limits"]) >= {"memory", "ephemeral-storage"}
    keeper = shown["containers"][1]
    assert keeper["volumeMounts"] == [{"name": "work", "mountPath": "/work", "readOnly": True}]
    assert (job["spec"]["backoffLimit"], shown["restartPolicy"]) == (0, "Never")
    assert job["spec"]["ttlSecondsAfterFinished"] > 0


def test_limits_are_asked_for() -> None:
    limits = {"memory_mb": 300, "disk_mb": 20, "tmp_mb": 8, "cpus": 0.5, "wall_s": 10.2}
    _, job = manifest(limits={**limits, "cpu_s": 3, "processes": 40})
    shown = job["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume["emptyDir"] for volume in shown["volumes"]}
    assert volumes["work"] == {"medium": "Memory", "sizeLimit": "20Mi"}
    assert volumes["tmp"] == volumes["shm"] == {"medium": "Memory", "sizeLimit": "8Mi"}
    agent = shown["containers"][0]
    assert agent["resources"]["limits"]["memory"] == "300Mi"
    assert agent["resources"]["limits"]["cpu"] == "500m"
    assert agent["command"][:6] == [
        "prlimit", "--core=0", f"--fsize={20 * 2**20}", "--nofile=1024", "--nproc=40", "--cpu=3"
    ]  # fmt: skip
    # The Job's own deadline leaves time to fetch what the code left.
    assert agent["command"][6:10] == ["--", "timeout", "--signal=KILL", "11"]
    assert job["spec"]["activeDeadlineSeconds"] > 60


def test_nothing_in_a_command_is_expanded() -> None:
    _, job = manifest(command=["echo", "$(HOME) $$"], environment={"A": "$(PATH)"})
    agent = job["spec"]["template"]["spec"]["containers"][0]
    assert agent["command"][-1] == "$$(HOME) $$$$"
    assert {"name": "A", "value": "$$(PATH)"} in agent["env"]


def test_only_named_endpoints_can_be_reached() -> None:
    policy, job = manifest(**SPECS["all"])
    assert policy["spec"]["egress"] == [
        {
            "to": [{"ipBlock": {"cidr": "10.1.2.3/32"}}],
            "ports": [{"protocol": "TCP", "port": 8000}],
        },
        {"to": [{"ipBlock": {"cidr": "fd00::1/128"}}], "ports": [{"protocol": "TCP", "port": 443}]},
    ]
    agent = job["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "BASANITE_ENDPOINT_JUDGE", "value": "http://10.1.2.3:8000/v1"} in agent["env"]
    assert agent["resources"]["limits"]["nvidia.com/gpu"] == "2"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": {"endpoints": [{"name": "a", "url": "http://host:1/v1"}]}}, "host names"),
        (
            {"network": {"endpoints": [{"name": "a", "url": "http://10.0.0.1/", "api_key": "k"}]}},
            "keeps a key",
        ),
        ({"mounts": [{"source": "/data", "target": "/inputs"}]}, "this machine's files"),
        ({"code": "x" * 200_000, "command": None}, "longer than"),
        ({"command": None}, "nothing to run"),
    ],
)
def test_what_a_cluster_cannot_give_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        manifest(**fields)


def test_a_claim_stands_for_a_mount() -> None:
    cluster = Cluster(image="i", claims={"/inputs": "task-data"}, runtime_class="")
    spec = SandboxSpec.create(command=["true"], mounts=[{"source": "/data", "target": "/inputs"}])
    listed: Json = job_manifest(spec, cluster, "a")
    job = listed["items"][1]
    shown = job["spec"]["template"]["spec"]
    kubernetes_validate.validate(job, "1.32", strict=True)
    claim = {"claimName": "task-data", "readOnly": True}
    assert {"name": "mount-0", "persistentVolumeClaim": claim} in shown["volumes"]
    assert "runtimeClassName" not in shown


@pytest.mark.parametrize("name", ["", "Upper", "a_b", "-a", "a" * 53])
def test_a_name_that_a_job_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(PolicyError, match="no name for a Job"):
        job_manifest(SandboxSpec.create(command=["true"]), CLUSTER, name)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKubectl:
    fake = FakeKubectl(tmp_path / "cluster")
    monkeypatch.setenv("PATH", f"{fake.program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("basanite.sandboxes._kubernetes_run._POLL_S", 0.01)
    return fake


async def run(tmp_path: Path, **fields: object) -> ExecResult:
    fields.setdefault("command", ["true"])
    return await run_job(SandboxSpec.create(**fields), CLUSTER, tmp_path / "results")


async def test_a_job_runs_and_its_files_come_back(cluster: FakeKubectl, tmp_path: Path) -> None:
    cluster.shows([], [pod(phase="Pending")], [RUNS], [pod(ended(3))])
    cluster.says(b"line\n\xff")
    (cluster.work / "out").mkdir()
    (cluster.work / "out" / "a.txt").write_text("done")
    (cluster.work / "link").symlink_to("/etc/passwd")
    (cluster.work / ".cache").mkdir()
    result = await run(tmp_path)
    assert (result.status, result.exit_code, result.limits_hit) == (Status.EXITED, 3, ())
    assert result.stdout.text == "line\n\\xff"
    assert result.usage.wall_s == 2.0
    artifact = result.artifact("out/a.txt")
    assert artifact.file is not None
    assert artifact.file.read_text() == "done"
    assert {rejected.path for rejected in result.rejected} == {"link", ".cache"}
    assert result.artifacts_complete
    assert result.backend == "kubernetes"
    assert result.enforced["kernel"].by == "gVisor (own kernel)"
    assert cluster.verbs() == ["apply", "get", "get", "get", "get", "logs", "exec", "delete"]
    given, sent = cluster.calls()[0]
    assert given[:2] == ["--namespace", "agents"]
    kinds = [item["kind"] for item in json.loads(sent)["items"]]
    assert kinds == ["NetworkPolicy", "Job"]
    assert cluster.calls()[-1][0][2:4] == ["delete", "job,networkpolicy"]


@pytest.mark.parametrize(
    ("shown", "status", "hit"),
    [
        (pod(ended(137, reason="OOMKilled")), Status.OUT_OF_MEMORY, ("memory",)),
        (pod(ended(137, seconds=30)), Status.TIMEOUT, ("wall",)),
        (pod(ended(137, seconds=3)), Status.EXITED, ()),
        (pod(phase="Failed", reason="DeadlineExceeded"), Status.TIMEOUT, ("wall",)),
        (
            pod(phase="Failed", reason="Evicted", message='Usage of EmptyDir volume "work"'
                " exceeds the limit"),
            Status.DISK_LIMIT,
            ("disk",),
        ),
    ],
)  # fmt: skip
async def test_a_limit_that_is_hit_is_a_result(
    cluster: FakeKubectl, tmp_path: Path, shown: Json, status: Status, hit: tuple[str, ...]
) -> None:
    cluster.shows([shown])
    result = await run(tmp_path, limits={"wall_s": 30})
    assert (result.status, result.limits_hit) == (status, hit)
    assert result.exit_code == (137 if status is Status.EXITED else None)
    assert cluster.verbs()[-1] == "delete"


@pytest.mark.parametrize(
    ("states", "error", "message"),
    [
        (
            [[pod({"waiting": {"reason": "ErrImagePull", "message": "no such image"}})]],
            SandboxUnavailable,
            "no such image",
        ),
        ([[pod(ended(128, reason="StartError"))]], SandboxUnavailable, "can't be started"),
        ([[RUNS], []], SandboxLost, "vanished"),
        ([[pod(phase="Failed", reason="NodeLost")]], SandboxLost, "NodeLost"),
        (
            [[pod(phase="Failed", reason="Evicted", message="node low on memory")]],
            SandboxLost,
            "evicted",
        ),
        ([[{"metadata": {}}]], SandboxLost, "nothing readable"),
    ],
)
async def test_a_cluster_that_fails_is_an_error(
    cluster: FakeKubectl,
    tmp_path: Path,
    states: list[list[Json]],
    error: type[Exception],
    message: str,
) -> None:
    cluster.shows(*states)
    with pytest.raises(error, match=message):
        await run(tmp_path)
    assert cluster.verbs()[-1] == "delete"


async def test_one_look_that_fails_loses_nothing(cluster: FakeKubectl, tmp_path: Path) -> None:
    cluster.shows([RUNS], [pod(ended(0))])
    cluster.fails("get", times=3)
    assert (await run(tmp_path)).ok
    assert cluster.verbs().count("get") == 5


async def test_a_refusal_is_told_in_kubectl_s_words(cluster: FakeKubectl, tmp_path: Path) -> None:
    cluster.fails("apply")
    with pytest.raises(SandboxUnavailable, match="the server is busy"):
        await run(tmp_path)


async def test_files_that_cannot_be_fetched_are_an_error(
    cluster: FakeKubectl, tmp_path: Path
) -> None:
    cluster.shows([pod(ended(0))])
    cluster.fails("exec")
    with pytest.raises(SandboxLost, match="the server is busy"):
        await run(tmp_path)
    assert cluster.verbs()[-1] == "delete"


async def test_code_cannot_spoil_its_result_by_unreadable_files(
    cluster: FakeKubectl, tmp_path: Path
) -> None:
    cluster.shows([pod(ended(0))])
    (cluster.work / "a.txt").write_text("kept")
    tar = cluster.program.parent / "tar"
    # As root nothing is unreadable, so tar itself says that something was.
    tar.write_text('#!/bin/sh\n/bin/tar "$@"\necho "tar: ./b: Cannot open" >&2\nexit 2\n')
    tar.chmod(0o755)
    result = await run(tmp_path)
    assert result.ok
    assert result.artifact("a.txt").size == 4
    assert not result.artifacts_complete


async def test_an_archive_that_is_too_large_is_cut(cluster: FakeKubectl, tmp_path: Path) -> None:
    cluster.shows([pod(ended(0))])
    for number in range(6):
        with (cluster.work / f"{number}").open("wb") as file:
            file.write(b"x" * 5 * 2**20)
    result = await run(tmp_path, limits={"artifacts_mb": 1})
    assert result.artifacts == ()
    assert not result.artifacts_complete
    assert [path.name for path in (tmp_path / "results").iterdir() if path.suffix == ".tar"] == []


async def test_a_cancelled_job_is_removed(cluster: FakeKubectl, tmp_path: Path) -> None:
    cluster.shows([RUNS])
    work = asyncio.ensure_future(run(tmp_path))
    await asyncio.wait((work,), timeout=0.5)
    assert "get" in cluster.verbs()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert cluster.verbs()[-1] == "delete"


async def test_floors_are_checked_before_anything_is_asked_for(
    cluster: FakeKubectl, tmp_path: Path
) -> None:
    spec = SandboxSpec.create(command=["true"], floor=[Floor.STRICT_LIMITS])
    with pytest.raises(IsolationFloorNotMet, match="processes by rlimit"):
        await run_job(spec, CLUSTER, tmp_path / "results")
    shared = Cluster(image="i", runtime_class="")
    spec = SandboxSpec.create(command=["true"], floor=[Floor.OWN_KERNEL])
    with pytest.raises(IsolationFloorNotMet, match="kernel"):
        await run_job(spec, shared, tmp_path / "results")
    assert not (cluster.home / "calls").exists()


async def test_without_kubectl_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxUnavailable, match="kubectl is not installed"):
        await run(tmp_path)


def test_a_hostile_archive_gives_plain_files_alone(tmp_path: Path) -> None:
    archive = tmp_path / "work.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("good.txt", "../out.txt", "/etc/passwd", "a/../../b", "a\nb", ".ssh/key"):
            member = tarfile.TarInfo(name)
            member.size = 4
            tar.addfile(member, io.BytesIO(b"data"))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(f"kind{kind.decode()}")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
    found = collect_tar(archive, tmp_path / "taken", Limits())
    assert [artifact.path for artifact in found.artifacts] == ["good.txt"]
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["0"]
    assert len(found.rejected) == 8
    assert list(tmp_path.glob("*.txt")) == []


def test_an_archive_that_breaks_off_is_incomplete(tmp_path: Path) -> None:
    archive = tmp_path / "work.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("a", "b"):
            member = tarfile.TarInfo(name)
            member.size = 100_000
            tar.addfile(member, io.BytesIO(bytes(100_000)))
    archive.write_bytes(archive.read_bytes()[:150_000])
    found = collect_tar(archive, tmp_path / "taken", Limits())
    assert [artifact.path for artifact in found.artifacts] == ["a"]
    assert not found.complete
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["0"]
    (tmp_path / "empty.tar").touch()
    with pytest.raises(SandboxLost, match="no archive"):
        collect_tar(tmp_path / "empty.tar", tmp_path / "none", Limits())
