"""`metrics`, `report`, `export`, `doctor` and `--version`, as a user types them."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from support.command import basanite, row, write_rows
from support.mock_endpoint import MockEndpoint
from support.reference import reference


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))
    contexts = ["G rises in treated cells.", "H is never measured."]
    rows = [row(number, contexts=contexts, human=number % 3) for number in range(9)]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    with MockEndpoint() as mock:
        done = basanite(
            *("judge", "claims", path, "-o", tmp_path / "run", "--endpoint", mock.url),
            *("--claims-by", "sentences"),
        )
    assert done.code == 0, done.err
    return tmp_path / "run"


def published() -> dict[str, object]:
    text = reference("ragchecker/checking_outputs.json").read_text(encoding="utf-8")
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def test_ragchecker_numbers_are_computed_afresh(tmp_path: Path) -> None:
    whole = published()
    bare = copy.deepcopy(whole)
    results = bare["results"]
    assert isinstance(results, list)
    bare["metrics"] = {"overall": {"precision": 1.0}}  # whatever it says must not matter
    for item in results:
        del item["metrics"]
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(bare), encoding="utf-8")
    done = basanite("metrics", "ragchecker", path, "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert found["metrics"] == whole["metrics"]
    mine, theirs = found["results"], whole["results"]
    assert isinstance(mine, list)
    assert isinstance(theirs, list)
    for item, expected in zip(mine, theirs, strict=True):
        assert item["metrics"] == pytest.approx(expected["metrics"])


def test_exported_labels_give_our_own_scores(run: Path, tmp_path: Path) -> None:
    exported = tmp_path / "labels.json"
    assert basanite("export", run, "--format", "ragchecker", "-o", exported).code == 0
    metrics = basanite("metrics", "ragchecker", exported, "--json").json()["results"]
    assert isinstance(metrics, list)
    by_id = {item["query_id"]: item["metrics"] for item in metrics}
    compared = 0
    for line in basanite("export", run, "--format", "jsonl").out.splitlines():
        judgment = json.loads(line)
        for name, score in judgment["scores"].items():
            if score["value"] is not None:
                assert by_id[judgment["subject_id"]][name] == pytest.approx(score["value"])
                compared += 1
    assert compared > 50


def test_parquet_export(run: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install pyarrow")
    out = tmp_path / "run.parquet"
    done = basanite("export", run, "--format", "parquet", "-o", out, "--json")
    assert done.json()["items"] == 9
    assert parquet.read_table(out).num_rows == 9


def test_report_is_one_page_without_requests(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = basanite("report", run, run, "-o", page, "--json")
    assert done.code == 0, done.err
    assert done.json()["schema"] == "basanite.summaries/1"
    text = page.read_text(encoding="utf-8")
    assert "judge not validated" in text
    for link in ('src="http', 'href="http', "url(http"):
        assert link not in text


def test_report_into_a_missing_folder(run: Path, tmp_path: Path) -> None:
    done = basanite("report", run, "-o", tmp_path / "no" / "report.html")
    assert done.code == 2
    assert "does not exist" in done.err


def test_doctor_says_what_is_there() -> None:
    done = basanite("doctor", "--json")
    found = done.json()
    assert found["ok"] is (done.code == 0)
    findings = found["findings"]
    assert isinstance(findings, list)
    assert {"python", "cache", "embedded model"} <= {finding["name"] for finding in findings}
    for finding in findings:
        assert finding["state"] == "ok" or finding["todo"], finding


def test_doctor_probes_an_endpoint() -> None:
    with MockEndpoint() as mock:
        done = basanite("doctor", "--endpoint", mock.url, "--json")
        down = mock.url
    findings = done.json()["findings"]
    assert isinstance(findings, list)
    (endpoint,) = (finding for finding in findings if finding["name"] == "endpoint")
    assert "json_schema True" in endpoint["found"]
    gone = basanite("doctor", "--endpoint", down, "--json")
    assert gone.code == 3
    assert gone.json()["ok"] is False


def test_version_and_help() -> None:
    assert basanite("--version").out.startswith("basanite ")
    for command in ((), ("judge", "claims"), ("report",), ("demo",)):
        assert basanite(*command, "--help").code == 0


def test_unknown_option_is_usage() -> None:
    assert basanite("judge", "claims", "--frobnicate").code == 2
