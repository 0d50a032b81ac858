"""Scores of open and multiple-choice questions by hand, as published and ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from basanite.errors import InputError, RowError
from basanite.schema import Score, UnscoredReason
from basanite.stats import clustered_mean
from basanite.store import RunFolder
from basanite.suites.heureka import (
    AskedQuestions,
    HeurekaResult,
    Kind,
    heureka_boards,
    published_set,
    read_results,
    results_of_answers,
    results_of_run,
    score_results,
)
from support.command import write_rows
from support.heureka import choice_questions, open_questions
from support.run_folders import private_manifest, write_run
from support.store_samples import make_answer, make_judgment

OPEN = AskedQuestions.of(open_questions())
CHOICE = AskedQuestions.of(choice_questions())
IDS = list(OPEN.papers)
LETTERS = list(CHOICE.papers)


def rating(task: str, score: float | None, trial: str = "1", **fields: Any) -> HeurekaResult:
    return HeurekaResult("A", task, Kind.OPEN, trial, score=score, **fields)


def agent_of(rows: list[HeurekaResult], asked: AskedQuestions, **options: Any) -> dict[str, Any]:
    envelope: Any = score_results(rows, asked, **options).to_json()
    assert json.loads(json.dumps(envelope, allow_nan=False)) == envelope
    found: dict[str, Any] = envelope["agents"]["A"]
    return found


def test_ratings_by_hand() -> None:
    rows = [
        *(rating(IDS[0], score, trial) for score, trial in ((1, "1"), (3, "2"))),
        *(rating(IDS[1], score, trial) for score, trial in ((4, "1"), (None, "2"))),
        rating(IDS[3], 5.0, "1"),
    ]
    found = agent_of(rows, OPEN)
    # Ours: questions 2, 4 and 5, the first two of one paper; published: runs 10/3 and 3.
    expected = clustered_mean([2, 4, 5], ["p1", "p1", "p2"])
    assert found["rating"] == pytest.approx(11 / 3)
    assert found["rating_interval"] == pytest.approx([expected.low, expected.high])
    assert found["rating_published"] == pytest.approx((10 / 3 + 3) / 2)
    assert found["rating_published_sd_runs"] == pytest.approx(abs(10 / 3 - 3) / 2**0.5)
    assert found["rating_sd_runs"] == pytest.approx(2**0.5)
    # The one question that was never tried could be anything from 1 to 5.
    assert found["rating_bounds"] == pytest.approx([12 / 4, 16 / 4])
    assert (found["n_scored"], found["n_trials"], found["n_runs"]) == (4, 5, 2)
    assert (found["n_questions_scored"], found["n_papers_scored"]) == (3, 2)
    assert found["unscored"] == {"not_given": 1}
    assert found["missing_questions"] == [IDS[2]]
    assert found["unscored_questions"] == []


def test_ratings_beyond_the_scale() -> None:
    with pytest.raises(InputError, match=r"rating is 0\.97, not from 1 to 5"):
        heureka_boards([rating(IDS[0], 0.97)], OPEN)
    with pytest.raises(InputError, match=r"rating is 5\.5"):
        heureka_boards([rating(IDS[0], 5.5)], OPEN, lowest=0)
    # Their own judge weighs in tokens that are no digits as 0.
    rows = [rating(IDS[0], 0.97), rating(IDS[1], 0.0)]
    envelope: Any = score_results(rows, OPEN, lowest=0).to_json()
    assert any(note.startswith("1 ratings are exactly 0") for note in envelope["notes"])


def test_problems_name_file_and_row(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    good = {"agent": "A", "task": IDS[0], "score": 3}
    for row, problem in (
        (good | {"task": IDS[1], "score": 7}, "the rating is 7, not from 1 to 5"),
        (good | {"task": "nowhere"}, "there is no question 'nowhere'"),
    ):
        rows = read_results(write_rows(path, [good, row]))
        with pytest.raises(InputError, match=problem) as raised:
            heureka_boards(rows, OPEN)
        assert str(raised.value).startswith(f"{path}, row 2, agent A")


def letters(answers: Mapping[str, str | None], trial: str = "1") -> list[HeurekaResult]:
    return [
        HeurekaResult("A", task, Kind.CHOICE, trial, answer=answer)
        for task, answer in answers.items()
    ]


def test_letters_by_hand() -> None:
    # Right are A,C and B in each paper; "A, C" is wrong by the published rule only.
    rows = letters(
        {
            LETTERS[0]: "A, C",
            LETTERS[1]: "A",
            LETTERS[2]: "A",
            LETTERS[3]: None,
            LETTERS[4]: "A or B",
        }
    )
    found = agent_of(rows, CHOICE)
    expected = clustered_mean([1, 0, 0], ["p1", "p1", "p2"])
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["accuracy_interval"] == pytest.approx([expected.low, expected.high])
    assert found["recall"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert found["precision"] == pytest.approx((1 + 0 + 1) / 3)
    assert found["unscored"] == {"not_given": 1, "ambiguous_choice": 1}
    assert found["accuracy_published"] == 0
    # Over the four with a prediction: hits A of {A, " C"}, none, A, none.
    assert found["recall_published"] == pytest.approx((1 / 2 + 0 + 1 / 2 + 0) / 4)
    assert found["precision_published"] == pytest.approx((1 / 2 + 0 + 1 + 0) / 4)
    assert found["accuracy_published_sd_runs"] is None
    assert found["missing_questions"] == [LETTERS[5]]
    assert found["accuracy_bounds"] == pytest.approx([1 / 6, 4 / 6])


def test_two_runs_of_letters() -> None:
    right = dict(zip(LETTERS, ["A,C", "B"] * 3, strict=True))
    rows = letters(right) + letters({**right, LETTERS[0]: "B"}, "2")
    found = agent_of(rows, CHOICE)
    assert found["accuracy"] == pytest.approx(5.5 / 6)
    assert found["accuracy_published"] == pytest.approx(5.5 / 6)
    assert found["accuracy_published_sd_runs"] == pytest.approx((1 / 6) / 2**0.5)
    assert found["accuracy_sd_runs"] == pytest.approx((1 / 2**0.5) / 6)
    envelope: Any = score_results(rows, CHOICE).to_json()
    assert envelope["baselines"]["always_B"]["accuracy"] == 0.5
    assert [board.measure for board in heureka_boards(rows, CHOICE)] == [
        *("accuracy", "recall", "precision", "f1")
    ]


def test_published_sets_know_their_questions() -> None:
    asked = AskedQuestions.published("oeq")
    ids = list(asked.papers)
    found = agent_of([rating(ids[0], 2.0)], asked)
    assert len(found["missing_questions"]) == 49
    with pytest.raises(InputError, match=r"no question 'paper1/insight #99/Question1' \(50"):
        heureka_boards([rating("paper1/insight #99/Question1", 2.0)], asked)
    with pytest.raises(InputError, match="is no published set"):
        published_set("oeqq")
    with pytest.raises(InputError, match="without the questions' right ones"):
        task = next(iter(published_set("mcq").papers))
        heureka_boards(letters({task: "A"}), AskedQuestions.published("mcq"))


def test_results_that_do_not_belong_together() -> None:
    with pytest.raises(InputError, match=r"are of choice questions, and those asked are open"):
        heureka_boards(letters({IDS[0]: "A"}), OPEN)
    with pytest.raises(InputError, match=r"trial 1: stands twice"):
        heureka_boards([rating(IDS[0], 2.0), rating(IDS[0], 3.0)], OPEN)
    with pytest.raises(InputError, match="some rows are ratings"):
        heureka_boards([rating(IDS[0], 2.0), *letters({IDS[1]: "A"})], OPEN)
    with pytest.raises(InputError, match="no results"):
        heureka_boards([], OPEN)


def test_files_of_rows(tmp_path: Path) -> None:
    rows = [
        {"agent": "A", "task": IDS[0], "trial": 2, "score": 3, "cost": 0.5},
        {"agent": "A", "task": IDS[1], "score": None, "unscored_reason": "timeout"},
    ]
    found = read_results(write_rows(tmp_path / "rows.jsonl", rows))
    assert found == [
        rating(IDS[0], 3.0, "2", cost=0.5),
        rating(IDS[1], None, unscored_reason="timeout"),
    ]
    table = tmp_path / "rows.csv"
    cells = [f"A,{IDS[0]},2,3,,0.5", f"A,{IDS[1]},,,timeout,"]
    head = "agent,task,trial,score,unscored_reason,cost"
    table.write_text("\n".join([head, *cells]) + "\n", encoding="utf-8")
    assert read_results(table) == found
    answers = write_rows(
        tmp_path / "answers.jsonl",
        [{"agent": "A", "task": LETTERS[0], "answer": ["A", "C"]}],
    )
    assert read_results(answers) == results_of_answers({LETTERS[0]: "A,C"}, "A")


def test_a_judged_run_gives_ratings(tmp_path: Path) -> None:
    judged = [
        make_judgment(IDS[0], primary="rating", scores={"rating": Score(value=2.4)}),
        make_judgment(
            IDS[1],
            primary="rating",
            scores={"rating": Score(unscored_reason=UnscoredReason.REPLY_CUT)},
            trial="x",
        ),
    ]
    answers = [make_answer(one.subject_id) for one in judged]
    manifest = private_manifest("geval", rows=2)
    with RunFolder.open(write_run(tmp_path / "run", answers, judged, manifest)) as folder:
        found = results_of_run(folder, "A", "3")
    assert found == [
        rating(IDS[0], 2.4, "3"),
        rating(IDS[1], None, "x", unscored_reason="reply_cut"),
    ]
    assert agent_of(found, OPEN)["unscored"] == {"reply_cut": 1}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"score": True}, "row 2: score is `true`, not a number"),
        ({"score": "high"}, "row 2: score is `'high'`"),
        ({"task": IDS[0], "score": 2}, "row 2: is the same agent, task and trial as row 1"),
        ({"score": 2, "cost": -1}, "row 2: cost is `-1.0`"),
        ({"score": 2, "cost": False}, "row 2: cost is `false`"),
        ({"score": 2, "unscored_reason": "timeout"}, "row 2: has an unscored_reason, 'timeout'"),
        ({"agent": None, "score": 2}, "row 2: agent is missing"),
        ({"task": 1.5, "score": 2}, "row 2: task is `1.5` and must be text"),
        ({"agent": " ", "score": 2}, "row 2: agent is empty"),
        ({}, "row 2: score is missing"),
        ({"score": 10**400}, "row 2: score is `1000+`, whose size is beyond"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    rows = [{"agent": "A", "task": IDS[0], "score": 1}, {"agent": "A", "task": IDS[1]} | row]
    with pytest.raises(RowError, match=said):
        read_results(write_rows(tmp_path / "rows.jsonl", rows))


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    nan = tmp_path / "nan.jsonl"
    nan.write_text('{"agent": "A", "task": "t", "score": NaN}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"NaN|score"):
        read_results(nan)
    for rows, said in (
        ([{"agent": "A", "task": "t", "score": 1, "answer": "A"}], "both score and answer"),
        ([{"agent": "A", "task": "t"}], "neither score nor answer"),
    ):
        with pytest.raises(InputError, match=said):
            read_results(write_rows(tmp_path / "bad.jsonl", rows))
    for bad in (True, float("nan"), float("inf")):
        with pytest.raises(InputError, match="score is"):
            rating(IDS[0], bad)
