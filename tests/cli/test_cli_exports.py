"""`export` in each format, as a user types it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from support.command import basanite, row, write_rows

FORMATS = ("jsonl", "parquet", "huggingface", "inspect")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    rows: list[object] = [row(number) for number in range(5)]
    rows[1] = {"id": "broken", "question": "Q?"}
    rows[2] = row(2, answer="   ")
    source = write_rows(tmp_path / "rows.jsonl", rows)
    done = basanite("judge", "lexical", source, "-o", tmp_path / "run", "--max-unscored", 1)
    assert done.code == 0, done.err
    return tmp_path / "run"


def judgments(run: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in basanite("export", run, "--format", "jsonl").out.splitlines()
    ]


def test_a_dataset_that_datasets_opens(run: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets: make setup")
    out = tmp_path / "dataset"
    done = basanite("export", run, "--format", "huggingface", "-o", out, "--json")
    assert done.code == 0, done.err
    assert done.json() == {
        "schema": "basanite.export/1",
        "format": "huggingface",
        **{"items": 5, "not_judged": 0, "files": 1},
    }
    cache = str(tmp_path / "cache")
    rows = list(datasets.load_dataset(str(out), split="test", cache_dir=cache))
    assert [one["id"] for one in rows] == ["i0", "broken", "i2", "i3", "i4"]
    for shown, judgment in zip(rows, judgments(run), strict=True):
        for name, score in judgment["scores"].items():
            assert shown[f"score_{name}"] == score["value"]
            assert shown[f"score_{name}_unscored"] == score["unscored_reason"]
    assert rows[1]["status"] == "invalid_row"
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "1 invalid_row" in text
    assert str(tmp_path) not in text


def test_a_log_that_inspect_opens(run: Path, tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="needs inspect_ai: make setup")
    found = {one["subject_id"]: one for one in judgments(run)}
    for name in ("log.eval", "log.json"):
        done = basanite("export", run, "--format", "inspect", "-o", tmp_path / name, "--json")
        assert done.code == 0, done.err
        assert (done.json()["items"], done.json()["not_judged"]) == (5, 0)
        samples = log.read_eval_log(str(tmp_path / name)).samples
        assert len(samples) == 5
        for sample in samples:
            scores = found[sample.id]["scores"]
            for score_name, shown in sample.scores.items():
                expected = scores[score_name]
                assert shown.reason == expected["unscored_reason"]
                if expected["value"] is None:
                    assert math.isnan(shown.value)
                else:
                    assert shown.value == expected["value"]


def test_a_run_that_has_nothing_for_ragchecker_names_the_formats_that_fit(
    run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "labels.json"
    for arguments in (("-o", out), ()):
        done = basanite("export", run, "--format", "ragchecker", *arguments)
        assert done.code == 2
        assert done.out == ""
        said = " ".join(done.err.split())
        assert "nothing can be exported for RAGChecker" in said
        for name in FORMATS:
            assert name in said
    assert not out.exists()


@pytest.mark.parametrize("form", ["parquet", "huggingface", "inspect"])
def test_what_stdout_cannot_hold_needs_a_place(run: Path, form: str) -> None:
    done = basanite("export", run, "--format", form)
    assert done.code == 2
    assert "-o" in done.err


def test_a_log_of_another_name_is_refused(run: Path, tmp_path: Path) -> None:
    done = basanite("export", run, "--format", "inspect", "-o", tmp_path / "log.zip")
    assert done.code == 2
    assert ".eval or .json" in done.err
    assert not (tmp_path / "log.zip").exists()


def test_a_dataset_costs_no_other_folder(run: Path, tmp_path: Path) -> None:
    arguments = ("export", run, "--format", "huggingface", "-o")
    before = sorted(path.name for path in run.iterdir())
    for place in (run, tmp_path):
        done = basanite(*arguments, place, "--force")
        assert done.code == 2
        assert "something other than an earlier export" in " ".join(done.err.split())
    assert sorted(path.name for path in run.iterdir()) == before
    out = tmp_path / "dataset"
    assert basanite(*arguments, out).code == 0
    done = basanite(*arguments, out)
    assert done.code == 2
    assert "--force" in done.err
    assert basanite(*arguments, out, "--force").code == 0
