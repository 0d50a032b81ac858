"""What is left of sandboxes whose supervisor was killed, and who removes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from basanite.sandboxes import reap
from basanite.sandboxes._cgroup_find import find_groups
from basanite.sandboxes._state import Folder, process_mark, state_root
from support.doomed_supervisor import KINDS
from support.leftovers import processes_of

_GONE_S = 5.0


@contextmanager
def _supervisor() -> Iterator[tuple[subprocess.Popen[str], set[str]]]:
    with subprocess.Popen(
        [sys.executable, "-m", "support.doomed_supervisor"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        try:
            assert process.stdout is not None
            word, *ids = process.stdout.readline().split()
            assert word == "ready"
            yield process, set(ids)
        finally:
            process.kill()


def _gone(root: Path) -> list[str]:
    deadline = time.monotonic() + _GONE_S
    while (left := list(processes_of(root))) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def _groups(ids: set[str]) -> list[Path]:
    maker = find_groups().maker
    found = [] if maker is None else [p for i in ids for p in maker.paths(f"basanite-{i}-1")]
    return [path for path in found if path.exists()]


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_removes_the_rest(
    needs_bubblewrap: None, sandbox_root: Path
) -> None:
    with _supervisor() as (process, ids):
        assert len(ids) == len(KINDS)
        # As long as it lives, nobody touches what is its.
        assert reap() == ()
        assert len(list(processes_of(sandbox_root))) > 2 * len(KINDS)
        if find_groups().maker is not None:
            assert _groups(ids)
        process.kill()
        process.wait()
        # By the kernel, before anybody looks after it.
        assert _gone(sandbox_root) == []
        assert {path.name for path in sandbox_root.iterdir()} >= ids
        assert set(reap()) == ids
    assert not {path.name for path in sandbox_root.iterdir()} & ids
    assert _groups(ids) == []
    assert reap() == ()


def test_opening_a_sandbox_reaps_in_passing(needs_bubblewrap: None, sandbox_root: Path) -> None:
    with _supervisor() as (process, ids):
        process.kill()
        process.wait()
    code = (
        "import asyncio\n"
        "from basanite.sandboxes import SandboxSpec, run_sandboxed\n"
        "print(asyncio.run(run_sandboxed(SandboxSpec(command=('true',)))).ok)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stdout == "True\n"
    assert not {path.name for path in sandbox_root.iterdir()} & ids


@pytest.fixture
def orphan() -> Iterator[Path]:
    """A folder as a killed supervisor leaves it: there, and locked by nobody."""
    folder = Folder.create()
    os.close(folder.lock)
    yield folder.path


def _note(folder: Path, **left: object) -> None:
    (folder / "left.json").write_text(json.dumps(left), "utf-8")


def test_only_the_very_process_is_killed(orphan: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other, subprocess.Popen(["sleep", "60"]) as own:
        try:
            pid, started = process_mark(other.pid)
            # As if the number had been given to another process since.
            _note(orphan, processes=[[pid, started - 1], process_mark(own.pid)])
            assert reap() == (orphan.name,)
            assert own.wait(5) == -9
            assert other.poll() is None
        finally:
            other.kill()
            own.kill()


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', '{"processes": [[1]], "groups": 3}'])
def test_notes_that_were_cut_short_hinder_nothing(orphan: Path, text: str) -> None:
    (orphan / "left.json").write_text(text, "utf-8")
    assert reap() == (orphan.name,)
    assert not orphan.exists()


def test_no_group_but_our_own_is_removed(orphan: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    own = tmp_path / "basanite-x-1"
    for folder in (other, own):
        folder.mkdir()
    _note(orphan, groups=[str(other), str(own)])
    reap()
    assert other.exists()
    assert not own.exists()


def test_files_of_any_kind_are_removed(orphan: Path) -> None:
    work = orphan / "work"
    deep = work
    for _ in range(40):
        deep /= "d" * 100
    deep.mkdir(parents=True)
    (work / "link").symlink_to("/")
    os.mkfifo(work / "pipe")
    for name in ("closed", "half"):
        (work / name / "in").mkdir(parents=True)
        (work / name / "in" / "file").touch()
        (work / name / "in").chmod(0)
        (work / name).chmod(0 if name == "closed" else 0o400)
    work.chmod(0)
    reap()
    assert not orphan.exists()


def test_the_folder_of_sandboxes_must_be_its_users_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from basanite.errors import SetupError

    place = tmp_path / "sandboxes"
    monkeypatch.setenv("BASANITE_SANDBOXES", str(place))
    assert state_root() == place
    assert place.stat().st_mode & 0o777 == 0o711
    place.chmod(0o777)
    with pytest.raises(SetupError, match=r"not this user's alone.*BASANITE_SANDBOXES"):
        state_root()
    place.rmdir()
    place.symlink_to(tmp_path)
    with pytest.raises(SetupError, match="not this user's alone"):
        state_root()
