"""`basanite judge geval`: its modes, what each needs, and a model for each role."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.cli._models import models_of
from basanite.errors import InputError
from support.asking import asked_of
from support.command import Done, basanite, row, write_rows
from support.mock_endpoint import MockConfig, MockEndpoint, Reply

FACTS = [["", "Group A grows", "it is larger"], ["at week 2", "B shrinks", ""]]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", [row(number) for number in range(6)])


@pytest.fixture
def mock() -> Iterator[MockEndpoint]:
    with MockEndpoint(MockConfig(models=("mock-model", "small"))) as server:
        yield server


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))


def geval(rows: Path, out: Path, url: str, *more: object) -> Done:
    where = ("--endpoint", url) if url else ()
    return basanite("judge", "geval", rows, "-o", out, *where, "--json", *more)


def judgments(folder: Path) -> list[dict[str, object]]:
    exported = basanite("export", folder, "--format", "jsonl")
    assert exported.code == 0, exported.err
    return [json.loads(line) for line in exported.out.splitlines()]


def test_facts(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    done = geval(rows, tmp_path / "run", mock.url, "--model", "mock-model")
    assert done.code == 0, done.err
    summary = done.json()
    assert summary["n_scored"] == summary["n_total"] == 6
    scores = summary["scores"]
    assert isinstance(scores, dict)
    assert 1 <= scores["rating"] <= 5 and 1 <= scores["rating_literal"] <= 5
    for judgment in judgments(tmp_path / "run"):
        assert judgment["score_mode"] == "facts"
        assert judgment["facts"] and judgment["fact_verdicts"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["judge"]["prompts"]) == {"extract", "label", "check"}


def test_facts_of_the_truth_can_be_given(tmp_path: Path, mock: MockEndpoint) -> None:
    given = [row(number) | {"truth_facts": FACTS} for number in range(2)]
    source = write_rows(tmp_path / "rows.jsonl", given)
    done = geval(source, tmp_path / "run", mock.url, "--model", "mock-model")
    assert done.code == 0, done.err
    for judgment in judgments(tmp_path / "run"):
        facts = judgment["facts"]
        assert isinstance(facts, list)
        of_truth = [fact for fact in facts if fact["side"] == "truth"]
        assert [[f["condition"], f["trend"], f["conclusion"]] for f in of_truth] == FACTS


def test_a_rating_weighted_by_probabilities(rows: Path, tmp_path: Path) -> None:
    def reply(body: dict[str, object]) -> str | Reply:
        return '{"rating": 4}'

    with MockEndpoint(responder=reply) as mock:
        done = geval(rows, tmp_path / "run", mock.url, "--mode", "rating")
        assert done.code == 0, done.err
        bodies = asked_of(mock)
    assert {body.get("top_logprobs") for body in bodies} == {20}
    scores = done.json()["scores"]
    assert isinstance(scores, dict)
    assert (scores["rating"], scores["rating_top"]) == (4, 4)
    for judgment in judgments(tmp_path / "run"):
        assert judgment["score_mode"] == "weighted"
        assert isinstance(judgment["probability_mass"], float)
        assert 0.5 < judgment["probability_mass"] < 1


def test_a_mass_below_the_floor_is_unscored(rows: Path, tmp_path: Path) -> None:
    with MockEndpoint(responder=lambda body: '{"rating": 4}') as mock:
        more = ("--mode", "rating", "--least-mass", "0.99")
        done = geval(rows, tmp_path / "run", mock.url, *more)
    assert done.code == 4
    assert done.json()["unscored"] == {"low_mass": 6}


def test_the_mean_of_samples(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    more = ("--mode", "sampled", "--samples", "3", "--temperature", "0.7")
    done = geval(rows, tmp_path / "run", mock.url, "--model", "mock-model", *more)
    assert done.code == 0, done.err
    bodies = asked_of(mock)
    assert len(bodies) == 18
    assert {body["temperature"] for body in bodies} == {0.7}
    assert len({body["seed"] for body in bodies}) == 3
    for judgment in judgments(tmp_path / "run"):
        assert judgment["score_mode"] == "sampled"
        assert "rating_top" not in judgment["scores"]  # type: ignore[operator]


def test_a_mode_that_the_endpoint_can_not_do_names_those_it_can(rows: Path, tmp_path: Path) -> None:
    with MockEndpoint(MockConfig(logprobs=False)) as mock:
        done = geval(rows, tmp_path / "run", mock.url, "--mode", "rating")
        assert done.code == 2
        assert "log probabilities" in done.err
        assert "sampled" in done.err and "facts" in done.err
        assert not (tmp_path / "run" / "manifest.json").exists()
        again = geval(rows, tmp_path / "run", mock.url, "--mode", "sampled")
        assert again.code == 0, again.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--samples", "3"), "--samples"),
        (("--mode", "rating", "--temperature", "0.5"), "--temperature"),
        (("--mode", "sampled", "--least-mass", "0.1"), "--least-mass"),
        (("--reasoning",), "--reasoning"),
        (("--mode", "rating", "--criteria", "nowhere.md"), "nowhere.md"),
    ],
)
def test_an_option_of_another_mode_is_refused(
    more: tuple[str, ...], said: str, rows: Path, tmp_path: Path, mock: MockEndpoint
) -> None:
    done = geval(rows, tmp_path / "run", mock.url, "--model", "mock-model", *more)
    assert done.code == 2
    assert said in done.err
    assert asked_of(mock) == []


def test_criteria_of_ones_own(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    criteria = tmp_path / "criteria.md"
    criteria.write_text("Is the answer polite? 1 is rude, 5 is polite.", encoding="utf-8")
    more = ("--mode", "sampled", "--samples", "1", "--criteria", criteria)
    done = geval(rows, tmp_path / "run", mock.url, "--model", "mock-model", *more)
    assert done.code == 0, done.err
    assert all("1 is rude, 5 is polite." in str(body["messages"]) for body in asked_of(mock))


def test_a_model_for_each_role(rows: Path, tmp_path: Path, mock: MockEndpoint) -> None:
    more = ("--model", "extract=small", "--model", "check=mock-model")
    done = geval(rows, tmp_path / "run", mock.url, *more)
    assert done.code == 0, done.err
    by_model: dict[object, set[bool]] = {}
    for body in asked_of(mock):
        extracts = "Break the findings of a text" in str(body["messages"])
        by_model.setdefault(body["model"], set()).add(extracts)
    assert by_model == {"small": {True}, "mock-model": {False}}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["judge"]["model"]["name"] == "mock-model"
    assert manifest["judge"]["options"]["extract_model"]["name"] == "small"


def test_an_endpoint_for_each_role(rows: Path, tmp_path: Path) -> None:
    with MockEndpoint() as one, MockEndpoint() as two:
        more = ("--endpoint", f"extract={one.url}", "--endpoint", f"check={two.url}")
        done = geval(rows, tmp_path / "run", "", *more)
        assert done.code == 0, done.err
        prompts = [str(body["messages"]) for body in asked_of(one)]
        others = [str(body["messages"]) for body in asked_of(two)]
    assert prompts and all("Break the findings" in prompt for prompt in prompts)
    assert others and not any("Break the findings" in prompt for prompt in others)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["endpoints"]) == {"extract", "check"}


@pytest.mark.parametrize(
    ("urls", "names", "said"),
    [
        (["http://h/v1"], ["judge=a"], "no role 'judge'"),
        (["http://h/v1"], ["check=a", "check=b"], "given twice"),
        (["http://h/v1"], ["a", "b"], "given twice"),
        (["http://h/v1"], ["check="], "no value"),
        (["check=http://h/v1"], ["a"], "'extract' has no endpoint"),
    ],
)
def test_roles_that_can_not_be(urls: list[str], names: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        models_of(urls, names, roles=("check", "extract"), concurrency=1)


def test_roles_in_one_text_and_for_all_others() -> None:
    roles = ("check", "extract")
    found = models_of(["http://h/v1"], ["extract=a check=b"], roles=roles, concurrency=1).roles
    assert {role: spec.model for role, spec in found.items()} == {"check": "b", "extract": "a"}
    rest = models_of(["http://h/v1"], ["extract=a", "b"], roles=roles, concurrency=1).roles
    assert {role: spec.model for role, spec in rest.items()} == {"check": "b", "extract": "a"}
