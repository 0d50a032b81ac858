"""An exported folder is there whole or not at all, and costs nothing that was there."""

from __future__ import annotations

import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from basanite.errors import InputError, StorageError
from basanite.reports import summarise
from basanite.store import (
    RunFolder,
    export_huggingface,
    export_inspect,
    export_jsonl,
)
from basanite.store._files import is_leftover
from basanite.store._whole_folder import whole_folder
from support.run_folders import private_manifest, write_run
from support.store_samples import make_answer, make_judgment

_KILLED = """
import os, signal, sys
from pathlib import Path
from basanite.reports import summarise
from basanite.store import RunFolder, export_huggingface, _huggingface
whole = _huggingface.items_in_order
def some(folder):
    for number, item in enumerate(whole(folder)):
        if number == 6:
            print(*Path(sys.argv[2]).parent.glob(".basanite-*/data/*"), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        yield item
_huggingface.items_in_order = some
with RunFolder.open(sys.argv[1]) as folder:
    export_huggingface(folder, sys.argv[2], summarise, rows_per_file=2, force=True)
"""


def _is_mine(folder: Path) -> bool:
    return [entry.name for entry in folder.iterdir()] == ["mine"]


def write(path: Path, text: str = "new", *, force: bool = False) -> None:
    with whole_folder(path, is_ours=_is_mine, force=force) as new:
        (new / "mine").write_text(text, encoding="utf-8")


def left(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def small_run(path: Path, rows: int = 8) -> Path:
    answers = [make_answer(f"q{number}") for number in range(rows)]
    judged = [make_judgment(row.id) for row in answers]
    return write_run(path, answers, judged, private_manifest(rows=rows))


def test_a_folder_takes_an_empty_ones_place(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        write(tmp_path / name)
        assert (tmp_path / name / "mine").read_text(encoding="utf-8") == "new"
    assert left(tmp_path) == ["empty", "new"]


def test_an_earlier_one_is_replaced_when_told_and_a_link_stays(tmp_path: Path) -> None:
    write(tmp_path / "out", "old")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(InputError, match="an earlier export is there"):
        write(tmp_path / "link")
    assert (tmp_path / "out" / "mine").read_text(encoding="utf-8") == "old"
    write(tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out" / "mine").read_text(encoding="utf-8") == "new"
    assert left(tmp_path) == ["link", "out"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file", "is a file"),
        ("no/out", "the folder does not exist"),
        ("foreign", "something other than an earlier export"),
    ],
)
def test_what_must_stay_stays(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file", encoding="utf-8")
    write(tmp_path / "foreign")
    (tmp_path / "foreign" / "theirs").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        write(tmp_path / name, force=True)
    assert left(tmp_path) == ["file", "foreign"]
    assert left(tmp_path / "foreign") == ["mine", "theirs"]


def test_what_appears_while_it_is_written_stays(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="something other than an earlier export"),
        whole_folder(tmp_path / "out", is_ours=_is_mine, force=True),
    ):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("x", encoding="utf-8")
    assert left(tmp_path) == ["out"]
    assert left(tmp_path / "out") == ["theirs"]


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "out", "old")
    full = OSError(28, "No space left on device")
    with (
        pytest.raises(StorageError, match=r"No space left on device.*df -h"),
        whole_folder(tmp_path / "out", is_ours=_is_mine, force=True) as new,
    ):
        (new / "mine").write_text("half", encoding="utf-8")
        raise full
    assert left(tmp_path) == ["out"]
    assert (tmp_path / "out" / "mine").read_text(encoding="utf-8") == "old"


def test_killed_half_way_it_leaves_nothing_under_its_name(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    out = tmp_path / "place" / "out"
    out.parent.mkdir()
    for _ in range(2):
        arguments = [sys.executable, "-c", _KILLED, str(run), str(out)]
        done = subprocess.run(arguments, check=False, capture_output=True, timeout=60)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert done.stdout.count(b".parquet") >= 2, "it was killed with files written"
        assert not out.exists()
    assert all(is_leftover(entry) for entry in out.parent.iterdir())
    with RunFolder.open(run) as folder:
        export_huggingface(folder, out, summarise)
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    done = subprocess.run(arguments, check=False, capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before


def _jsonl(folder: RunFolder, out: Path) -> None:
    export_jsonl(folder, out / "out.jsonl")


def _dataset(folder: RunFolder, out: Path) -> None:
    export_huggingface(folder, out / "dataset", summarise)


def _log(folder: RunFolder, out: Path) -> None:
    export_inspect(folder, out / "out.eval", summarise)


@pytest.mark.parametrize("export", [_jsonl, _dataset, _log])
def test_memory_does_not_grow_with_the_rows(
    export: Callable[[RunFolder, Path], None], tmp_path: Path
) -> None:
    text = "x" * 50_000
    rows = [make_answer(f"q{number}", answer=f"{number} {text}") for number in range(800)]
    judged = [make_judgment(row.id) for row in reversed(rows)]
    run = write_run(tmp_path / "run", rows, judged, private_manifest(rows=len(rows)))
    total = len(rows) * len(text)
    del rows, judged
    with RunFolder.open(run) as folder:
        tracemalloc.start()
        try:
            export(folder, tmp_path)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert total == 40_000_000
    assert peak < total / 2
