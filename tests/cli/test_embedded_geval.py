"""`geval` on the embedded model: probabilities of a rating with their mass, facts with labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import Done, basanite, row, write_rows
from support.embedded import need_model, only_from


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_model()
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("BASANITE_EMBEDDED_THREADS", "1")
    only_from(tmp_path / "empty", monkeypatch)


def geval(folder: Path, count: int, *more: object) -> tuple[Done, list[dict[str, object]]]:
    source = write_rows(folder / "rows.jsonl", [row(number) for number in range(count)])
    run = folder / "run"
    done = basanite(
        *("judge", "geval", source, "-o", run, "--endpoint", "embedded", "--json", *more)
    )
    assert done.code in {0, 4}, done.err
    exported = basanite("export", run, "--format", "jsonl")
    return done, [json.loads(line) for line in exported.out.splitlines()]


def test_a_rating_has_renormalised_probabilities_and_their_mass(tmp_path: Path) -> None:
    done, judgments = geval(tmp_path, 4, "--mode", "rating", "--least-mass", "0.2")
    assert len(judgments) == 4
    for judgment in judgments:
        shares, mass = judgment["probabilities"], judgment["probability_mass"]
        assert isinstance(shares, dict) and isinstance(mass, float)
        assert list(shares) == ["1", "2", "3", "4", "5"]
        assert sum(shares.values()) == pytest.approx(1)
        # The grammar lets nothing but the digits through, so the mass is that without it.
        assert 0 < mass < 1
        scores = judgment["scores"]
        assert isinstance(scores, dict)
        if mass >= 0.2:
            mean = sum(int(value) * share for value, share in shares.items())
            assert scores["rating"]["value"] == pytest.approx(mean)
            top = max(shares, key=lambda value: shares[value])
            assert scores["rating_top"]["value"] == int(top)
        else:
            assert scores["rating"]["unscored_reason"] == "low_mass"
    print(done.err)


def test_facts_have_labels_and_quotes(tmp_path: Path) -> None:
    _, judgments = geval(tmp_path, 1)
    (judgment,) = judgments
    facts, verdicts = judgment["facts"], judgment["fact_verdicts"]
    assert isinstance(facts, list) and isinstance(verdicts, list)
    of_truth = [fact["id"] for fact in facts if fact["side"] == "truth"]
    assert of_truth
    assert [verdict["fact_id"] for verdict in verdicts] == of_truth
    scores = judgment["scores"]
    assert isinstance(scores, dict)
    if all(verdict["label"] for verdict in verdicts):
        assert scores["rating_literal"]["value"] in {1, 2, 3, 4, 5}
