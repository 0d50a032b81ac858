"""The oci backend, really run by each engine that is installed."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import time
from io import BytesIO
from pathlib import Path

import pytest

from basanite.errors import IsolationFloorNotMet, PolicyError, SandboxUnavailable
from basanite.sandboxes import Floor, Limits, SandboxSpec, Status, open_sandbox, probe, reap
from basanite.sandboxes._cgroup_find import find_groups
from basanite.sandboxes._docker import Docker, empty_root
from basanite.sandboxes._holder import Holder, Owner
from basanite.sandboxes._oci import VARIABLE, Oci
from basanite.sandboxes._runtime import Job
from support.attacks import BORDERS, CHILDREN, FORKS
from support.container_engines import is_root, need, opened, settled

ENGINES = ("podman", "runc", "docker")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "podman" and not is_root():
        pytest.skip("podman is used under root alone")
    need(request.param, monkeypatch)
    return str(request.param)


async def test_runs_code_and_gives_back_what_it_left(engine: str) -> None:
    report = (await probe(["oci"])).backends[0]
    assert report.version.startswith(engine)
    async with opened("oci") as sandbox:
        await sandbox.upload("in/data.txt", b"21")
        result = await sandbox.execute(
            code="import os, sys\n"
            "print(2 * int(open('in/data.txt').read()), os.getcwd(), sys.stdin.read())\n"
            "os.makedirs('out'); open('out/a.txt', 'w').write('done')\n"
            "os.symlink('/etc/passwd', 'link')\n",
            stdin=b"told",
        )
    assert result.ok
    assert result.stdout.text == "42 /work told\n"
    assert result.stderr.text == ""
    assert result.artifact("out/a.txt").size == 4
    assert [rejected.path for rejected in result.rejected] == ["link"]
    assert result.backend == "oci"


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        (["sh", "-c", "exit 7"], 7, None),
        (["no-such-command"], 127, None),
        (["sh", "-c", "kill -9 $$"], 137, 9),
        (["sh", "-c", "kill -TERM $$"], 143, 15),
        # What it leaves running ends with it and does not hold up its output.
        (["sh", "-c", "sleep 300 & exit 3"], 3, None),
        (["sh", "-c", "(setsid sleep 300 >/dev/null 2>&1 &) ; exit 4"], 4, None),
    ],
)
async def test_ends_as_the_command_did(
    engine: str, command: list[str], code: int, number: int | None
) -> None:
    async with opened("oci") as sandbox:
        result = await sandbox.execute(command)
    assert (result.status, result.exit_code, result.signal) == (Status.EXITED, code, number)
    if code != 127:
        assert result.stderr.text == ""


async def test_contains_at_every_border(engine: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as bait:
        port = bait.getsockname()[1]
        async with opened("oci", environment={"GIVEN": "yes"}) as sandbox:
            result = await sandbox.execute(["python3", "-c", BORDERS, str(port)])
    assert result.ok, result.stderr.text
    seen = json.loads(result.stdout.text)
    through = [name for name, value in seen.items() if value == "got through"]
    assert through == []
    assert [name for name, value in seen.items() if name.startswith("sees") and value] == []
    assert seen["unshare"] == seen["mount"] == seen["bpf"] == seen["vsock"] == "EPERM"
    assert seen["bait"] == "ECONNREFUSED"
    assert seen["capabilities"] == ["0000000000000000"] * 3
    assert (seen["no_new_privs"], seen["seccomp"]) == ("1", "2")
    assert seen["interfaces"] == ["lo"]
    assert seen["pids"] <= 3
    # 3 is the listing itself.
    assert seen["descriptors"] == [0, 1, 2, 3]
    assert "GIVEN" in seen["variables"]
    own = {"HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "USER"}
    by_podman = {"HOSTNAME", "TERM", "container"}
    assert set(seen["variables"]) - own - by_podman == {"GIVEN"}


async def test_memory_of_one_process_is_limited(engine: str) -> None:
    async with opened("oci", limits={"memory_mb": 96, "wall_s": 20}) as sandbox:
        result = await sandbox.execute(code="kept = b'x' * 300_000_000\nprint('lived')")
    assert "lived" not in result.stdout.text
    if find_groups().maker is not None:
        assert result.status is Status.OUT_OF_MEMORY
        assert result.limits_hit == ("memory",)
        assert result.usage.peak_memory_bytes == 96 * 2**20
    else:
        assert "MemoryError" in result.stderr.text


async def test_memory_of_all_processes_together_is_limited(engine: str) -> None:
    async with opened("oci", limits={"memory_mb": 96, "wall_s": 20}) as sandbox:
        result = await sandbox.execute(code=CHILDREN)
    assert result.status is Status.OUT_OF_MEMORY
    assert "lived" not in result.stdout.text


async def test_number_of_processes_is_limited(engine: str) -> None:
    async with opened("oci", limits={"processes": 20, "wall_s": 20}) as sandbox:
        result = await sandbox.execute(code=FORKS)
    number, made = map(int, result.stdout.text.split())
    assert number == errno.EAGAIN
    assert 15 <= made <= 20
    if find_groups().maker is not None:
        assert "processes" in result.limits_hit
        assert result.usage.peak_processes == 20


async def test_files_are_limited(engine: str) -> None:
    code = """
import errno, os
def tell(name, call):
    try:
        call()
    except OSError as error:
        print(name, errno.errorcode[error.errno])
    else:
        print(name, "unlimited")
def many():
    for n in range(100):
        os.mkfifo(f"f{n}")
def fill(folder):
    for n in range(20):
        with open(f"{folder}/{n}", "wb") as file:
            file.write(b"x" * 1_000_000)
tell("file", lambda: open("large", "wb").write(b"x" * 3_000_000))
os.unlink("large")
for place in ("/tmp", "/dev/shm", "/work"):
    tell(place, lambda: fill(place))
tell("inodes", many)
"""
    limits = {"disk_mb": 8, "file_mb": 2, "tmp_mb": 4, "inodes": 40, "wall_s": 20}
    async with opened("oci", limits=limits) as sandbox:
        result = await sandbox.execute(code=code)
    lines = result.stdout.text.splitlines()
    assert lines[0] == "file EFBIG"
    assert lines[1:3] == ["/tmp ENOSPC", "/dev/shm ENOSPC"]
    if engine != "docker":
        assert lines[3:] == ["/work ENOSPC", "inodes ENOSPC"]
        assert set(result.limits_hit) == {"disk", "inodes"}


async def test_at_its_deadline_files_are_kept(engine: str) -> None:
    code = (
        "import signal, time\n"
        "for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n"
        "open('partial.txt', 'w').write('half')\n"
        "time.sleep(60)"
    )
    async with opened("oci", limits={"wall_s": 1.5}) as sandbox:
        began = time.monotonic()
        result = await sandbox.execute(code=code)
        assert time.monotonic() - began < 8
        assert result.status is Status.TIMEOUT
        assert result.artifact("partial.txt").size == 4
        # The sandbox is not spent.
        assert (await sandbox.execute(["cat", "partial.txt"])).stdout.text == "half"


async def test_a_flood_of_output_is_cut(engine: str) -> None:
    limits = {"log_mb": 1, "on_output_limit": "kill", "wall_s": 30, "output_bytes": 1000}
    async with opened("oci", limits=limits) as sandbox:
        result = await sandbox.execute(["sh", "-c", "yes"])
    assert result.status is Status.OUTPUT_LIMIT
    assert len(result.stdout.text) < 1200


async def test_cpu_time_is_limited(engine: str) -> None:
    async with opened("oci", limits={"cpu_s": 1, "wall_s": 30, "cpus": 1}) as sandbox:
        result = await sandbox.execute(["sh", "-c", "while :; do :; done"])
    assert result.status is Status.CPU_TIME or result.exit_code in (137, 152)
    assert result.usage.wall_s < 15


async def test_inputs_are_seen_and_not_changed(engine: str, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    data = hidden / "data"
    data.mkdir()
    (data / "a.txt").write_text("kept")
    (data / "a.txt").chmod(0o666)
    data.chmod(0o777)
    mounts = [
        {"source": str(data), "target": "/inputs"},
        {"source": str(data / "a.txt"), "target": "/data/one/a.txt"},
    ]
    async with opened("oci", mounts=mounts) as sandbox:
        result = await sandbox.execute(
            ["sh", "-c", "cat /inputs/a.txt /data/one/a.txt; touch /inputs/b; : >> /inputs/a.txt"]
        )
    assert result.stdout.text == "keptkept"
    assert result.stderr.text.count("Read-only file system") == 2
    assert [file.name for file in data.iterdir()] == ["a.txt"]


async def test_many_side_by_side(engine: str) -> None:
    import asyncio

    async with opened("oci") as sandbox:
        results = await asyncio.gather(
            *(sandbox.execute(["sh", "-c", f"sleep 0.2; exit {n}"]) for n in range(4))
        )
    assert [result.exit_code for result in results] == [0, 1, 2, 3]


_SUPERVISOR = """
import asyncio, sys
from basanite.sandboxes import SandboxSpec, open_sandbox
async def main():
    sandbox = await open_sandbox(SandboxSpec.create(), backend="oci")
    print(sandbox._folder.id, flush=True)
    async for event in sandbox.stream(["sh", "-c", "echo runs; sleep 300"]):
        print(event.kind, flush=True)
asyncio.run(main())
"""


def test_a_killed_supervisor_leaves_nothing_after_the_next_start(engine: str) -> None:
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, *filter(None, sys.path)])}
    with subprocess.Popen(
        [sys.executable, "-c", _SUPERVISOR], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        identity = process.stdout.readline().strip()
        assert process.stdout.readline() == "started\n"
        assert process.stdout.readline() == "chunk\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    if engine == "runc":
        # Its processes end at once, without a reaper.
        deadline = time.monotonic() + 5
        while (left := _processes(identity)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == []
    assert identity in reap()
    assert settled(identity) == []


def _processes(identity: str) -> list[str]:
    from support.container_engines import traces

    return [trace for trace in traces(identity) if trace.startswith("process")]


async def test_floors(engine: str) -> None:
    strict = SandboxSpec.create(floor=[Floor.STRICT_LIMITS])
    if find_groups().maker is None or engine == "docker":
        with pytest.raises(IsolationFloorNotMet, match=r"memory|disk"):
            await open_sandbox(strict, backend="oci")
    else:
        async with opened("oci", floor=[Floor.STRICT_LIMITS]) as sandbox:
            assert (await sandbox.execute(["true"])).ok
    with pytest.raises(IsolationFloorNotMet, match="kernel is the host's"):
        await open_sandbox(SandboxSpec.create(floor=[Floor.OWN_KERNEL]), backend="oci")


def test_a_wrong_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "rkt")
    report = Oci().report()
    assert not report.available
    assert "rkt" in report.why
    assert "podman, runc, docker" in report.todo


def test_without_any_engine_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    tools = "/nowhere"
    monkeypatch.setattr("basanite.sandboxes._runtime.missing_tools", list)
    monkeypatch.setenv("PATH", tools)
    report = Oci().report()
    assert not report.available
    assert "runc is not installed" in report.why
    assert "apt-get install" in report.todo


def _job(tmp_path: Path, **fields: object) -> Job:
    work = tmp_path / "work"
    work.mkdir()
    return Job(
        name="basanite-abc-1",
        arguments=("python3", "-c", "print(1)"),
        environment={"HOME": "/work", "TOKEN": "a=b"},
        spec=SandboxSpec.create(**fields),
        limits=Limits(memory_mb=100, processes=10, cpus=1.5, open_files=64, tmp_mb=8, disk_mb=4),
        folder=tmp_path,
        holder=Holder(Owner(61_005, dropped=True), work),
        group=None,
    )


@pytest.fixture
def docker_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of docker's name: only what it would be asked for is looked at."""
    program = tmp_path / "bin" / "docker"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


def test_docker_is_asked_for_the_same_policy(docker_program: Path, tmp_path: Path) -> None:
    job = _job(tmp_path, mounts=[{"source": str(tmp_path), "target": "/inputs"}])
    command = Docker().command(job, tmp_path / "gate")
    text = " ".join(command)
    for wanted in (
        f"{docker_program} run --rm --pull never",
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        f"--security-opt seccomp={tmp_path / 'seccomp.json'}",
        "--memory 100m --memory-swap 100m --pids-limit 12 --cpus 1.5",
        "--ulimit nofile=64:64",
        "--ulimit core=0:0",
        f"--shm-size {8 * 2**20}b --tmpfs /tmp:rw,nosuid,nodev,mode=1777,size={8 * 2**20}",
        "--user 61005:61005",
        "--env TOKEN=a=b",
        f"type=bind,source={tmp_path},target=/inputs,bind-propagation=private,readonly",
        f"type=bind,source={tmp_path / 'work'},target=/work,bind-propagation=private --mount",
        "type=bind,source=/usr,target=/usr,bind-propagation=private,readonly",
    ):
        assert wanted in text
    assert command[-3:] == ["python3", "-c", "print(1)"]
    assert "--privileged" not in command
    rules = json.loads((tmp_path / "seccomp.json").read_text())
    denied = {name for rule in rules["syscalls"] if "args" not in rule or not rule["args"]
              for name in rule["names"]}  # fmt: skip
    assert {"mount", "ptrace", "unshare", "bpf", "io_uring_setup"} <= denied


def test_docker_gives_no_endpoints(docker_program: Path, tmp_path: Path) -> None:
    endpoint = {"name": "judge", "url": "http://127.0.0.1:8000/v1"}
    job = _job(tmp_path, network={"endpoints": [endpoint]})
    with pytest.raises(PolicyError, match="endpoints"):
        Docker().command(job, tmp_path / "gate")


def test_paths_that_an_option_cannot_hold_are_refused(docker_program: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a,b"
    odd.mkdir()
    job = _job(tmp_path, mounts=[{"source": str(odd), "target": "/inputs"}])
    with pytest.raises(PolicyError, match="comma"):
        Docker().command(job, tmp_path / "gate")


def test_docker_keeps_the_work_folder_on_disk_and_says_so(
    docker_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "docker")
    backend = Oci()
    spec = SandboxSpec.create()
    assert backend.fitted(spec).workdir == "disk"
    enforced = backend.enforcement(spec, None)
    assert enforced["disk"].by == "watchdog"
    assert enforced["memory"].by == "docker's cgroup"
    monkeypatch.setenv(VARIABLE, "runc")
    assert Oci().fitted(spec).workdir == "memory"


def test_a_daemon_that_does_not_answer_is_no_engine(docker_program: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="docker fails"):
        Docker().version()


def test_the_empty_image_has_only_folders_and_links() -> None:
    with tarfile.open(fileobj=BytesIO(empty_root())) as archive:
        files = [member for member in archive if member.isfile()]
        assert [member.name for member in files] == ["run/basanite/gate"]
        assert archive.getmember("tmp").mode == 0o1777
