"""What a command writes costs no other file, and what it prints breaks on no name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from support.command import basanite, row, write_rows


@pytest.fixture
def run(tmp_path: Path) -> Path:
    rows = write_rows(tmp_path / "rows.jsonl", [row(number) for number in range(3)])
    done = basanite("judge", "lexical", rows, "-o", tmp_path / "run")
    assert done.code == 0, done.err
    return tmp_path / "run"


@pytest.mark.parametrize("name", ["ledger.sqlite", "manifest.json", "summary.json"])
def test_no_output_is_written_over_a_part_of_a_run(run: Path, name: str) -> None:
    before = (run / name).read_bytes()
    for command in (("report", run), ("export", run, "--format", "jsonl")):
        done = basanite(*command, "-o", run / name, "--force")
        assert done.code == 2
        assert "a part of a run" in done.err
    assert (run / name).read_bytes() == before


def test_a_file_that_is_there_is_kept_unless_forced(run: Path) -> None:
    rows = run.parent / "rows.jsonl"
    before = rows.read_bytes()
    for command in (("report", run), ("export", run, "--format", "jsonl")):
        done = basanite(*command, "-o", rows)
        assert done.code == 2
        assert "--force" in done.err
    assert rows.read_bytes() == before
    assert basanite("export", run, "--format", "jsonl", "-o", rows, "--force").code == 0
    assert rows.read_bytes() != before


def test_an_earlier_report_is_written_anew(run: Path) -> None:
    for _ in range(2):
        assert basanite("report", run, "-o", run / "report.html").code == 0
    other = run / "mine.html"
    other.write_text("<!doctype html><title>mine</title>", encoding="utf-8")
    assert basanite("report", run, "-o", other).code == 2


def test_the_baseline_stands_beside_another_form_of_itself(run: Path) -> None:
    rows = run.parent / "rows.jsonl"
    plain = basanite("judge", "lexical", rows, "-o", run.parent / "f1", "--form", "token-f1")
    weighted = basanite("judge", "lexical", rows, "-o", run.parent / "w")
    assert "lexical precision" in plain.err
    assert "lexical precision" not in weighted.err


def test_names_with_markup_are_printed_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "[red]x[" / "b]"
    folder.mkdir(parents=True)
    rows = write_rows(folder / "[bold].jsonl", [row(0), {"id": "x", "question": "Q?", "odd": 1}])
    done = basanite("judge", "lexical", rows, "-o", tmp_path / "run", "--max-unscored", 1)
    assert done.code == 0, done.err
    assert done.err.count(str(rows)) >= 2
    assert done.err.count("row 2") == 1
    assert basanite("doctor", "--endpoint", "http://127.0.0.1:1/[/x]").code == 3


def test_limits_without_end_are_refused(run: Path) -> None:
    rows = run.parent / "rows.jsonl"
    out = run.parent / "endless"
    arguments = ("judge", "claims", rows, "-o", out, "--endpoint", "http://127.0.0.1:1")
    for option in ("--item-seconds", "--max-seconds"):
        done = basanite(*arguments, option, "inf")
        assert done.code == 2
        assert "Traceback" not in done.err
    assert not out.exists()


def test_credentials_of_an_address_are_in_no_manifest() -> None:
    from basanite.cli._judging import shown_command

    for address in (
        "http://token@host/v1",
        "http://me:secret@host/v1",
        "http://me:p@secret@host/v1",
        "postgres://a:b@h/d",
    ):
        shown = " ".join(shown_command(["x", "judge", "--endpoint", address]))
        assert "***@h" in shown
        for secret in ("token", "secret", "me:", "a:b"):
            assert secret not in shown


def test_numbers_of_thousands_of_digits_are_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    for text in ('{"results": [' + "9" * 5000 + "]}", '{"results": [NaN]}'):
        path.write_text(text, encoding="utf-8")
        done = basanite("metrics", "ragchecker", path)
        assert done.code == 2
        assert str(path) in done.err


def test_a_terminal_without_unicode_gets_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    rows = write_rows(tmp_path / "rows.jsonl", [row(0)])
    assert "Traceback" not in basanite("doctor").err
    done = basanite("judge", "lexical", rows, "-o", tmp_path / "r\u00fcn", "--json")
    assert done.code == 0, done.err
    assert str(done.json()["path"]).endswith("r\u00fcn")


def test_a_damaged_page_of_parquet_is_bad_input(tmp_path: Path) -> None:
    pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = tmp_path / "rows.parquet"
    columns = {name: [f"{name} {n}" * 50 for n in range(300)] for name in row(0)}
    parquet.write_table(pa.table(columns), path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:4000] = os.urandom(3996)
    path.write_bytes(bytes(data))
    done = basanite("judge", "lexical", path, "-o", tmp_path / "run")
    assert done.code in {2, 4}, done.err
    assert str(path) in done.err
    assert "Traceback" not in done.err


def test_an_export_says_what_was_never_judged(run: Path) -> None:
    done = basanite("export", run, "--format", "jsonl", "-o", run / "all.jsonl", "--json")
    assert done.json()["not_judged"] == 0


def test_plots_cost_no_other_drawing(run: Path) -> None:
    page, folder = run.parent / "report.html", run.parent / "plots"
    for _ in range(2):
        done = basanite("report", run, "-o", page, "--plots", folder)
        assert done.code == 0, done.err
    assert (folder / "scores.svg").is_file()
    mine = folder / "mine.svg"
    mine.write_text("<svg/>", encoding="utf-8")
    page.unlink()
    for place in (folder, mine, run.parent / "no" / "plots"):
        done = basanite("report", run, "-o", page, "--plots", place)
        assert done.code == 2
        assert "Traceback" not in done.err
        assert not page.exists(), "nothing is written before all is known to be writable"
    assert basanite("report", run, "-o", page, "--plots", folder, "--force").code == 0
    assert mine.read_text(encoding="utf-8") == "<svg/>"


def test_runs_are_compared_on_stdout(run: Path) -> None:
    rows = run.parent / "rows.jsonl"
    other = run.parent / "other"
    assert basanite("judge", "lexical", rows, "-o", other, "--form", "token-f1").code == 0
    done = basanite("report", run, other, "-o", run.parent / "both.html", "--json")
    found: Any = done.json()
    assert [one["letter"] for one in found["runs"]] == ["A", "B"]
    (pair,) = found["comparisons"]
    assert (pair["first"], pair["second"], pair["n"]) == ("A", "B", 3)
    first, second = (one["scores"][one["primary"]] for one in found["runs"])
    assert pair["difference"] == pytest.approx(first - second)
