"""A server of which one call in five fails: everything is accounted for, nothing is invented."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from basanite.schema import Judgment
from support.command import basanite, row, write_rows
from support.mock_endpoint import FAULTS, MockConfig, MockEndpoint

ITEMS = 60
BOUND_S = 120.0


def judged(
    rows: Path, out: Path, faults: dict[str, float]
) -> tuple[dict[str, object], list[Judgment]]:
    with MockEndpoint(MockConfig(latency=0.005, faults=faults)) as mock:
        done = basanite(
            *("judge", "claims", rows, "-o", out, "--endpoint", mock.url, "--json"),
            *("--attempt-seconds", 0.5, "--item-seconds", 30, "--concurrency", 16),
            *("--max-unscored", 1),
        )
    assert done.code == 0, done.err
    exported = basanite("export", out, "--format", "jsonl")
    return done.json(), [Judgment.model_validate_json(line) for line in exported.out.splitlines()]


def labels(judgment: Judgment) -> dict[tuple[str, str], object]:
    return {(v.claim_id, v.against): v.label for v in judgment.verdicts}


def clean(judgment: Judgment) -> bool:
    """Whether every call came back right at once."""
    return (
        all(reply.error is None for reply in judgment.replies)
        and judgment.usage.calls + judgment.usage.cached_calls == len(judgment.replies)
        and all(
            score.unscored_reason in {None, "no_contexts"} for score in judgment.scores.values()
        )
    )


def test_one_call_in_five_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A truth of its own for each row: a shared one would spread one fault over three rows.
    rows = write_rows(
        tmp_path / "rows.jsonl", [row(n, truth=f"Compound {n} raises G{n}.") for n in range(ITEMS)]
    )
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "calm.sqlite"))
    _, calm = judged(rows, tmp_path / "calm", {})
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "rough.sqlite"))
    begin = time.monotonic()
    summary, rough = judged(rows, tmp_path / "rough", {kind: 0.2 / len(FAULTS) for kind in FAULTS})
    assert time.monotonic() - begin < BOUND_S

    assert {j.subject_id for j in rough} == {f"i{n}" for n in range(ITEMS)}
    assert len(rough) == ITEMS == summary["n_total"]
    unscored = summary["unscored"]
    scored = summary["n_scored"]
    assert isinstance(unscored, dict)
    assert isinstance(scored, int)
    assert scored + sum(unscored.values()) == ITEMS

    before = {j.subject_id: j for j in calm}
    unaffected = [j for j in rough if clean(j)]
    assert ITEMS / 5 < len(unaffected) < ITEMS
    for judgment in unaffected:
        assert labels(judgment) == labels(before[judgment.subject_id])
        assert judgment.scores == before[judgment.subject_id].scores

    for judgment in rough:
        for verdict in judgment.verdicts:
            # The mock answers with labels only: what has none must say why.
            assert (verdict.label is None) == (verdict.unscored_reason is not None)
        missing = [v for v in judgment.verdicts if v.label is None]
        if missing:
            assert judgment.scores["f1"].value is None


def test_server_that_only_fails_scores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))
    rows = write_rows(tmp_path / "rows.jsonl", [row(0), row(1)])
    with MockEndpoint(MockConfig(faults={"ids": 1.0})) as mock:
        done = basanite(
            *("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", mock.url, "--json"),
            *("--claims-by", "sentences"),
        )
    assert done.code == 4
    summary = done.json()
    assert summary["n_scored"] == 0
    scores = summary["scores"]
    assert isinstance(scores, dict)
    assert scores["f1"] is None
    assert scores["f1_interval"] is None
    exported = basanite("export", tmp_path / "run", "--format", "jsonl")
    for line in exported.out.splitlines():
        judgment = json.loads(line)
        assert judgment["replies"], "the raw replies are kept"
        assert judgment["message"]
