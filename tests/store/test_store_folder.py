from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.errors import InputError, StorageError, UnscoredReason
from basanite.schema import Answer, InvalidRow
from basanite.store import Ledger, Record, RunFolder, answer_record
from support.store_samples import make_answer, make_judgment, make_manifest


def test_a_run_is_made_and_opened_again(tmp_path: Path) -> None:
    manifest = make_manifest()
    with RunFolder.create(tmp_path / "a" / "run", manifest) as folder:
        assert folder.manifest == manifest
        assert folder.run == manifest.run
        folder.ledger.append_now(answer_record(folder.run, make_answer("q1")))
        folder.write_summary({"n_scored": 1})
    with RunFolder.open(tmp_path / "a" / "run") as again:
        assert again.manifest == manifest
        assert list(again.answers()) == [make_answer("q1")]
    files = sorted(path.name for path in (tmp_path / "a" / "run").iterdir())
    assert files == ["ledger.sqlite", "manifest.json", "summary.json"]
    assert json.loads((tmp_path / "a" / "run" / "summary.json").read_bytes()) == {"n_scored": 1}


def test_runs_have_ids_of_their_own() -> None:
    assert len({make_manifest().run for _ in range(50)}) == 50


def test_answers_and_invalid_rows_come_back_as_what_they_were(tmp_path: Path) -> None:
    rows: list[Answer | InvalidRow] = [
        make_answer("q1", human={"score": 0.5}, contexts=None),
        InvalidRow(id="row-2", row=2, message="row 2: truth is missing."),
        make_answer("q3", answer_claims=("a", "b"), agent="x", trial="2"),
    ]
    with RunFolder.create(tmp_path / "run", make_manifest()) as folder:
        for row in rows:
            folder.ledger.append_now(answer_record(folder.run, row))
        assert list(folder.answers()) == rows
        assert folder.answer("row-2") == rows[1]
        assert folder.answer("none") is None


def test_an_item_shows_its_judgment_or_its_latest_attempt(tmp_path: Path) -> None:
    def attempt(item: str, number: int) -> Record:
        judgment = make_judgment(item, None, UnscoredReason.TIMEOUT, message=f"try {number}")
        return Record(folder.run, "attempt", f"{item}#{number}", judgment.model_dump(mode="json"))

    with RunFolder.create(tmp_path / "run", make_manifest()) as folder:
        done = make_judgment("done").model_dump(mode="json")
        records = [attempt("done", 1), attempt("open#1", 1), attempt("done", 2)]
        records += [attempt("open", number) for number in range(1, 13)]
        records += [Record(folder.run, "judgment", "done", done)]
        for record in records:
            folder.ledger.append_now(record)
        found = {judgment.subject_id: judgment for judgment in folder.judgments()}
        assert len(list(folder.judgments())) == 3
    assert found["done"].final
    assert found["open"].message == "try 12"
    assert found["open#1"].message == "try 1"


def test_many_attempts_are_told_apart(tmp_path: Path) -> None:
    count = 450
    with RunFolder.create(tmp_path / "run", make_manifest()) as folder:
        for number in range(count):
            body = make_judgment(f"q{number}", None, UnscoredReason.TIMEOUT)
            folder.ledger.append_now(
                Record(folder.run, "attempt", f"q{number}#1", body.model_dump(mode="json"))
            )
        found = [judgment.subject_id for judgment in folder.judgments()]
    assert found == [f"q{number}" for number in range(count)]


def test_a_judgment_with_half_a_surrogate_pair_comes_back(tmp_path: Path) -> None:
    judgment = make_judgment("q1", message="half \ud83d and \x00")
    with RunFolder.create(tmp_path / "run", make_manifest()) as folder:
        folder.ledger.append_now(
            Record(folder.run, "judgment", "q1", judgment.model_dump(mode="json"))
        )
        assert list(folder.judgments()) == [judgment]


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", make_manifest()).close()
    with pytest.raises(InputError, match=r"not empty.*--resume"):
        RunFolder.create(tmp_path / "run", make_manifest())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        RunFolder.create(tmp_path / "other", make_manifest())
    with pytest.raises(InputError, match="is a file"):
        RunFolder.create(tmp_path / "other" / "notes.txt", make_manifest())
    (tmp_path / "empty").mkdir()
    RunFolder.create(tmp_path / "empty", make_manifest()).close()


def test_what_a_kill_at_birth_leaves_behind_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    Ledger.open(path / "ledger.sqlite").close()
    (path / ".basanite-0123456789abcdef.tmp").write_bytes(b"{")
    with RunFolder.resume(path, make_manifest()) as folder:
        assert folder.ledger.runs() == []


def test_resuming_needs_the_same_judge_and_input(tmp_path: Path) -> None:
    manifest = make_manifest()
    RunFolder.resume(tmp_path / "run", manifest).close()
    with RunFolder.resume(tmp_path / "run", make_manifest()) as folder:
        assert folder.run == manifest.run  # that of the run, not the new one
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="no run"):
        RunFolder.resume(tmp_path / "other", manifest)


def test_a_folder_that_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no run"):
        RunFolder.open(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        RunFolder.open(tmp_path / "none")
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is no manifest that this version can read"):
        RunFolder.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is no manifest"):
        RunFolder.open(tmp_path)


def test_a_run_without_its_ledger_is_said(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", make_manifest()).close()
    (tmp_path / "run" / "ledger.sqlite").unlink()
    with pytest.raises(StorageError, match="ledger is gone"):
        RunFolder.open(tmp_path / "run")


def test_a_ledger_elsewhere_is_remembered_without_its_password(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "not-a-secret")
    with RunFolder.create(tmp_path / "run", make_manifest(), database_url) as folder:
        folder.ledger.append_now(answer_record(folder.run, make_answer("q1")))
        assert folder.manifest.ledger == folder.ledger.url
    assert not (tmp_path / "run" / "ledger.sqlite").exists()
    assert b"not-a-secret" not in (tmp_path / "run" / "manifest.json").read_bytes()
    with RunFolder.open(tmp_path / "run") as again:
        assert list(again.answers()) == [make_answer("q1")]
    with RunFolder.open(tmp_path / "run", ledger_url=database_url) as again:
        assert list(again.answers()) == [make_answer("q1")]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", make_manifest()) as folder:
        folder.write_summary({"n": 1})
        with pytest.raises(ValueError, match="JSON"):
            folder.write_summary({"n": float("nan")})
        assert json.loads((folder.path / "summary.json").read_bytes()) == {"n": 1}
        names = {path.name for path in folder.path.iterdir()}
    assert not any(name.endswith(".tmp") for name in names)


def test_one_process_at_a_time_judges_into_a_folder(tmp_path: Path) -> None:
    manifest = make_manifest()
    with RunFolder.create(tmp_path / "run", manifest) as folder:
        folder.ledger.append_now(answer_record(folder.run, make_answer("q1")))
        with pytest.raises(InputError, match="another process judges"):
            RunFolder.resume(tmp_path / "run", manifest)
        with RunFolder.open(tmp_path / "run") as reading:
            assert len(list(reading.answers())) == 1
    RunFolder.resume(tmp_path / "run", manifest).close()


def test_a_ledger_that_holds_another_run_is_not_taken_for_this_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with RunFolder.create(tmp_path / name, make_manifest()) as folder:
            folder.ledger.append_now(answer_record(folder.run, make_answer("q1")))
    (tmp_path / "a" / "ledger.sqlite").write_bytes((tmp_path / "b" / "ledger.sqlite").read_bytes())
    with pytest.raises(StorageError, match="nothing of this run"):
        RunFolder.open(tmp_path / "a")
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"):
        (tmp_path / "b" / name).unlink(missing_ok=True)
    (tmp_path / "b" / "ledger.sqlite").touch()
    with pytest.raises(StorageError, match="nothing of this run"):
        RunFolder.open(tmp_path / "b")


def test_a_run_that_has_just_started_can_be_looked_at(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", make_manifest()).close()
    with RunFolder.open(tmp_path / "run") as folder:
        assert list(folder.answers()) == []


def test_a_lost_manifest_does_not_orphan_its_ledger(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", make_manifest()) as folder:
        folder.ledger.append_now(answer_record(folder.run, make_answer("q1")))
    (tmp_path / "run" / "manifest.json").unlink()
    for begin in (RunFolder.create, RunFolder.resume):
        with pytest.raises(InputError, match=r"manifest\.json is gone"):
            begin(tmp_path / "run", make_manifest())


def test_a_ledger_elsewhere_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with RunFolder.create("run", make_manifest(), "elsewhere.db") as folder:
        folder.ledger.append_now(answer_record(folder.run, make_answer("q1")))
    monkeypatch.chdir(tmp_path)
    with RunFolder.open("here/run") as folder:
        assert len(list(folder.answers())) == 1
    (tmp_path / "here" / "elsewhere.db").unlink()
    with pytest.raises(StorageError, match="ledger is gone"):
        RunFolder.open("here/run")
    assert not (tmp_path / "elsewhere.db").exists()
