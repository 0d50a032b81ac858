"""Files that come out of a work folder, and those that go in."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import ArtifactRejected, PolicyError
from basanite.sandboxes import Limits, Rejected
from basanite.sandboxes._collect import (
    MAX_DEPTH,
    Collected,
    bad_name,
    collect,
    keep_artifacts,
    printable,
)
from support.sandboxing import opened


def _collected(folder: Path, **limits: object) -> Collected:
    chosen = Limits.model_validate(limits)
    return collect(folder / "work", folder / "out", chosen)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_files_come_with_their_checksum(work: Path) -> None:
    (work / "sub").mkdir()
    data = os.urandom(3_000_000)
    (work / "sub" / "data.bin").write_bytes(data)
    (work / "empty").touch()
    found = _collected(work.parent)
    assert found.complete
    assert found.rejected == []
    empty, large = found.artifacts
    assert (empty.path, empty.size) == ("empty", 0)
    assert empty.sha256 == hashlib.sha256(b"").hexdigest()
    assert (large.path, large.size) == ("sub/data.bin", 3_000_000)
    assert large.sha256 == hashlib.sha256(data).hexdigest()
    assert large.file is not None
    assert large.file.read_bytes() == data
    # Under a name of ours, without the rights that the code gave it.
    assert large.file.name == "1"
    assert large.file.stat().st_mode & 0o111 == 0


def test_what_is_no_regular_file_is_named_and_not_opened(work: Path) -> None:
    secret = work.parent / "secret.txt"
    secret.write_text("secret", "utf-8")
    (work / "link").symlink_to(secret)
    (work / "folder").symlink_to(work.parent)
    (work / "broken").symlink_to("nowhere")
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        before = Path.cwd()
        os.chdir(work)  # the path of a socket is short
        try:
            listener.bind("socket")
        finally:
            os.chdir(before)
    found = _collected(work.parent)
    assert found.artifacts == []
    reasons = {rejected.path: rejected.reason for rejected in found.rejected}
    link = "a symbolic link: only regular files are taken"
    assert reasons == {
        "link": link,
        "folder": link,
        "broken": link,
        "pipe": "a pipe: only regular files are taken",
        "socket": "a socket: only regular files are taken",
    }


def test_hidden_folders_and_caches_are_left_out(work: Path) -> None:
    for name in (".cache", "__pycache__", "sub"):
        (work / name).mkdir()
        (work / name / "x").touch()
    (work / ".hidden").touch()
    found = _collected(work.parent)
    assert [a.path for a in found.artifacts] == [".hidden", "sub/x"]
    assert {r.path for r in found.rejected} == {".cache", "__pycache__"}


def test_number_size_and_depth_are_bounded(work: Path) -> None:
    for number in range(4):
        (work / f"{number}").write_bytes(b"x" * 600_000)
    deep = work.joinpath(*["d"] * (MAX_DEPTH + 3))
    deep.mkdir(parents=True)
    (deep / "x").touch()
    found = _collected(work.parent, artifacts=3, artifacts_mb=1)
    assert [a.path for a in found.artifacts] == ["0"]
    assert [r.reason for r in found.rejected] == [
        *["the files together exceed 1 MB"] * 3,
        f"deeper than {MAX_DEPTH} folders",
    ]
    found = collect(work, work.parent / "again", Limits(artifacts=3, artifacts_mb=100))
    assert [a.path for a in found.artifacts] == ["0", "1", "2"]
    assert found.rejected[0] == Rejected(path="3", reason="more than 3 files")


def test_a_list_that_was_cut_says_so(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        (work / f"{number}").touch()
    monkeypatch.setattr("basanite.sandboxes._collect._MAX_VISITED", 5)
    assert not _collected(work.parent).complete
    monkeypatch.setattr("basanite.sandboxes._collect._MAX_VISITED", 50)
    monkeypatch.setattr("basanite.sandboxes._collect._MAX_REJECTED", 5)
    found = collect(work, work.parent / "again", Limits(artifacts=1))
    assert not found.complete
    assert len(found.rejected) == 5


def test_a_link_put_in_a_closed_files_place_is_not_followed(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another execution in the same sandbox may change what is looked at."""
    victim = work.parent / "victim"
    victim.write_text("secret", "utf-8")
    victim.chmod(0o600)
    (work / "x").touch()
    (work / "x").chmod(0o077)
    whole = os.open

    def swapped(path: object, flags: int, *more: object, **options: object) -> int:
        if path == "x" and not (work / "x").is_symlink():
            (work / "x").unlink()
            (work / "x").symlink_to(victim)
        return whole(path, flags, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swapped)
    found = _collected(work.parent)
    assert found.artifacts == []
    assert [r.path for r in found.rejected] == ["x"]
    assert victim.stat().st_mode & 0o777 == 0o600


def test_a_file_that_grows_is_not_taken_and_spoils_no_other(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a").write_bytes(b"a" * 100)
    (work / "b").write_bytes(b"b")
    whole = os.read
    grown = False

    def growing(descriptor: int, size: int) -> bytes:
        nonlocal grown
        if not grown:
            grown = True
            return b"a" * (2 << 20)
        return whole(descriptor, size)

    monkeypatch.setattr(os, "read", growing)
    found = _collected(work.parent, artifacts_mb=1)
    assert [r.path for r in found.rejected] == ["a"]
    assert "grew while it was read" in found.rejected[0].reason
    (kept,) = found.artifacts
    assert kept.file is not None
    assert (kept.path, kept.file.read_bytes()) == ("b", b"b")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("plain name.txt", None),
        ("ä€.csv", None),
        ("-rf", None),
        ("new\nline", "its name holds a control character"),
        ("esc\x1b[2J", "its name holds a control character"),
        ("rtl\u202etxt.exe", "its name holds a control character"),
        ("zero\u200bwidth", "its name holds a control character"),
        ("bad\udcff", "its name is not UTF-8"),
        ("private\ue000", "its name holds a control character"),
    ],
)
def test_names(name: str, reason: str | None) -> None:
    assert bad_name(name) == reason


@settings(database=None, deadline=None)
@given(st.text())
def test_what_is_shown_can_be_printed(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable() or shown == ""
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text


def test_files_are_kept_under_their_names(work: Path) -> None:
    (work / "a").mkdir()
    (work / "a" / "b.txt").write_text("b", "utf-8")
    found = _collected(work.parent)
    (kept,) = keep_artifacts(found.artifacts, work.parent / "mine")
    assert kept == work.parent / "mine" / "a" / "b.txt"
    assert kept.read_text("utf-8") == "b"


async def test_a_result_gives_a_file_or_says_why_not(needs_bubblewrap: None) -> None:
    code = "import os; open('a', 'w').write('x'); os.symlink('/etc/passwd', 'b')"
    async with opened() as sandbox:
        result = await sandbox.execute(code=code)
        assert result.artifact("a").size == 1
        with pytest.raises(ArtifactRejected, match="artifact b: the file was not taken: a symb"):
            result.artifact("b")
        with pytest.raises(ArtifactRejected, match="artifact c: the execution left no such file"):
            result.artifact("c")
        skipped = await sandbox.execute(["true"], collect=False)
        assert (skipped.artifacts, skipped.rejected) == ((), ())


@pytest.mark.parametrize("workdir", ["memory", "disk"])
async def test_uploads(needs_bubblewrap: None, workdir: str) -> None:
    async with opened(workdir=workdir) as sandbox:
        await sandbox.upload("a/b/c.bin", bytes(range(256)))
        await sandbox.upload("a/b/c.bin", b"again")
        await sandbox.upload("run.sh", b"echo ran")
        code = (
            "import os\n"
            "for p in ('a', 'a/b', 'a/b/c.bin', 'run.sh'):\n"
            "    found = os.stat(p); print(p, found.st_uid, oct(found.st_mode & 0o777))\n"
            "print(open('a/b/c.bin').read()); open('a/b/c.bin', 'a').write('!')"
        )
        result = await sandbox.execute(code=code)
        assert result.stdout.text == (
            "a 1000 0o700\na/b 1000 0o700\na/b/c.bin 1000 0o600\nrun.sh 1000 0o600\nagain\n"
        )
        assert result.artifact("a/b/c.bin").size == 6
        assert (await sandbox.execute(["sh", "run.sh"])).stdout.text == "ran\n"


@pytest.mark.parametrize("path", ["", ".", "/etc/x", "../x", "a/../../x", "a/.."])
async def test_an_upload_stays_in_the_work_folder(needs_bubblewrap: None, path: str) -> None:
    async with opened() as sandbox:
        with pytest.raises(PolicyError, match="relative, without"):
            await sandbox.upload(path, b"x")


async def test_an_upload_that_does_not_fit(needs_bubblewrap: None) -> None:
    async with opened(limits={"disk_mb": 1}) as sandbox:
        with pytest.raises(PolicyError, match="No space left"):
            await sandbox.upload("x", b"x" * 2_000_000)
