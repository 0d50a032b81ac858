"""Trials to figures by hand, and rows that can't be used."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from basanite.errors import InputError, RowError
from basanite.suites.fire import (
    FireTrial,
    difficulty_of,
    fire_boards,
    fire_tasks,
    read_tasks,
    read_trials,
    score_trials,
    trial_lines,
)
from support.command import write_rows
from support.fire import EASY, HARD, MEDIUM, file_of, of, trial


def test_trial_task_macro_by_hand() -> None:
    rows = of("a", {EASY: [0.9, 0.7, 0.8], MEDIUM: [0.2, 0.4], HARD: [0.0]})
    rows += of("b", {EASY: [0.8], MEDIUM: [0.1]})
    found = score_trials(rows)
    a, b = found.agents["a"], found.agents["b"]
    assert a.f1.value == pytest.approx((0.8 + 0.3 + 0.0) / 3)
    # Trials would give 0.5: a task counts once, however many trials it has.
    assert a.f1.value != pytest.approx(sum((0.9, 0.7, 0.8, 0.2, 0.4, 0.0)) / 6)
    spread = a.spread["f1"]
    assert spread.sd_tasks == pytest.approx(math.sqrt((0.8**2 + 0.3**2 - 1.1**2 / 3) / 2))
    assert spread.sd_runs == pytest.approx((0.1 + math.sqrt(0.02)) / 2)
    assert spread.n_repeated == 2
    assert (spread.best_tasks, b.spread["f1"].best_tasks) == (2, 1)
    assert b.spread["f1"].missing_tasks == (HARD,)
    assert b.spread["f1"].sd_runs is None
    assert a.cost is None
    assert found.notes == (
        "3 of the 30 published tasks are scored",
        "a has from 1 to 3 trials a task",
    )


def test_f1_is_the_mean_of_trials_and_not_of_the_means() -> None:
    rows = [
        FireTrial("a", EASY, "0", f1=0.0, precision=1.0, recall=0.0),
        FireTrial("a", EASY, "1", f1=0.0, precision=0.0, recall=1.0),
        FireTrial("a", MEDIUM, "0", f1=1.0, precision=1.0, recall=1.0),
    ]
    one = score_trials(rows).agents["a"]
    assert (one.precision.value, one.recall.value, one.f1.value) == (0.75, 0.75, 0.5)
    assert one.f1_of_means == 0.75


def test_unscored_trials_are_in_no_mean_and_are_counted() -> None:
    rows = of("a", {EASY: [0.6, 0.8], MEDIUM: [0.4]})
    rows.append(FireTrial("a", EASY, "x", None, unscored_reason="empty_answer"))
    rows.append(FireTrial("a", HARD, "x", None, unscored_reason="no_claims"))
    one = score_trials(rows).agents["a"]
    numbers = one.spread["f1"]
    assert one.f1.value == pytest.approx(0.55)
    assert numbers.unscored == {"empty_answer": 1, "no_claims": 1}
    assert numbers.unscored_tasks == (HARD,)
    # As published, each counts as 0.
    assert one.f1_published.value == pytest.approx((1.4 / 3 + 0.4 + 0) / 3)


def test_files_in_shares_and_in_percent(tmp_path: Path) -> None:
    given = file_of(tmp_path, trial(f1=0.5), trial(number=1, precision=1, recall=0.25, f1=0.4))
    (first, second) = read_trials(given)
    assert (first.trial, first.f1, second.precision) == ("0", 0.5, 1.0)
    percents = file_of(tmp_path, trial(precision=50, recall=50.0, f1=50))
    assert read_trials(percents, percent=True)[0].f1 == 0.5
    with pytest.raises(RowError, match=r"row 1: precision is `50.0`, not from 0 to 1; --percent"):
        read_trials(percents)
    with pytest.raises(RowError, match=r"row 1: f1 is `101.0`, not from 0 to 100"):
        read_trials(file_of(tmp_path, trial(f1=101, precision=1, recall=1)), percent=True)
    computed = file_of(tmp_path, {"agent": "a", "task": EASY, "trial": 0, "precision": 0.5,
                                  "recall": 1.0})  # fmt: skip
    assert read_trials(computed)[0].f1 == pytest.approx(2 / 3)
    again = tmp_path / "again.jsonl"
    again.write_bytes(trial_lines(read_trials(given)))
    assert read_trials(again) == read_trials(given)
    table = tmp_path / "trials.csv"
    table.write_text(
        f"agent,task,trial,f1,precision,recall\na,{EASY},1,0.5,0.5,0.5\na,{EASY},2,,,\n"
    )
    with_gap = read_trials(table)
    assert [(one.f1, one.unscored_reason) for one in with_gap] == [(0.5, None), (None, "not_given")]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"task": "no_such_task"}, "row 2: the task `'no_such_task'` is not known"),
    ({"task": "medical_bias"}, "It is called llm_racial_bias_in_medicine now"),
    ({}, "row 2: is the same agent, task and trial as row 1"),
    ({"trial": 1, "f1": 1.2}, "row 2: f1 is `1.2`, not from 0 to 1"),
    ({"trial": 1, "recall": -0.1}, "row 2: recall is `-0.1`, not from 0 to 1"),
    ({"trial": 1, "f1": True}, "row 2: f1 is `true`, not a number"),
    ({"trial": 1, "precision": "0.5"}, "row 2: precision is `'0.5'`, not a number"),
    ({"trial": True}, "row 2: trial is `true`"),
    ({"trial": None}, "row 2: trial is missing"),
    ({"trial": 1, "agent": " "}, "row 2: agent is empty"),
    ({"trial": 1, "cost": -1}, "row 2: cost is `-1.0`"),
    ({"trial": 1, "unscored_reason": "timeout"}, "row 2: has both an f1 and an unscored_reason"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_a_bad_row_is_named_with_its_reason(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(RowError) as raised:
        read_trials(file_of(tmp_path, trial(), trial() | change))
    assert message in str(raised.value)


def test_what_no_json_can_hold_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    for number in ("NaN", "Infinity", "1e999"):
        file.write_text(f'{{"agent": "a", "task": "{EASY}", "trial": 0, "f1": {number}}}\n')
        with pytest.raises(RowError, match="row 1"):
            read_trials(file)
    file.write_text(f'{{"agent": "a", "task": "{EASY}", "trial": 0}}\n')
    with pytest.raises(RowError, match=r"row 1: f1 is missing"):
        read_trials(file)
    file.write_text("\n")
    with pytest.raises(InputError):
        read_trials(file)
    many = [trial(number=n, f1=2) for n in range(5)]
    with pytest.raises(RowError, match=r"row 3: .*; and 2 more"):
        read_trials(file_of(tmp_path, *many))
    for value in (math.nan, True, 1.5):
        with pytest.raises(InputError, match="f1 is"):
            FireTrial("a", EASY, "0", value)
    with pytest.raises(InputError, match="stands twice"):
        score_trials(of("a", {EASY: [0.5]}) * 2)
    with pytest.raises(InputError, match="no trials"):
        score_trials([])


def test_a_score_that_stands_twice_is_refused(tmp_path: Path) -> None:
    line = json.dumps(trial()).removesuffix("}") + ', "f1": 0.9}'
    path = tmp_path / "trials.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(RowError, match=r"row 1: .*'f1' stands twice"):
        read_trials(path)


def test_csv_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_bytes(f"agent,task,trial,f1\nJosé,{EASY},1,0.5\n".encode("latin-1"))
    with pytest.raises(RowError, match=r"row 1: 'agent' holds .*no valid UTF-8"):
        read_trials(path)


@pytest.mark.parametrize(
    ("score", "percent", "said"),
    [(1, True, True), (2, True, False), (0, True, False), (0.9, False, False)],
)
def test_shares_read_as_percent_are_noted(
    tmp_path: Path, score: float, percent: bool, said: bool
) -> None:
    file = file_of(tmp_path, trial(precision=score, recall=score, f1=score))
    notes = score_trials(read_trials(file, percent=percent)).notes
    assert any("without --percent" in note for note in notes) is said


def test_an_f1_that_does_not_fit_is_taken_and_said(tmp_path: Path) -> None:
    rows = read_trials(file_of(tmp_path, trial(f1=0.9), trial(number=1, f1=0.505)))
    found = score_trials(rows)
    assert found.agents["a"].f1.value == pytest.approx(0.7025)
    assert "1 trials have an F1 that is not 2PR / (P + R)" in found.notes[0]
    assert "0.400" in found.notes[0]


def test_difficulty_bands() -> None:
    names = {
        total: {
            difficulty_of(d, c, total - d - c)
            for d in (1, 2, 3)
            for c in (1, 2, 3)
            if 1 <= total - d - c <= 3
        }
        for total in range(3, 10)
    }
    assert names == {
        3: {"easy"}, 4: {"easy"}, 5: {"medium"}, 6: {"medium"},
        7: {"hard"}, 8: {"hard"}, 9: {"hard"},
    }  # fmt: skip
    for wrong in (0, 4, True, 1.5):
        with pytest.raises(InputError, match="C is"):
            difficulty_of(1, wrong, 1)  # type: ignore[arg-type]
    counts = [task.difficulty for task in fire_tasks().tasks.values()]
    assert [counts.count(name) for name in ("easy", "medium", "hard", None)] == [7, 12, 11, 5]


def test_tasks_of_a_user(tmp_path: Path) -> None:
    meta = write_rows(
        tmp_path / "meta.jsonl",
        [
            {"task": "mine", "d": 3, "c": 3, "m": 3, "published": "2025-02-01"},
            {"task": EASY, "d": 3, "c": 2, "m": 2},
            {"task": "plain"},
        ],
    )
    tasks = read_tasks(meta)
    assert tasks.find("mine").difficulty == "hard"
    assert tasks.notes == (f"{EASY} is hard instead of easy, by the file of tasks",)
    rows = read_trials(file_of(tmp_path, trial(task="mine"), trial(task="plain")), tasks)
    found = score_trials(rows, tasks)
    assert "no difficulty is known of plain" in found.notes
    assert found.boards["f1"].groups == ("hard",)
    for row, message in [
        ({"task": EASY, "d": 4, "c": 1, "m": 1}, "row 1: D is `4`"),
        ({"task": EASY, "d": True, "c": 1, "m": 1}, "row 1: d is `true`"),
        ({"task": EASY, "d": 1}, "row 1: d, c and m are not all there"),
        ({"task": EASY, "published": "2024"}, "row 1: published is `'2024'`"),
        ({"task": EASY, "published": "2024-02-30"}, "Give a day as YYYY-MM-DD"),
        ({"task": " "}, "row 1: task is empty"),
    ]:
        with pytest.raises(RowError) as raised:
            read_tasks(write_rows(tmp_path / "bad.jsonl", [row]))
        assert message in str(raised.value)
    with pytest.raises(RowError, match="row 2: is the same task as row 1"):
        read_tasks(write_rows(tmp_path / "bad.jsonl", [{"task": EASY}] * 2))


def test_boards_with_published_agents() -> None:
    rows = of("a", {EASY: [0.9, 0.8], MEDIUM: [0.1]})
    boards = fire_boards(rows, published=["codex_gpt-5-medium"])
    assert list(boards) == ["f1"]
    board = boards["f1"]
    assert board.agents == ("a", "published: codex_gpt-5-medium")
    assert len(board.tasks) == 30
    assert board.cells["published: codex_gpt-5-medium"][EASY].mean == pytest.approx(0.917)
    assert any("truths" in note for note in board.notes)
    with pytest.raises(InputError, match="no published agent"):
        fire_boards(rows, published=["gpt"])
