"""`basanite judge`: what a run leaves behind, what it prints, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import basanite, row, write_rows
from support.mock_endpoint import MockConfig, MockEndpoint


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", [row(number) for number in range(9)])


@pytest.fixture
def mock() -> Iterator[MockEndpoint]:
    with MockEndpoint(MockConfig()) as server:
        yield server


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))


def judge(rows: Path, out: Path, mock: MockEndpoint, *more: object) -> dict[str, object]:
    done = basanite("judge", "claims", rows, "-o", out, "--endpoint", mock.url, "--json", *more)
    assert done.code == 0, done.err
    return done.json()


def test_claims_run_leaves_everything_in_its_folder(
    rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    summary = judge(rows, tmp_path / "run", mock)
    assert summary["schema"] == "basanite.summary/1"
    assert (summary["n_scored"], summary["n_total"], summary["n_tasks"]) == (9, 9, 3)
    assert summary["validated"] is False
    scores = summary["scores"]
    assert isinstance(scores, dict)
    assert 0 <= scores["f1"] <= 1
    assert isinstance(summary["baseline"], dict)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["judge"]["model"]["name"] == "mock-model"
    assert manifest["judge"]["sampling"]["temperature"] == 0
    assert manifest["command"][:3] == ["basanite", "judge", "claims"] or manifest["command"]
    stored = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert stored["scores"] == scores


def test_truth_is_split_into_claims_once_per_question(
    rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    judge(rows, tmp_path / "run", mock)
    exported = basanite("export", tmp_path / "run", "--format", "jsonl")
    truths: dict[str, set[tuple[str, ...]]] = {}
    for line in exported.out.splitlines():
        judgment = json.loads(line)
        claims = tuple(c["text"] for c in judgment["claims"] if c["side"] == "truth")
        truths.setdefault(judgment["task"], set()).add(claims)
    assert len(truths) == 3
    assert all(len(found) == 1 for found in truths.values())


def test_a_second_identical_run_makes_no_call(
    rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    first = judge(rows, tmp_path / "one", mock)
    calls = mock.calls
    second = judge(rows, tmp_path / "two", mock)
    assert mock.calls == calls
    assert second["scores"] == first["scores"]
    usage = second["usage"]
    assert isinstance(usage, dict)
    assert usage["calls"] == 0
    assert usage["cached_calls"] > 0


def test_cache_off_and_refresh_ask_anew(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    judge(rows, tmp_path / "one", mock)
    once = mock.calls
    judge(rows, tmp_path / "two", mock, "--cache", "refresh")
    assert mock.calls >= 2 * once - 3  # the probe of the endpoint is remembered
    judge(rows, tmp_path / "three", mock, "--cache", "off")
    assert mock.calls >= 3 * once - 6


def test_resume_judges_nothing_twice(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    first = judge(rows, tmp_path / "run", mock)
    calls = mock.calls
    second = judge(rows, tmp_path / "run", mock, "--resume", "--cache", "off")
    assert second["scores"] == first["scores"]
    assert mock.calls - calls <= 2  # an uncached probe, and nothing else


def test_folder_with_a_run_is_not_overwritten(
    rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    judge(rows, tmp_path / "run", mock)
    done = basanite("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", mock.url)
    assert done.code == 2
    assert "--resume" in done.err


def test_resume_names_the_settings_that_differ(
    rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    judge(rows, tmp_path / "run", mock)
    done = basanite(
        *("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", mock.url, "--resume"),
        *("--direction", "recall"),
    )
    assert done.code == 2
    said = " ".join(done.err.split())
    assert 'judge.options.direction was "both", is now "recall"' in said
    assert "name a new folder" in said


def test_resume_refuses_another_input(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    judge(rows, tmp_path / "run", mock)
    other = write_rows(tmp_path / "other.jsonl", [row(number) for number in range(4)])
    done = basanite(
        "judge", "claims", other, "-o", tmp_path / "run", "--endpoint", mock.url, "--resume"
    )
    assert done.code == 2
    assert "another input" in done.err


def test_one_direction_and_given_claims_take_one_call(tmp_path: Path, mock: MockEndpoint) -> None:
    # Claims that differ, or else equal requests are joined into one.
    given = [row(n, answer_claims=[f"G rises {n}-fold.", "H stays."]) for n in range(6)]
    rows = write_rows(tmp_path / "rows.jsonl", given)
    summary = judge(rows, tmp_path / "run", mock, "--direction", "precision")
    assert summary["primary"] == "precision"
    usage = summary["usage"]
    assert isinstance(usage, dict)
    assert usage["calls"] == 6


def test_contexts_give_all_metrics(tmp_path: Path, mock: MockEndpoint) -> None:
    contexts = ["G rises in treated cells.", {"text": "Nothing of note.", "doc_id": "d2"}]
    rows = write_rows(tmp_path / "rows.jsonl", [row(n, contexts=contexts) for n in range(4)])
    summary = judge(rows, tmp_path / "run", mock, "--claims-by", "sentences")
    coverage = summary["coverage"]
    assert isinstance(coverage, dict)
    assert coverage["faithfulness"]["n_scored"] == 4
    assert coverage["claim_recall"]["n_scored"] == 4


def test_more_unscored_than_allowed_is_exit_code_4(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [row(0), row(1, truth=""), row(2), row(3)])
    done = basanite("judge", "lexical", rows, "-o", tmp_path / "run", "--json")
    assert done.code == 4
    summary = done.json()
    assert (summary["n_scored"], summary["n_total"]) == (3, 4)
    assert summary["unscored"] == {"invalid_row": 1}
    assert "row 2" in done.err
    allowed = basanite(
        *("judge", "lexical", rows, "-o", tmp_path / "again", "--max-unscored", "0.25")
    )
    assert allowed.code == 0


def test_lexical_says_what_it_cannot_see(rows: Path, tmp_path: Path) -> None:
    done = basanite("judge", "lexical", rows, "-o", tmp_path / "run")
    assert done.code == 0
    assert "negation" in done.err


def test_time_limit_leaves_the_rest_for_resume(
    rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    arguments = ("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", mock.url)
    done = basanite(*arguments, "--max-tokens", "1", "--concurrency", "1", "--json")
    assert done.code == 4
    assert "not started" in done.err.replace("\n", " ")
    summary = done.json()
    scored = summary["n_scored"]
    assert isinstance(scored, int)
    assert 0 < scored < 9
    assert judge(rows, tmp_path / "run", mock, "--resume")["n_scored"] == 9


def test_passwords_are_not_stored(
    rows: Path, tmp_path: Path, mock: MockEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cret-word"
    url = mock.url.replace("http://", f"http://user:{secret}@")
    monkeypatch.setattr("sys.argv", ["basanite", "judge", "claims", "--endpoint", url])
    done = basanite("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", url)
    assert done.code == 0, done.err
    assert secret not in done.err
    for file in (tmp_path / "run").iterdir():
        assert secret.encode() not in file.read_bytes(), file
