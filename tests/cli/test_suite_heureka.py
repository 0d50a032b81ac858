"""`suite heureka` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command import basanite, write_rows
from support.heureka import choice_file, choice_questions, open_file, open_questions

SUITE = ("suite", "heureka")
IDS = list(open_questions().by_id)
LETTERS = list(choice_questions().by_id)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Question files, ratings of two agents, and letters in the published form."""
    values = {
        "oeq.json": open_file(),
        "mcq.json": choice_file(),
        "letters.json": {f"paper{n}": {"insight #1": {"Question1": "A,C"}} for n in (1, 2, 3)},
    }
    for name, value in values.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    rows = [
        {"agent": agent, "task": id_, "trial": str(trial), "score": 1 + (at + trial + more) % 5}
        for more, agent in enumerate(("[b]one[/b]", "two"))
        for at, id_ in enumerate(IDS)
        for trial in (1, 2)
    ]
    write_rows(tmp_path / "ratings.jsonl", [row | {"cost": 0.1} for row in rows])
    return {path.name: path for path in tmp_path.iterdir()}


def test_list_and_show(files: dict[str, Path]) -> None:
    found: Any = basanite(*SUITE, "list", "--json").json()
    assert found["schema"] == "basanite.suite.heureka.list/1"
    assert found["sets"]["mcq"] == {
        "kind": "choice",
        "n_papers": 13,
        "n_insights": 37,
        "n_questions": 50,
    }
    assert len(found["published"]["results"]) > 20
    assert "GPT-OSS-120B" in basanite(*SUITE, "list", "--results").out
    assert "oeq_tu" in basanite(*SUITE, "list").out
    asked = ("--questions", files["mcq.json"])
    listed: Any = basanite(*SUITE, "list", *asked, "--json").json()
    assert (listed["n_papers"], listed["n_questions"]) == (3, 6)
    assert listed["baselines"]["always_B"]["accuracy"] == 0.5
    assert LETTERS[0] in basanite(*SUITE, "list", *asked).out
    shown: Any = basanite(*SUITE, "show", LETTERS[0], *asked, "--json").json()
    assert shown["right"] == ["A", "C"]
    assert "alpha" in basanite(*SUITE, "show", LETTERS[0], *asked).out
    assert len(basanite(*SUITE, "show", "oeq_lite", "--json").json()["ids"]) == 22  # type: ignore[arg-type]
    for command in (("show", "none"), ("show", "x", *asked), ("list", *asked, "--results")):
        assert basanite(*SUITE, *command).code == 2


def test_import_gives_each_form(files: dict[str, Path], tmp_path: Path) -> None:
    structured, raw = tmp_path / "structured.json", tmp_path / "raw.json"
    done = basanite(*SUITE, "import", files["oeq.json"], "-o", structured, "--json")
    assert done.json() == {
        "schema": "basanite.suite.heureka.import/1",
        "form": "structured",
        "n": 4,
        "unanswered": [],
        "out": str(structured),
    }
    assert basanite(*SUITE, "import", structured, "-o", raw, "--as", "raw").code == 0
    assert json.loads(raw.read_text()) == open_file()
    tasks = tmp_path / "tasks.jsonl"
    assert basanite(*SUITE, "import", structured, "-o", tasks, "--as", "tasks").code == 0
    assert "Answer" not in tasks.read_text()
    assert "Cells of kind" not in tasks.read_text()
    out = tmp_path / "rows.jsonl"
    source = ("import", files["mcq.json"], "-o", out, "--as", "rows")
    answered = ("--answers", files["letters.json"], "--agent", "one")
    done = basanite(*SUITE, *source, *answered, "--json")
    assert done.json()["unanswered"] == [id_ for id_ in LETTERS if id_.endswith("2")]
    assert basanite("judge", "choice", out, "-o", tmp_path / "run").code == 0
    again = basanite(*SUITE, *source, *answered)
    assert again.code == 2, "a file that is there is not written over"
    assert basanite(*SUITE, *source, "--force").code == 2
    assert basanite(*SUITE, *source, *answered, "--force").code == 0


def test_score_compare_and_report_of_ratings(files: dict[str, Path], tmp_path: Path) -> None:
    given = (files["ratings.jsonl"], "--questions", files["oeq.json"])
    scored: Any = basanite(*SUITE, "score", *given, "--json").json()
    assert scored["schema"] == "basanite.suite.heureka.score/1"
    one = scored["agents"]["[b]one[/b]"]
    assert one["n_runs"] == 2
    assert one["n_papers_scored"] == 2
    assert one["missing_questions"] == []
    shown = basanite(*SUITE, "score", *given)
    assert shown.code == 0, shown.err
    assert "[b]one[/b]" in shown.out
    assert "as published" in shown.out
    compared: Any = basanite(*SUITE, "compare", *given, "--json").json()
    (board,) = compared["boards"]
    assert board["agents"]["two"]["n_clusters"] == 2
    assert board["agents"]["two"]["mean"] == scored["agents"]["two"]["rating"]
    page = tmp_path / "page.html"
    plots = ("--plots", tmp_path / "plots")
    done = basanite(*SUITE, "report", *given, "-o", page, *plots)
    assert done.code == 0, done.err
    text = page.read_text(encoding="utf-8")
    assert "the tasks of one cluster taken together" in text
    assert "questions of one paper together" in text
    assert list((tmp_path / "plots").glob("*.svg"))


def test_letters_of_a_published_results_file(files: dict[str, Path]) -> None:
    letters = f"one={files['letters.json']}"
    given = ("--questions", files["mcq.json"], letters, letters)
    scored: Any = basanite(*SUITE, "score", *given, "--json").json()
    one = scored["agents"]["one"]
    assert (one["accuracy"], one["accuracy_published"]) == (1.0, 0.5)
    assert (one["n_runs"], one["n_questions_scored"]) == (2, 3)
    assert one["accuracy_bounds"] == [0.5, 1.0]
    shown = basanite(*SUITE, "score", *given)
    assert "always B" in shown.out
    assert "over all 6 questions, accuracy from 0.500 to 1.000" in shown.out


def test_a_judged_run_is_taken_if_it_holds_ratings(files: dict[str, Path], tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    answers = ("--answers", files["letters.json"], "--agent", "one")
    basanite(*SUITE, "import", files["mcq.json"], "-o", rows, "--as", "rows", *answers)
    assert basanite("judge", "choice", rows, "-o", tmp_path / "run").code == 0
    done = basanite(*SUITE, "score", f"one={tmp_path / 'run'}", "--questions", files["mcq.json"])
    assert done.code == 2
    assert "gives no ratings" in done.err
    for results in (tmp_path / "run", files["letters.json"]):
        done = basanite(*SUITE, "score", results)
        assert done.code == 2
        assert "does not say whose results" in done.err


def test_bad_results_are_named(files: dict[str, Path], tmp_path: Path) -> None:
    done = basanite(*SUITE, "score", files["ratings.jsonl"])
    assert done.code == 2
    assert "there is no question" in done.err or "(50 are known)" in done.err
    bad = write_rows(tmp_path / "bad.jsonl", [{"agent": "a", "task": IDS[0], "score": 9}])
    done = basanite(*SUITE, "score", bad, "--questions", files["oeq.json"])
    assert done.code == 2
    assert f"{bad}, row 1, agent a, task {IDS[0]}" in done.err
    assert "the rating is 9, not from 1 to 5" in done.err
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps({"p": {"i": {"oe_question": "x"}}}), encoding="utf-8")
    done = basanite(*SUITE, "score", bad, "--questions", damaged)
    assert f"{damaged}, p/i" in done.err
    labels = tmp_path / "labels.csv"
    done = basanite(*SUITE, "score", bad, "--categories", labels)
    assert "checked against the questions" in done.err


def test_an_insight_that_stands_twice(tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.json"
    gold.write_text('{"p/i": {"gt_files": ["a.py"]}, "p/i": {"gt_files": ["b.py"]}}')
    found.write_text("{}")
    done = basanite(*SUITE, "codematcher", gold, found)
    assert done.code == 2
    assert f"{gold}: " in done.err
    assert "'p/i' stands twice in one object" in done.err


def test_critics_and_agreement(tmp_path: Path) -> None:
    rows = [
        {"task": f"q{n}", "arm": arm, "score": 1 + (n + more) % 5}
        for n in range(8)
        for more, arm in enumerate(("none", "end", "baseline"))
    ]
    file = write_rows(tmp_path / "study.jsonl", rows)
    found: Any = basanite(*SUITE, "critics", file, "--json").json()
    assert found["schema"] == "basanite.suite.heureka.critics/1"
    assert found["study"]["groups"]["by"] == "baseline"
    assert [one["group"] for one in found["published"]] == [None, "low", "mid", "high"]
    done = basanite(*SUITE, "critics", file, "--questions", "oeq")
    assert done.code == 2
    assert f"{file}, row 1: there is no question 'q0'" in done.err
    assert "groups by the arm `none` itself" in basanite(*SUITE, "critics", file).out
    ratings = [
        {"item": n, "rater": rater, "rating": 1 + (n * more) % 5}
        for n in range(8)
        for more, rater in enumerate(("j", "x", "y"), 1)
    ]
    file = write_rows(tmp_path / "ratings.jsonl", ratings)
    agreed: Any = basanite(*SUITE, "agreement", file, "--judge", "j", "--json").json()
    assert agreed["judges"]["j"]["median"]["n"] == 8
    assert "each expert" in basanite(*SUITE, "agreement", file, "--judge", "j").out
    assert basanite(*SUITE, "agreement", file, "--judge", "q").code == 2
