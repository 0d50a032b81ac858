"""A run in a folder that can't be written is read all the same: an archive, another's results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from basanite.store import Record, RunFolder
from support.command import basanite, row, write_rows
from support.read_only import run_on_read_only

ROWS = 9


@pytest.fixture
def run(tmp_path: Path) -> Path:
    rows = write_rows(tmp_path / "rows.jsonl", [row(number) for number in range(ROWS)])
    # A name that a URI must quote.
    folder = tmp_path / "run 100%? #1"
    done = basanite("judge", "lexical", rows, "-o", folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def killed(run: Path, tmp_path: Path) -> Path:
    """A copy made while one more judgment is committed but still in the write-ahead log."""
    copy = tmp_path / "killed"
    with RunFolder.open(run) as folder:
        judgment = next(folder.judgments()).model_dump(mode="json") | {"subject_id": "late"}
        folder.ledger.append_now(Record(folder.run, "judgment", "lexical/late", judgment))
        shutil.copytree(run, copy)
    assert (copy / "ledger.sqlite-wal").stat().st_size
    return copy


def test_reports_and_exports_are_those_of_a_folder_that_can_be_written(
    run: Path, tmp_path: Path
) -> None:
    commands = {
        "jsonl": ("export", run, "--format", "jsonl"),
        "summary": ("report", run, "--force", "-o", tmp_path / "page.html", "--json"),
    }
    expected = {name: basanite(*command) for name, command in commands.items()}
    before = sorted(run.iterdir())
    for name, command in commands.items():
        found = run_on_read_only(run, *command)
        assert found.code == 0, found.err
        assert found.out == expected[name].out
    assert len(expected["jsonl"].out.splitlines()) == ROWS
    assert sorted(run.iterdir()) == before


def test_parquet_of_a_folder_that_cannot_be_written(run: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="needs pyarrow: pip install 'basanite[parquet]'"
    )
    out = tmp_path / "judgments.parquet"
    found = run_on_read_only(run, "export", run, "--format", "parquet", "-o", out)
    assert found.code == 0, found.err
    assert parquet.read_metadata(out).num_rows == ROWS


def test_metrics_of_a_file_in_a_folder_that_cannot_be_written(run: Path) -> None:
    item = {
        "query_id": "1",
        "query": "What rises?",
        "gt_answer": "G rises.",
        "response": "G rises.",
        "retrieved_context": [],
        "response_claims": ["G rises"],
        "gt_answer_claims": ["G rises"],
        "retrieved2response": [[]],
        "retrieved2answer": [[]],
        "response2answer": ["Entailment"],
        "answer2response": ["Entailment"],
    }
    file = run / "labels.json"
    file.write_text(json.dumps({"results": [item]}), encoding="utf-8")
    expected = basanite("metrics", "ragchecker", file, "--json")
    assert expected.code == 0, expected.err
    assert run_on_read_only(run, "metrics", "ragchecker", file, "--json").out == expected.out


def test_what_a_killed_run_left_in_the_log_is_read(killed: Path) -> None:
    found = run_on_read_only(killed, "export", killed, "--format", "jsonl")
    assert found.code == 0, found.err
    items = [json.loads(line)["subject_id"] for line in found.out.splitlines()]
    assert len(items) == ROWS + 1
    assert "late" in items


def test_a_log_that_cannot_be_read_is_never_left_out_silently(killed: Path, tmp_path: Path) -> None:
    (killed / "ledger.sqlite-shm").unlink()
    found = run_on_read_only(killed, "export", killed, "--format", "jsonl")
    assert found.code == 3
    assert not found.out
    assert "Copy the whole folder" in found.err
    copy = tmp_path / "copy"
    shutil.copytree(killed, copy)
    assert len(basanite("export", copy, "--format", "jsonl").out.splitlines()) == ROWS + 1


def test_an_emptied_ledger_is_said(run: Path) -> None:
    (run / "ledger.sqlite").write_bytes(b"")
    found = run_on_read_only(run, "report", run, "-o", run.parent / "page.html")
    assert found.code == 3
    assert "holds no ledger" in found.err


def test_going_on_in_a_folder_that_cannot_be_written_is_refused(run: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    found = run_on_read_only(run, "judge", "lexical", rows, "-o", run, "--resume")
    assert found.code == 3
    assert "permissions of the file and of its folder" in found.err
