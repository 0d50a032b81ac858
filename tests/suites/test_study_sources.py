"""Where a critic study's rows come from: files of each kind, judged runs, several agents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from basanite.store import RunFolder
from basanite.suites import GroupCuts, StudyRow, check_runs, critic_study, read_study
from support.command import basanite, row, write_rows
from support.run_folders import private_manifest, write_run


def judged(folder: Path, arm: str, *, judge: str = "lexical", same: bool = True) -> Path:
    """Judge nine answers; `same` gives each arm the same ones, and so the same word weights."""
    rows = [row(number, task=f"t{number}") for number in range(9)]
    if not same:
        rows = [
            one | {"answer": f"Nothing is known of {number}."} for number, one in enumerate(rows)
        ]
    if judge == "choice":
        options = {"A": "up", "B": "down"}
        rows = [
            {"id": one["id"], "question": "Which?", "options": options, "answer": "A", "truth": "A"}
            for one in rows
        ]
    file = write_rows(folder / f"{arm}.jsonl", rows)
    done = basanite("judge", judge, file, "-o", folder / arm)
    assert done.code == 0, done.err
    return folder / arm


def test_each_kind_of_file_gives_the_same_rows(tmp_path: Path) -> None:
    rows = [
        {"task": "1", "arm": "none", "score": 1.5, "unscored_reason": None},
        {"task": "2", "arm": "end", "score": None, "unscored_reason": "timeout"},
    ]
    cells = "task,arm,score,unscored_reason\n1,none,1.5,\n2,end,,timeout\n"
    (tmp_path / "rows.csv").write_text(cells, encoding="utf-8")
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'basanite[parquet]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    write_rows(tmp_path / "rows.jsonl", rows)
    wanted = [
        StudyRow("1", "none", 1.5),
        StudyRow("2", "end", None, unscored_reason="timeout"),
    ]
    for suffix in ("jsonl", "csv", "parquet"):
        assert read_study(tmp_path / f"rows.{suffix}") == wanted, suffix


def test_agents_on_a_task_are_one_cluster() -> None:
    random = np.random.default_rng(4)
    shared = random.normal(0.5, 1.0, 12)
    gains = shared[:, None] + random.normal(0.0, 0.2, (12, 3))
    rows = [
        StudyRow(f"t{task}", arm, score, f"agent {agent}")
        for (task, agent), gain in np.ndenumerate(gains)
        for arm, score in (("none", 2.0), ("end", 2.0 + float(gain)))
    ]
    (found,) = critic_study(rows).contrasts
    mean = found.difference.mean
    # All clusters are of one size: the interval is the t interval over the tasks' means.
    wanted = stats.ttest_1samp(gains.mean(axis=1), 0.0).confidence_interval(0.95)
    assert (mean.low, mean.high) == pytest.approx((wanted.low, wanted.high))
    naive = stats.ttest_1samp(gains.ravel(), 0.0).confidence_interval(0.95)
    assert mean.high is not None and mean.low is not None
    assert mean.high - mean.low > 1.4 * (naive.high - naive.low), "36 items are not 36 tasks"


def test_judged_runs_are_arms(tmp_path: Path) -> None:
    none, end = judged(tmp_path, "none"), judged(tmp_path, "end")
    done = basanite("critic-study", f"none={none}", f"end={end}", "--json")
    assert done.code == 0, done.err
    contrasts = done.json()["contrasts"]
    assert isinstance(contrasts, list)
    assert [(one["difference"], one["n_tasks"]) for one in contrasts] == [(0.0, 9)]
    assert "judge of the runs" not in done.out


def test_a_judge_that_differs_in_its_settings_is_noted(tmp_path: Path) -> None:
    none, end = judged(tmp_path, "none"), judged(tmp_path, "end", same=False)
    done = basanite("critic-study", f"none={none}", f"end={end}", "--json")
    assert done.code == 0, done.err
    assert "differs in weights" in done.out


def test_another_judge_is_no_arm(tmp_path: Path) -> None:
    none, end = judged(tmp_path, "none"), judged(tmp_path, "end", judge="choice")
    done = basanite("critic-study", f"none={none}", f"end={end}")
    assert done.code == 2
    assert "choice" in done.err and "lexical (f1)" in done.err


def test_a_run_without_judgments_is_of_no_kind(tmp_path: Path) -> None:
    write_run(tmp_path / "empty", [], [], private_manifest("lexical"))
    with RunFolder.open(judged(tmp_path, "none")) as none, RunFolder.open(tmp_path / "empty") as no:
        for order in ([none, no], [no, none]):
            (note,) = check_runs(order)
            assert "model" in note


def test_counts_stay_readable_where_there_is_no_interval(tmp_path: Path) -> None:
    rows = [
        {"task": f"t{task}", "arm": arm, "score": score}
        for task in range(12)
        for arm, score in (("none", 1), ("end", 2), ("again", 1))
    ]
    done = basanite("critic-study", write_rows(tmp_path / "rows.jsonl", rows))
    assert done.code == 0, done.err
    assert done.out.count("12/0/0") == 2 and "0/12/0" in done.out
    assert "no interval of end - none" in done.out


@pytest.mark.parametrize("name", ["foo", "ned"])
def test_an_arm_that_is_not_known_is_named(name: str, tmp_path: Path) -> None:
    done = basanite("critic-study", f"{name}={tmp_path}")
    told = " ".join(done.err.split())
    assert done.code == 2
    assert f"the arm '{name}' is not known" in told
    assert "none, end, plan, again, baseline" in told
    missing = basanite("critic-study", tmp_path / "a=b.jsonl")
    assert missing.code == 2 and "a=b.jsonl" in " ".join(missing.err.split())


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_groups_have_cuts_that_fit_the_scale(scale: float, tmp_path: Path) -> None:
    share = (0.1, 0.2, 0.5, 0.6, 0.8, 1.0)
    ratings = (1.0, 2.0, 3.0, 3.5, 4.5, 5.0)
    rows = [
        {"task": f"t{task}", "arm": arm, "score": score}
        for arm in ("none", "end", "baseline")
        for task, score in enumerate(share if scale == 1.0 else ratings)
    ]
    file = write_rows(tmp_path / "rows.jsonl", rows)
    done = basanite("critic-study", file, "--group-by-baseline", "--json")
    groups = json.loads(done.out)["groups"]
    assert groups["sizes"] == {"low": 2, "mid": 2, "high": 2}
    assert (groups["low"], groups["high"]) == ((0.25, 0.75) if scale == 1.0 else (2, 4))
    own = basanite("critic-study", file, "--group-by-baseline", "--low", "0.05", "--json")
    found = json.loads(own.out)
    assert found["groups"]["low"] == 0.05
    assert any("No task is in the group low" in note for note in found["notes"])


def test_ones_alone_are_ratings() -> None:
    assert GroupCuts.of_scale([1.0, 1.0]) == GroupCuts() == GroupCuts.of_scale([])
    assert GroupCuts.of_scale([0.0, 1.0]) == GroupCuts(0.25, 0.75)
    assert GroupCuts.of_scale([-1.0, 1.0]) == GroupCuts.of_scale([0.5, 80.0]) == GroupCuts()
