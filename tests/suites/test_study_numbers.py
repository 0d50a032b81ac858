"""Numbers that a study can't compute with: said with their file and row, as the user wrote them."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.store import Ledger, RunFolder
from basanite.suites import (
    StudyRow,
    StudyRun,
    collect_scores,
    critic_study,
    read_study,
    rows_of_run,
    second_attempt,
)
from support.command import basanite, write_rows
from support.run_folders import private_manifest, write_run
from support.store_samples import make_judgment


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("True", "`True`, not a number"),
        ("true", "`true`, not a number"),
        ("yes", "`yes`, not a number"),
        ("1e999", "`1e999`, not a finite number"),
        ("NaN", "`NaN`, not a finite number"),
        ("-1e308", "`-1e308`, whose size is beyond"),
        ("\x1b[2J", "`\\x1b[2J`, not a number"),
    ],
)
def test_a_cell_of_csv_is_said_as_it_was_written(cell: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(f"task,arm,score\na,none,1\na,end,{cell}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_study(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value) and "row 2" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, "`true`, not a number"),
        ([1, True], "`[1, true]`, not a number"),
        ("high", "`'high'`, not a number"),
        (1e308, "`1e+308`, whose size is beyond 1e+100"),
        (-(10**400), "whose size is beyond 1e+100"),
    ],
)
def test_a_value_of_json_is_said_as_it_was_written(
    value: object, said: str, tmp_path: Path
) -> None:
    rows = [{"task": "a", "arm": "none", "score": 1}, {"task": "a", "arm": "end", "score": value}]
    file = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(InputError) as caught:
        read_study(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value) and "row 2" in str(caught.value)


@pytest.mark.parametrize("score", ["1", True, math.nan, np.float32("nan"), 1e101, -(10**400)])
def test_scores_of_rows_made_in_python(score: Any) -> None:
    with pytest.raises(InputError, match="score is"):
        StudyRow("a", "end", score)


def test_the_command_names_file_and_row_of_a_huge_score(tmp_path: Path) -> None:
    rows = [
        {"task": f"t{task}", "arm": arm, "score": score}
        for task in range(3)
        for arm, score in (("none", 1e308), ("end", -1e308))
    ]
    file = write_rows(tmp_path / "rows.jsonl", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = basanite("critic-study", file)
    assert done.code == 2
    told = " ".join(done.err.split())
    assert "row 1: score is `1e+308`" in told and "rows.jsonl" in told


def test_a_huge_score_of_a_run_names_run_and_answer(tmp_path: Path) -> None:
    made = make_judgment("i1", value=1e200)
    write_run(tmp_path / "run", [], [made], private_manifest("claims"))
    with RunFolder.open(tmp_path / "run") as folder, pytest.raises(InputError) as caught:
        rows_of_run(folder, "end")
    assert str(tmp_path / "run") in str(caught.value) and "i1" in str(caught.value)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e100, 1e100), min_size=4, max_size=40))
def test_all_that_is_let_in_can_be_computed(scores: list[float]) -> None:
    half = len(scores) // 2
    rows = [
        StudyRow(f"t{task}", arm, score)
        for arm, some in (("none", scores[:half]), ("end", scores[half : 2 * half]))
        for task, score in enumerate(some)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = critic_study(rows).contrasts
    mean = found.difference.mean
    numbers = (mean.value, mean.low, mean.high, found.difference.detectable, found.p_holm)
    assert all(number is None or math.isfinite(number) for number in numbers)
    assert mean.value is not None


@pytest.mark.parametrize("value", [math.inf, 1e308, 10**400, True, "1"])
async def test_a_scorer_that_gives_no_score_makes_no_row(value: object, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        found = await collect_scores(
            {"a": "Do a."},
            {"none": lambda task: "x"},
            lambda task, answer: value,  # type: ignore[arg-type, return-value]
            StudyRun(ledger, "one"),
        )
    assert [row.score for row in found.rows] == [None]


async def test_an_agent_that_has_run_out_of_answers_does_not_hang() -> None:
    answers = iter(["first"])
    assert await second_attempt(lambda task: next(answers))("Do it.") == "first"
