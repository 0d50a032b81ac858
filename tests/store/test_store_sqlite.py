"""SQLite alone: SIGKILL, many processes, full disks, and files that are no ledger."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.errors import InputError, StorageError
from basanite.store import Ledger, Record
from support.store_children import start_child, wait_for_lines


@pytest.mark.parametrize("moment", [0.0, 0.013, 0.05, 0.11, 0.2, 0.37])
def test_sigkill_loses_no_committed_record(tmp_path: Path, moment: float) -> None:
    path = tmp_path / "ledger.sqlite"
    child = start_child("ledger", path)
    told = wait_for_lines(child, 5)
    time.sleep(moment)
    child.send_signal(signal.SIGKILL)
    told += (child.communicate(timeout=30)[0] or "").splitlines()
    with Ledger.open(path) as ledger:
        keys = [record.key for record in ledger.records("r", "judgment")]
        bodies = [record.body["key"] for record in ledger.records("r", "judgment")]
        assert ledger.append_now(Record("r", "judgment", "after", {})) is True
    assert len(told) >= 5
    assert set(told) <= set(keys)
    assert len(keys) == len(set(keys))
    assert bodies == keys


def test_many_processes_write_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    code = (
        "import sys; from basanite.store import Ledger, Record\n"
        "with Ledger.open(sys.argv[1]) as ledger:\n"
        "    new = [ledger.append_now(Record('r', 'judgment', f'k{n}', {'by': sys.argv[2]}))\n"
        "           for n in range(150)]\n"
        "print(sum(new))\n"
    )
    # All of them make the file and its tables at once.
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(number)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(5)
    ]
    written = [int(child.communicate(timeout=60)[0]) for child in children]
    assert [child.returncode for child in children] == [0] * 5
    assert sum(written) == 150
    with Ledger.open(path) as ledger:
        assert ledger.count("r", "judgment") == 150


async def test_a_writer_waits_for_another_program_that_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(ledger.append(Record("r", "judgment", "k", {})))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        assert ledger.count("r", "judgment") == 0  # readers never wait
        other.execute("COMMIT")
        other.close()
        assert await waiting is True


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("needs a machine where root may mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_full_disk_is_said_and_costs_nothing_that_was_committed(tiny_disk: Path) -> None:
    path = tiny_disk / "ledger.sqlite"
    committed = []
    with Ledger.open(path) as ledger:
        with pytest.raises(StorageError) as caught:
            for number in range(10_000):
                key = f"k{number}"
                await ledger.append(Record("r", "judgment", key, {"pad": "x" * 5_000}))
                committed.append(key)
        assert str(path) in str(caught.value)
        assert "space" in str(caught.value)
        assert "df -h" in str(caught.value)
        together = await asyncio.gather(
            *(ledger.append(Record("r", "more", f"{n}", {"pad": "x" * 9_000})) for n in range(90)),
            return_exceptions=True,
        )
        assert all(isinstance(one, StorageError) for one in together)
        assert len({id(one) for one in together}) == 90
        assert [record.key for record in ledger.records("r", "judgment")] == committed
        assert ledger.count("r", "more") == 0
    assert len(committed) > 10


def test_a_file_that_may_not_grow_is_said(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    code = (
        "import resource, signal, sys; from basanite.store import Ledger, Record\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "ledger = Ledger.open(sys.argv[1])\n"
        "ledger.append_now(Record('r', 'judgment', 'kept', {}))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "try:\n"
        "    ledger.append_now(Record('r', 'judgment', 'large', {'pad': 'x' * 1_000_000}))\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert child.stdout.startswith(f"StorageError {path}: ")
    assert "space" in child.stdout
    with Ledger.open(path) as ledger:
        assert [record.key for record in ledger.records("r", "judgment")] == ["kept"]


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"is a folder\. Name a file"):
        Ledger.open(tmp_path)


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="folder does not exist"):
        Ledger.open(tmp_path / "none" / "ledger.sqlite")


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to look at" * 50, encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="is no SQLite database"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs (name TEXT)")
    other.close()
    with pytest.raises(StorageError, match=r"another program.*songs"):
        Ledger.open(path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.open(path).close()
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE basanite_formats SET version = 99")
    newer.close()
    with pytest.raises(StorageError, match=r"format 99.*Update basanite"):
        Ledger.open(path)


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        for number in range(200):
            ledger.append_now(Record("r", "judgment", f"{number}", {"pad": "x" * 3_000}))
    content = bytearray(path.read_bytes())
    content[4096:200_000] = b"\xff" * (200_000 - 4096)
    path.write_bytes(content)
    with pytest.raises(StorageError, match="damaged"), Ledger.open(path) as ledger:
        list(ledger.records("r", "judgment"))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs Linux's /proc")
def test_a_place_where_no_file_can_be_made_is_said() -> None:
    with pytest.raises(StorageError, match=r"/proc/ledger\.sqlite: can't be opened or made"):
        Ledger.open("/proc/ledger.sqlite")


@pytest.mark.parametrize(
    "url",
    ["mysql://u:hunter2@h/d", "sqlite://", "sqlite:///:memory:", "postgresql://u:hunter2@h:x/d"],
)
def test_a_url_that_is_no_use_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Ledger.open(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["a?b.sqlite", "a#b.sqlite", "a%20b.sqlite", "file:x.sqlite"])
def test_a_path_is_taken_to_the_letter(tmp_path: Path, name: str) -> None:
    with Ledger.open(tmp_path / name) as ledger:
        ledger.append_now(Record("r", "k", "x", {}))
    assert (tmp_path / name).is_file()
    with Ledger.open(f"sqlite:///{tmp_path}/plain.sqlite") as ledger:
        assert ledger.url == f"{tmp_path}/plain.sqlite"


@pytest.mark.parametrize(("fsync", "level"), [(False, 1), (True, 2)])
def test_a_commit_waits_for_the_disk_only_if_told(tmp_path: Path, fsync: bool, level: int) -> None:
    from basanite.store._database import Database
    from basanite.store._tables import LEDGER_TABLES

    database = Database.open(tmp_path / "ledger.sqlite", LEDGER_TABLES, fsync=fsync)
    assert database.read_now("PRAGMA synchronous", ()) == [(level,)]
    assert database.read_now("PRAGMA journal_mode", ()) == [("wal",)]
    database.close()
