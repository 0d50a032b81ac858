"""Items in the order of the input, whatever order they were judged in."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from basanite.errors import UnscoredReason
from basanite.schema import Judgment
from basanite.store import Record, RunFolder, answer_record, export_jsonl
from basanite.store import _ordered as ordered
from support.run_folders import private_manifest, write_run
from support.store_samples import make_answer, make_judgment


def exported(run: Path, out: Path) -> list[Judgment]:
    with RunFolder.open(run) as folder:
        export_jsonl(folder, out)
    return [Judgment.model_validate(json.loads(line)) for line in out.read_bytes().splitlines()]


@pytest.mark.parametrize("long_texts", [False, True])
def test_judgments_come_in_the_order_of_the_rows(
    long_texts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if long_texts:  # then each batch holds a few rows only
        monkeypatch.setattr(ordered, "_TEXT_AT_ONCE", 200)
    ids = [f"q{number}" for number in range(257)]
    random.Random(1).shuffle(ids)
    judged = [make_judgment(id_) for id_ in ids]
    random.Random(2).shuffle(judged)
    manifest = private_manifest(rows=len(ids))
    run = write_run(tmp_path / "run", map(make_answer, ids), judged, manifest)
    assert [one.subject_id for one in exported(run, tmp_path / "out")] == ids


def test_the_latest_attempt_stands_for_an_item_that_was_never_finished(tmp_path: Path) -> None:
    rows = [make_answer(f"q{number}") for number in range(4)]
    run = write_run(tmp_path / "run", rows, [make_judgment("q3")], private_manifest(rows=4))
    with RunFolder.open(run) as folder:
        for id_, tries in (("q2", 1), ("q0", 3), ("q3", 2)):
            for number in range(1, tries + 1):
                failed = make_judgment(
                    id_, None, UnscoredReason.TIMEOUT, message=f"attempt {number}"
                )
                body = failed.model_dump(mode="json")
                record = Record(folder.run, "attempt", f"claims/{id_}#{number}", body)
                folder.ledger.append_now(record)
    found = [(one.subject_id, one.message) for one in exported(run, tmp_path / "out")]
    assert found == [("q0", "attempt 3"), ("q2", "attempt 1"), ("q3", None)]


def test_a_judgment_without_a_row_comes_last_and_once(tmp_path: Path) -> None:
    rows = [make_answer("q1"), make_answer("q2")]
    judged = [make_judgment("lost"), make_judgment("q2"), make_judgment("q1")]
    run = write_run(tmp_path / "run", rows, judged, private_manifest(rows=3))
    with RunFolder.open(run) as folder:
        body = make_judgment("gone", None, UnscoredReason.TIMEOUT).model_dump(mode="json")
        folder.ledger.append_now(Record(folder.run, "attempt", "claims/gone#1", body))
        # Kept under another judge's name, but of a row of this run.
        folder.ledger.append_now(answer_record(folder.run, make_answer("q3")))
        body = make_judgment("q3").model_dump(mode="json")
        folder.ledger.append_now(Record(folder.run, "judgment", "other/q3", body))
    found = [one.subject_id for one in exported(run, tmp_path / "out")]
    assert found[:2] == ["q1", "q2"]
    assert sorted(found[2:]) == ["gone", "lost", "q3"]
