"""Control groups: version 1 and 2, on trees of files and on the kernel's own."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from basanite.errors import SandboxLost
from basanite.sandboxes import Limits, Sandbox, Status, _cgroup, _cgroup_find
from basanite.sandboxes._bubblewrap import Bubblewrap
from basanite.sandboxes._cgroup import (
    GroupUsage,
    V1Maker,
    V2Maker,
    remove_group,
)
from basanite.sandboxes._cgroup_find import find_groups, look_for_groups
from support.sandboxing import small

LIMITS = Limits(memory_mb=64, processes=10, cpus=1.5)


def _tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")
    return root


def _process(place: Path, mounts: Mapping[str, Path], groups: str) -> Path:
    """Lay out the two files of /proc/self by which groups are found."""
    lines = []
    for number, (kinds, path) in enumerate(mounts.items(), 30):
        kind = "cgroup2" if kinds == "" else "cgroup"
        lines.append(f"{number} 25 0:{number} / {path} rw,nosuid shared:9 - {kind} none rw,{kinds}")
    # One that has nothing to do with groups, and one that is cut off.
    lines += ["22 25 0:20 / /proc rw - proc proc rw", "1 2 3"]
    text = "".join(f"{line}\n" for line in lines)
    return _tree(place, {"mountinfo": text, "cgroup": groups})


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a plain folder take for a group: the kernel makes the files of a new one by itself."""
    whole = Path.mkdir

    def made(path: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        whole(path, mode, parents, exist_ok)
        if path.name.startswith("basanite-"):
            for name in (
                *("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max"),
                *("cgroup.procs", "cgroup.kill", "memory.limit_in_bytes", "cpu.cfs_period_us"),
                *("memory.memsw.limit_in_bytes", "cpu.cfs_quota_us", "tasks"),
            ):
                (path / name).touch()

    def removed(path: Path) -> None:
        for file in path.iterdir():
            file.unlink()
        os.rmdir(path)  # noqa: PTH106 (that is what is replaced)

    monkeypatch.setattr(Path, "mkdir", made)
    monkeypatch.setattr(Path, "rmdir", removed)


DELEGATED = {
    "cgroup.controllers": "cpuset cpu io memory pids\n",
    "cgroup.subtree_control": "cpu memory pids\n",
}


def test_version_2_is_taken_where_its_controllers_are_handed_down(tmp_path: Path) -> None:
    own = _tree(tmp_path / "unified" / "user" / "app", DELEGATED)
    process = _process(tmp_path / "proc", {"": tmp_path / "unified"}, "0::/user/app\n")
    found = look_for_groups(process)
    assert found.maker == V2Maker(own)
    assert found.why == str(own)
    assert [path.name for path in own.iterdir() if path.is_dir()] == []


def test_a_variable_names_another_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = _tree(tmp_path / "unified" / "batch", DELEGATED)
    monkeypatch.setenv("BASANITE_CGROUP", str(named))
    process = _process(tmp_path / "proc", {"": tmp_path / "unified"}, "0::/user\n")
    assert look_for_groups(process).maker == V2Maker(named)


@pytest.mark.parametrize(
    ("controllers", "reason"),
    [("hugetlb", "v2: the controllers cpu, memory, pids are not there"),
     ("cpu memory", "v2: the controllers pids are not there")],
)  # fmt: skip
def test_without_controllers_it_says_what_is_missing(
    tmp_path: Path, controllers: str, reason: str
) -> None:
    _tree(tmp_path / "unified", {**DELEGATED, "cgroup.controllers": controllers})
    process = _process(tmp_path / "proc", {"": tmp_path / "unified"}, "0::/\n")
    found = look_for_groups(process)
    assert found.maker is None
    assert reason in found.why
    assert "v1: the controllers memory, pids, cpu, cpuacct are not there" in found.why


def test_controllers_are_handed_down_where_that_is_allowed(tmp_path: Path) -> None:
    own = _tree(tmp_path / "unified", {**DELEGATED, "cgroup.subtree_control": ""})
    process = _process(tmp_path / "proc", {"": own}, "0::/\n")
    assert look_for_groups(process).maker == V2Maker(own)
    assert (own / "cgroup.subtree_control").read_text("ascii") == "+memory +pids +cpu"


@pytest.mark.parametrize("delegated", [True, False])
def test_a_group_with_processes_hands_down_after_they_have_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delegated: bool
) -> None:
    own = _tree(
        tmp_path / "unified",
        {**DELEGATED, "cgroup.subtree_control": "", "cgroup.procs": "41\n42\n"},
    )
    leaf = own / "basanite-supervisor"
    written: list[tuple[str, str]] = []

    def write(path: Path, value: str | int) -> None:
        if path.name == "cgroup.subtree_control" and not leaf.exists():
            raise OSError(errno.EBUSY, "busy")
        written.append((str(path.relative_to(own)), str(value)))

    def attribute(path: Path, name: str) -> bytes:
        if delegated and name == "user.delegate":
            return b"1"
        raise OSError(errno.ENODATA, "none")

    monkeypatch.setattr(_cgroup_find, "write", write)
    monkeypatch.setattr(os, "getxattr", attribute)
    found = look_for_groups(_process(tmp_path / "proc", {"": own}, "0::/\n"))
    if delegated:
        assert found.maker == V2Maker(own)
        moved = "basanite-supervisor/cgroup.procs"
        assert written == [
            (moved, "41"),
            (moved, "42"),
            ("cgroup.subtree_control", "+memory +pids +cpu"),
        ]
    else:
        assert found.maker is None
        assert "is not delegated to this user (busy)" in found.why
        assert not leaf.exists()
    # The second process that looks is in the leaf already.
    if delegated:
        (own / "cgroup.subtree_control").write_text("cpu memory pids", "ascii")
        process = _process(tmp_path / "proc", {"": own}, "0::/basanite-supervisor\n")
        assert look_for_groups(process).maker == V2Maker(own)


V1_MOUNTS = {"memory": "memory", "pids": "pids", "cpu,cpuacct": "cpu"}
V1_OWN = "9:memory:/docker/ab\n8:pids:/docker/ab\n7:cpu,cpuacct:/docker/ab\n0::/\n"


@pytest.mark.parametrize("inside", [True, False], ids=["on the host", "in a container"])
def test_version_1(tmp_path: Path, inside: bool) -> None:
    mounts = {kinds: tmp_path / name for kinds, name in V1_MOUNTS.items()}
    for path in mounts.values():
        (path / "docker" / "ab" if inside else path).mkdir(parents=True)
    found = look_for_groups(_process(tmp_path / "proc", mounts, V1_OWN))
    tail = "docker/ab" if inside else ""
    assert isinstance(found.maker, V1Maker)
    assert found.maker.parents == {
        "memory": tmp_path / "memory" / tail,
        "pids": tmp_path / "pids" / tail,
        "cpu": tmp_path / "cpu" / tail,
        "cpuacct": tmp_path / "cpu" / tail,
    }
    # Two controllers in one hierarchy share a folder.
    assert len(found.maker.paths("x")) == 3


@pytest.mark.parametrize("name", ["memory", "cpu"])
def test_version_1_that_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    mounts = {kinds: tmp_path / place for kinds, place in V1_MOUNTS.items()}
    for path in mounts.values():
        path.mkdir()
    whole = Path.mkdir

    def refused(
        path: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False
    ) -> None:
        if path.parent.name == name:
            raise PermissionError(errno.EACCES, "Permission denied")
        whole(path, mode, parents, exist_ok)

    monkeypatch.setattr(Path, "mkdir", refused)
    found = look_for_groups(_process(tmp_path / "proc", mounts, V1_OWN))
    assert found.maker is None
    assert f"{tmp_path / name} can't be written (Permission denied)" in found.why


def test_limits_are_written_before_anything_is_inside(files: None, tmp_path: Path) -> None:
    group = V2Maker(tmp_path).create("basanite-a", LIMITS, own=2)
    written = {path.name: path.read_text("ascii") for path in (tmp_path / "basanite-a").iterdir()}
    assert {name: text for name, text in written.items() if text} == {
        "memory.max": "67108864",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "12",
        "cpu.max": "150000 100000",
    }
    command = group.joining(["echo", "a b"])
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "a b\n"
    assert (tmp_path / "basanite-a" / "cgroup.procs").read_text("ascii") == "0\n"


def test_limits_of_version_1(files: None, tmp_path: Path) -> None:
    names = ("memory", "pids", "cpu", "cpuacct")
    for name in names:
        (tmp_path / name).mkdir()
    maker = V1Maker({name: tmp_path / name for name in names})
    group = maker.create("basanite-a", LIMITS, own=2)
    written = {
        str(path.relative_to(tmp_path)): path.read_text("ascii")
        for folder in group.paths
        for path in folder.iterdir()
    }
    assert {name: text for name, text in written.items() if text} == {
        "memory/basanite-a/memory.limit_in_bytes": "67108864",
        "memory/basanite-a/memory.memsw.limit_in_bytes": "67108864",
        "pids/basanite-a/pids.max": "12",
        "cpu/basanite-a/cpu.cfs_period_us": "100000",
        "cpu/basanite-a/cpu.cfs_quota_us": "150000",
    }
    subprocess.run(group.joining(["true"]), check=True)
    for name in names:
        assert (tmp_path / name / "basanite-a" / "tasks").read_text("ascii") == "0\n"


def test_a_group_that_can_not_be_joined_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "basanite-a").mkdir()
    group = _cgroup._V2Group(tmp_path / "basanite-a" / "gone", 0)
    done = subprocess.run(
        group.joining(["echo", "ran"]), check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")


def test_counters(files: None, tmp_path: Path) -> None:
    group = V2Maker(tmp_path).create("basanite-a", LIMITS, own=2)
    assert group.usage() == GroupUsage()
    _tree(
        tmp_path / "basanite-a",
        {
            "cpu.stat": "usage_usec 2500000\nuser_usec 1\nodd\n",
            "memory.peak": "1048576\n",
            "memory.events": "low 0\noom 3\noom_kill 2\n",
            "pids.peak": "7\n",
            "pids.events": "max 4\n",
        },
    )
    assert group.usage() == GroupUsage(2.5, 1_048_576, 5, 2, 4)


def test_a_group_half_made_is_removed(tmp_path: Path) -> None:
    # A plain folder has none of the files.
    with pytest.raises(SandboxLost, match=r"basanite-a: a control group can't be made"):
        V2Maker(tmp_path).create("basanite-a", LIMITS)
    assert not (tmp_path / "basanite-a").exists()


def test_a_group_that_stays_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path / "basanite-a", {"cgroup.procs": ""})
    monkeypatch.setattr(_cgroup, "_REMOVE_S", 0.05)
    with pytest.raises(SandboxLost, match=r"can't be removed.*state D"):
        remove_group(tmp_path / "basanite-a")
    remove_group(tmp_path / "not-there")


UNIFIED = next(
    (
        Path(line.split()[4])
        for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
        if " - cgroup2 " in line
    ),
    None,
)


@pytest.fixture
def unified(monkeypatch: pytest.MonkeyPatch) -> Iterator[V2Maker]:
    """The kernel's own hierarchy of version 2, with only those controllers that are there."""
    if UNIFIED is None or not os.access(UNIFIED, os.W_OK):
        pytest.skip("the unified hierarchy of control groups can't be written by this user")
    parent = UNIFIED / f"basanite-test-{os.getpid()}"
    parent.mkdir()
    whole = _cgroup.write

    def write(path: Path, value: str | int) -> None:
        if path.exists() or path.name.startswith("cgroup."):
            whole(path, value)

    monkeypatch.setattr(_cgroup, "write", write)
    try:
        yield V2Maker(parent)
    finally:
        for folder in (*parent.glob("basanite-*"), parent):
            remove_group(folder)


def test_killing_a_group_of_version_2(unified: V2Maker) -> None:
    group = unified.create("basanite-a", LIMITS)
    code = (
        "import os, time\n"
        "for _ in range(2):\n"
        "    if os.fork() == 0: os.setsid()\n"
        "os.write(1, b'up\\n'); time.sleep(20)"
    )
    with subprocess.Popen(
        group.joining([sys.executable, "-c", code]), stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(4)] == [b"up\n"] * 4
            inside = (unified.parent / "basanite-a" / "cgroup.procs").read_text("ascii").split()
            assert len(inside) == 4
            assert str(process.pid) in inside
        finally:
            group.kill()
        assert process.wait(5) == -9
        # Nobody is left who could write.
        assert process.stdout.read() == b""
    group.remove()
    assert not (unified.parent / "basanite-a").exists()


def test_a_process_can_be_put_into_a_group(unified: V2Maker) -> None:
    group = unified.create("basanite-a", LIMITS)
    with subprocess.Popen(["sleep", "60"]) as process:
        group.add(process.pid)
        assert "/basanite-a\n" in Path(f"/proc/{process.pid}/cgroup").read_text("ascii")
        began = time.monotonic()
        group.remove()  # kills what is inside first
        assert process.wait(5) == -9
        assert time.monotonic() - began < 5


async def test_a_sandbox_in_a_group_of_version_2(needs_bubblewrap: None, unified: V2Maker) -> None:
    runtime, spec = Bubblewrap(), small(limits={"wall_s": 0.5})
    enforced = runtime.enforcement(spec, unified)
    assert enforced["memory"].by == "cgroup-v2"
    seen: list[str] = []

    def look(_: object) -> None:
        for group in unified.parent.glob("basanite-*"):
            seen.append((group / "cgroup.procs").read_text("ascii"))

    async with await Sandbox(runtime, spec, unified, enforced).open() as sandbox:
        result = await sandbox.execute(
            ["sh", "-c", "setsid sleep 60 & echo up; sleep 60"], on_event=look
        )
    assert result.status is Status.TIMEOUT
    assert max(len(text.split()) for text in seen) >= 3
    assert list(unified.parent.glob("basanite-*")) == []


def test_what_is_found_here_is_found_once() -> None:
    assert find_groups() is find_groups()
    assert find_groups() == look_for_groups(Path("/proc/self"))
