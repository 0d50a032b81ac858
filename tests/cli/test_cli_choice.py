"""`judge choice` and `metrics choice`, as a user types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from basanite.judges import CHOICE_SCORES
from support.choices import OPTIONS, choice_row
from support.command import basanite, write_rows

ROWS = [
    choice_row(0),
    choice_row(1, answer="Answer: A", truth=["A", "D"]),
    choice_row(2, answer=["b"], options=list(OPTIONS.values())),
    choice_row(3, answer="B cells and T cells"),
    choice_row(4, answer="", truth="none"),
    choice_row(5, truth="F"),
    choice_row(6, answer=[], truth=[]),
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", ROWS)


def test_judge_choice_scores_what_is_clear(rows: Path, tmp_path: Path) -> None:
    done = basanite("judge", "choice", rows, "-o", tmp_path / "run", "--json")
    assert done.code == 4, done.err  # 3 of 7 have no score
    found: Any = done.json()
    assert (found["judge"], found["primary"]) == ("choice", "accuracy")
    assert (found["n_scored"], found["n_total"]) == (4, 7)
    assert found["unscored"] == {"ambiguous_choice": 1, "empty_answer": 1, "invalid_row": 1}
    assert found["scores"]["accuracy"] == 3 / 4
    assert found["scores"]["recall"] == pytest.approx((1 + 1 / 2 + 1 + 1) / 4)
    assert {found["coverage"][name]["n_scored"] for name in CHOICE_SCORES} == {4}
    kept = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert kept["scores"] == found["scores"]
    assert kept["choice"] == found["choice"]


def test_choice_runs_have_choice_baselines_and_no_lexical_one(rows: Path, tmp_path: Path) -> None:
    done = basanite("judge", "choice", rows, "-o", tmp_path / "run", "--json")
    found: Any = done.json()
    assert found["baseline"] is None
    choice = found["choice"]
    assert choice["n_compared"] == found["n_scored"]
    assert choice["baselines"]["always_B"]["accuracy"] == 2 / 4
    assert choice["baselines"]["always_A"]["recall"] == pytest.approx(0.5 / 4)
    assert (choice["n_questions"], choice["n_predicted"]) == (6, 6)
    assert choice["published_accuracy"] == pytest.approx(2 / 6)
    assert "lexical" not in done.err
    assert "always B" in done.err


def test_a_file_without_any_question_is_refused_before_the_run(tmp_path: Path) -> None:
    bare = write_rows(tmp_path / "bare.jsonl", [choice_row(0, options=None)])
    done = basanite("judge", "choice", bare, "-o", tmp_path / "run")
    assert done.code == 2
    assert "'q0'" in done.err
    assert "options" in done.err
    assert not (tmp_path / "run").exists()


def test_resume_and_report_of_a_choice_run(rows: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert basanite("judge", "choice", rows, "-o", run, "--max-unscored", "1").code == 0
    again = basanite("judge", "choice", rows, "-o", run, "--max-unscored", "1", "--resume")
    assert again.code == 0, again.err
    done = basanite("report", run, "-o", tmp_path / "report.html")
    assert done.code == 0, done.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the longest option" in page
    assert 'href="#baseline"' not in page
    assert "nothing was scored" not in page


def test_csv_rows_have_options_and_letters_in_cells(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "question", "answer", "truth", "options"))
        writer.writerow(("1", "Q?", '["A", "B"]', "A, B", json.dumps(OPTIONS)))
    done = basanite("judge", "choice", path, "-o", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    found: Any = done.json()
    assert found["scores"]["accuracy"] == 1


def test_metrics_choice_of_rows(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", ROWS[:4])
    done = basanite("metrics", "choice", path, "--json")
    assert done.code == 0, done.err
    found: Any = done.json()
    assert (found["schema"], found["n_total"]) == ("basanite.choice_metrics/1", 4)
    assert found["predictions"]["accuracy"] == pytest.approx(2 / 3)
    assert found["predictions"]["unscored"] == {"ambiguous_choice": 1}
    other = tmp_path / "other.json"
    other.write_text('{"q0": "B", "q3": ["B"]}', encoding="utf-8")
    found = basanite("metrics", "choice", path, "--predictions", other, "--json").json()
    assert found["predictions"]["unscored"] == {"no_prediction": 2}
    assert found["predictions"]["accuracy"] == 1


QUESTIONS = {
    "paper1": {
        "insight #1": {
            "mcq_question": "**Question1:** Which?\nA) one\nB) the second\n\n**Answer1:** B\n\n"
            "**Question2:** And?\nA) one\nB) two\n**Answer2:** A,B"
        }
    }
}


def test_metrics_choice_of_raw_questions(tmp_path: Path) -> None:
    path = tmp_path / "mcq.json"
    path.write_text(json.dumps(QUESTIONS), encoding="utf-8")
    bare = basanite("metrics", "choice", path)
    assert bare.code == 0, bare.err
    assert "longest option" in bare.out
    assert "predictions" not in bare.out
    answers = tmp_path / "processed_results.json"
    nested = {"paper1": {"insight #1": {"Question1": "maybe", "Question2": "A, B"}}}
    answers.write_text(json.dumps(nested), encoding="utf-8")
    done = basanite("metrics", "choice", path, "--predictions", answers)
    assert done.code == 0, done.err
    assert "unscored: 1 ambiguous_choice" in done.out
    found: Any = basanite("metrics", "choice", path, "--json").json()
    assert found["predictions"] is None


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("no.json", None, "no such file"),
        ("a.json", "{}", "no multiple-choice question"),
        ("b.json", "[1", "not JSON"),
        ("c.jsonl", json.dumps(choice_row(0, truth="Z")), "Z is not among the options"),
        ("d.jsonl", json.dumps(choice_row(0, options=["x"])), "row 1"),
        ("e.txt", "x", "suffix"),
    ],
)
def test_metrics_choice_says_what_is_wrong(
    tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    done = basanite("metrics", "choice", path)
    assert done.code == 2
    assert said in done.err
    assert name in done.err or "q0" in done.err
