"""The gvisor backend, really run where runsc is installed."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from basanite.errors import IsolationFloorNotMet, PolicyError, SandboxLost
from basanite.sandboxes import Floor, SandboxSpec, Status, open_sandbox, probe
from basanite.sandboxes._cgroup_find import find_groups
from basanite.sandboxes._gvisor import Gvisor
from support.attacks import BORDERS, CHILDREN, FORKS
from support.container_engines import is_root, need, opened, settled


@pytest.fixture
def gvisor(monkeypatch: pytest.MonkeyPatch) -> str:
    return need("gvisor", monkeypatch)


async def test_runs_code_in_a_kernel_of_its_own(gvisor: str) -> None:
    async with opened(gvisor, environment={"GIVEN": "yes"}) as sandbox:
        await sandbox.upload("in/data.txt", b"21")
        result = await sandbox.execute(
            code="import os, sys, threading\n"
            "print(2 * int(open('in/data.txt').read()), os.getcwd(), sys.stdin.read())\n"
            "print(os.environ['GIVEN'], open('/proc/version').read().split()[2])\n"
            "thread = threading.Thread(target=print, args=('thread',))\n"
            "thread.start(); thread.join()\n"
            "os.makedirs('out'); open('out/a.txt', 'w').write('done')\n"
            "os.symlink('/etc/passwd', 'link')\n",
            stdin=b"told",
        )
        assert (await sandbox.execute(["cat", "out/a.txt"])).stdout.text == "done"
    assert result.ok, result.stderr.text
    lines = result.stdout.text.splitlines()
    assert lines[0] == "42 /work told"
    assert lines[1].startswith("yes 4.4")
    assert os.uname().release not in lines[1]
    assert lines[2] == "thread"
    assert result.stderr.text == ""
    assert result.artifact("out/a.txt").size == 4
    assert [rejected.path for rejected in result.rejected] == ["link"]
    assert result.enforced["kernel"].by == "gVisor (own kernel)"


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        (["sh", "-c", "exit 7"], 7, None),
        (["no-such-command"], 127, None),
        (["sh", "-c", "kill -9 $$"], 137, 9),
        (["sh", "-c", "(setsid sleep 300 >/dev/null 2>&1 &) ; exit 128"], 128, None),
    ],
)
async def test_ends_as_the_command_did(
    gvisor: str, command: list[str], code: int, number: int | None
) -> None:
    async with opened(gvisor) as sandbox:
        result = await sandbox.execute(command)
    assert (result.status, result.exit_code, result.signal) == (Status.EXITED, code, number)


async def test_contains_at_every_border(gvisor: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as bait:
        port = bait.getsockname()[1]
        async with opened(gvisor) as sandbox:
            result = await sandbox.execute(["python3", "-c", BORDERS, str(port)])
    assert result.ok, result.stderr.text
    seen = json.loads(result.stdout.text)
    through = [name for name, value in seen.items() if value == "got through"]
    # Without root the code is gVisor's root: what it makes in /dev is in memory.
    assert through == ([] if is_root() else ["makes /dev"])
    assert [name for name, value in seen.items() if name.startswith("sees") and value] == []
    assert seen["unshare"] == seen["mount"] == seen["bpf"] == seen["chroot"] == "EPERM"
    assert seen["bait"] == "ECONNREFUSED"
    assert seen["capabilities"] == ["0000000000000000"] * 3
    assert seen["seccomp"] == "2"
    assert seen["interfaces"] == ["lo"]
    assert seen["pids"] <= 3
    own = {"HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "USER"}
    assert set(seen["variables"]) <= own


@pytest.mark.parametrize("code", ["kept = b'x' * 300_000_000\nprint('lived')", CHILDREN])
async def test_memory_is_limited(gvisor: str, code: str) -> None:
    async with opened(gvisor, limits={"memory_mb": 160, "wall_s": 20}) as sandbox:
        result = await sandbox.execute(code=code)
    assert result.status is Status.OUT_OF_MEMORY
    assert result.limits_hit == ("memory",)
    assert "lived" not in result.stdout.text
    assert result.usage.peak_memory_bytes is not None
    # A watchdog sees it a moment late.
    most = 160 if find_groups().maker is not None else 320
    assert 150 * 2**20 < result.usage.peak_memory_bytes <= most * 2**20 + 2**14


async def test_number_of_processes_is_limited(gvisor: str) -> None:
    async with opened(gvisor, limits={"processes": 20, "wall_s": 20}) as sandbox:
        result = await sandbox.execute(code=FORKS)
    number, made = map(int, result.stdout.text.split())
    assert number == errno.EAGAIN
    assert 15 <= made <= 20
    assert result.usage.peak_processes is None
    assert "reported" in result.enforced["processes"].residual


async def test_files_are_limited(gvisor: str) -> None:
    code = """
import errno
def tell(name, call):
    try:
        call()
    except OSError as error:
        print(name, errno.errorcode[error.errno])
    else:
        print(name, "unlimited")
def fill(folder, number, size):
    for n in range(number):
        with open(f"{folder}/{size}-{n}", "wb") as file:
            file.write(b"x" * size)
tell("file", lambda: fill("/work", 1, 3_000_000))
for place in ("/tmp", "/dev/shm", "/work"):
    tell(place, lambda: fill(place, 20, 1_000_000))
tell("inodes", lambda: fill("/work", 100, 0))
"""
    limits = {"disk_mb": 8, "file_mb": 2, "tmp_mb": 4, "inodes": 40, "wall_s": 20}
    async with opened(gvisor, limits=limits) as sandbox:
        result = await sandbox.execute(code=code)
    assert result.stdout.text.splitlines() == [
        "file EFBIG", "/tmp ENOSPC", "/dev/shm ENOSPC", "/work ENOSPC", "inodes ENOSPC"
    ]  # fmt: skip
    assert set(result.limits_hit) == {"disk", "inodes"}


async def test_what_lies_in_its_own_dev_is_memory(gvisor: str) -> None:
    code = """
with open("/dev/fill", "wb", buffering=0) as file:
    for _ in range(400):
        file.write(b"x" * 2**20)
print("lived")
"""
    async with opened(gvisor, limits={"memory_mb": 160, "file_mb": 500, "wall_s": 20}) as sandbox:
        result = await sandbox.execute(code=code)
    assert "lived" not in result.stdout.text
    if is_root():
        assert "Permission denied" in result.stderr.text
    else:
        assert result.status is Status.OUT_OF_MEMORY


async def test_at_its_deadline_files_are_kept(gvisor: str) -> None:
    code = (
        "import signal, time\n"
        "for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n"
        "open('partial.txt', 'w').write('half')\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    async with opened(gvisor, limits={"wall_s": 2}) as sandbox:
        began = time.monotonic()
        result = await sandbox.execute(code=code)
        assert time.monotonic() - began < 8
    assert result.status is Status.TIMEOUT
    assert (result.stdout.text, result.stderr.text) == ("ready\n", "")
    assert result.artifact("partial.txt").size == 4


async def test_a_flood_and_a_loop_are_cut(gvisor: str) -> None:
    limits = {"log_mb": 1, "on_output_limit": "kill", "wall_s": 30, "cpu_s": 1}
    async with opened(gvisor, limits=limits) as sandbox:
        result = await sandbox.execute(["sh", "-c", "yes"])
        assert result.status is Status.OUTPUT_LIMIT
        result = await sandbox.execute(["sh", "-c", "while :; do :; done"])
    assert result.status is Status.CPU_TIME or result.exit_code in (137, 152)
    assert result.usage.wall_s < 15


async def test_inputs_are_seen_and_not_changed(gvisor: str, tmp_path: Path) -> None:
    data = tmp_path / "hidden" / "data"
    data.mkdir(parents=True)
    data.parent.chmod(0o700)
    (data / "a.txt").write_text("kept")
    (data / "a.txt").chmod(0o666)
    data.chmod(0o777)
    mounts = [
        {"source": str(data), "target": "/inputs"},
        {"source": str(data / "a.txt"), "target": "/data/one/a.txt"},
    ]
    script = "cat /inputs/a.txt /data/one/a.txt; touch /inputs/b; : >> /inputs/a.txt"
    async with opened(gvisor, mounts=mounts) as sandbox:
        result = await sandbox.execute(["sh", "-c", script])
    assert result.stdout.text == "keptkept"
    assert result.stderr.text.count("Read-only file system") == 2
    assert [file.name for file in data.iterdir()] == ["a.txt"]


async def test_a_stop_ends_it(gvisor: str) -> None:
    async with opened(gvisor) as sandbox:
        work = asyncio.ensure_future(sandbox.execute(["sh", "-c", "echo a; sleep 300"]))
        await asyncio.sleep(0.6)
        sandbox.stop()
        assert (await work).status is Status.CANCELLED


_SUPERVISOR = """
import asyncio
from basanite.sandboxes import SandboxSpec, open_sandbox
async def main():
    sandbox = await open_sandbox(SandboxSpec.create(), backend="gvisor")
    print(sandbox._folder.id, flush=True)
    async for event in sandbox.stream(["sh", "-c", "echo runs; sleep 300"]):
        print(event.kind, flush=True)
asyncio.run(main())
"""


def test_a_killed_supervisor_leaves_nothing_after_the_next_start(gvisor: str) -> None:
    from basanite.sandboxes import reap

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", _SUPERVISOR], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        identity = process.stdout.readline().strip()
        assert [process.stdout.readline() for _ in "ab"] == ["started\n", "chunk\n"]
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert identity in reap()
    assert settled(identity) == []


async def test_floors(gvisor: str) -> None:
    report = (await probe([gvisor])).backends[0]
    assert Floor.OWN_KERNEL in report.floors
    spec = SandboxSpec.create(floor=[Floor.OWN_KERNEL, Floor.STRICT_LIMITS])
    if find_groups().maker is None:
        with pytest.raises(IsolationFloorNotMet, match="memory by watchdog"):
            await open_sandbox(spec, backend=gvisor)
    else:
        async with opened(gvisor, floor=spec.floor) as sandbox:
            assert (await sandbox.execute(["true"])).ok


async def test_a_failure_of_its_own_is_no_result(
    gvisor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gvisor) as sandbox:
        monkeypatch.setattr("basanite.sandboxes._gvisor._FLAGS", ("--network=nonsense",))
        with pytest.raises(SandboxLost, match="gVisor failed"):
            await sandbox.execute(["true"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": {"endpoints": [{"name": "a", "url": "http://127.0.0.1:1/v1"}]}}, "endpoints"),
        ({"gpus": [0]}, "GPUs"),
    ],
)
def test_what_it_cannot_give_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Gvisor().fitted(SandboxSpec.create(**fields))


def test_without_runsc_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("basanite.sandboxes._runtime.missing_tools", list)
    monkeypatch.setenv("PATH", "/nowhere")
    report = Gvisor().report()
    assert not report.available
    assert report.why == "runsc is not installed"
    assert "apt-get install runsc" in report.todo
