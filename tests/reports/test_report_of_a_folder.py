"""The summary and the page of a real run folder."""

import re
from pathlib import Path

import pytest

from basanite.reports import summarise, write_report
from basanite.schema import Fingerprint, InvalidRow, ModelIdentity, UnscoredReason
from basanite.store import Manifest, Record, RunFolder, answer_record, collect_environment
from support.fake_runs import FINGERPRINT, make_answer, make_judgment, make_unscored


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with two judgments, one failed attempt, and an invalid row that nobody judged."""
    path = tmp_path / "run"
    judge = Fingerprint(
        judge="claims", parser_version="1", model=ModelIdentity(name="tiny", kind="openai")
    )
    manifest = Manifest(
        **collect_environment().model_dump(),
        command=["basanite"],
        judge=judge,
        fingerprint_digest=FINGERPRINT,
        endpoint="http://me:secret@127.0.0.1:9/v1?key=secret",
        input={"path": "answers.jsonl", "sha256": "a" * 64, "rows": 4},
    )
    with RunFolder.create(path, manifest) as made:
        rows = [make_answer(number) for number in range(3)]
        for row in rows:
            made.ledger.append_now(answer_record(made.run, row))
        invalid = InvalidRow(id="row-4", row=4, message="truth is missing")
        made.ledger.append_now(answer_record(made.run, invalid))
        for row in rows[:2]:
            body = make_judgment(row, 0.75).model_dump(mode="json")
            made.ledger.append_now(Record(made.run, "judgment", row.id, body))
        failed = make_unscored(rows[2], UnscoredReason.TIMEOUT).model_dump(mode="json")
        made.ledger.append_now(Record(made.run, "attempt", f"{rows[2].id}#1", failed))
    return path


def test_a_folder_is_a_view(folder: Path) -> None:
    with RunFolder.open(folder) as run:
        found = summarise(run)
        assert (found.n_total, found.n_scored) == (4, 2)
        assert found.scores["f1"].unscored == {"timeout": 1, "invalid_row": 1}
        assert found.scores["f1"].mean.value == 0.75
        run.write_summary(found.to_json())


def test_a_page_of_a_folder_holds_no_secret(folder: Path) -> None:
    out = folder / "report.html"
    with RunFolder.open(folder) as run:
        write_report([run, run], out)
    text = out.read_text(encoding="utf-8")
    assert "http://127.0.0.1:9/v1" in text
    assert "secret" not in text
    assert "invalid row 1, timeout 1" in text


def test_the_documents_example_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "runs").mkdir()
    for name in ("first", "words"):
        (tmp_path / "runs" / name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A: 4; B: 4" in page
    assert 'id="costs"' not in page
    assert (tmp_path / "plots" / "scores.svg").is_file()
