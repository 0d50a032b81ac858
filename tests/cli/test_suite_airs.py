"""`basanite suite airs`: envelopes that others script against, exit codes, and pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from basanite.cli._app import app
from basanite.suites.airs import write_runs
from support.airs import SVAMP, run, synthetic_runs, write_task


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["suite", "airs", *map(str, arguments)])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("airs") / "runs.jsonl"
    write_runs(synthetic_runs(0, seeds=4, n_agents=3), path)
    return path


def test_score_prints_the_promised_numbers(runs: Path) -> None:
    done = invoke("score", runs, "--json", "--replicates", 100)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "basanite.suite.airs.score/1"
    assert len(found["agents"]) == 3
    for one in found["agents"].values():
        for name in ("vsr", "ns", "elo", "ns_published", "elo_published"):
            assert isinstance(one[name], float)
            low, high = one[f"{name}_interval"]
            assert low <= one[name] <= high
    ratings = [one["elo"] for one in found["agents"].values()]
    assert (sum(ratings) + found["sota_elo"]) / 4 == pytest.approx(1000)
    assert {row["s_min"] for row in found["sensitivity"]} >= {"given", "observed"}


def test_score_for_people(runs: Path) -> None:
    done = invoke("score", runs, "--replicates", 100, "--resample", "tasks", "--s-min", "observed")
    assert done.exit_code == 0, done.stderr
    assert "mean half width of an Elo interval, drawing: games" in done.stdout
    assert "Normalized score by the choice of s_min" in done.stdout


def test_compare_and_report(runs: Path, tmp_path: Path) -> None:
    done = invoke("compare", runs, "--json", "--replicates", 100, "--baseline", "Greedy o3-mini")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [board["measure"] for board in found["boards"]] == [
        "normalized score", "share of valid runs",
    ]  # fmt: skip
    assert len(found["elo"]) == 2
    assert {one["second"] for one in found["elo"]} == {"Greedy o3-mini"}
    assert "Elo, first minus second" in invoke("compare", runs, "--replicates", 100).stdout

    page, plots = tmp_path / "page.html", tmp_path / "plots"
    done = invoke("report", runs, "-o", page, "--plots", plots, "--replicates", 100)
    assert done.exit_code == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "Elo as published" in text
    assert "Intervals draw tasks and seeds." in text
    names = {one.name for one in plots.iterdir()}
    assert {"board-1-leaderboard.svg", "board-1-heat-map.svg", "board-2-differences.svg"} <= names


def test_list_and_show() -> None:
    listed = json.loads(invoke("list", "--json").stdout)
    assert len(listed["tasks"]) == 20
    assert len(listed["published"]["agents"]) == 14
    assert SVAMP in invoke("list").stdout
    assert "1674" in invoke("list", "--agents").stdout
    assert json.loads(invoke("show", SVAMP, "--json").stdout)["s_sota"] == 0.942
    assert "0.402" in invoke("show", "Greedy gpt-oss-120b").stdout
    assert invoke("show", "nothing").exit_code == 2


def test_import(tmp_path: Path) -> None:
    source, out = tmp_path / "records.csv", tmp_path / "runs.jsonl"
    source.write_text(
        f"agent,task,seed,score,status\nA,{SVAMP},0,0.5,SUCCESS\nA,{SVAMP},1,N/A,FAILED\n",
        encoding="utf-8",
    )
    assert invoke("import", source).exit_code == 2
    done = invoke("import", source, "-o", out, "--json")
    assert json.loads(done.stdout)["n_valid"] == 1
    assert invoke("import", source, "-o", out).exit_code == 2, "a file is there"
    assert invoke("score", out, "--json", "--replicates", 20).exit_code == 0
    write_task(tmp_path / "folder")
    found = json.loads(invoke("import", tmp_path / "folder", "--json").stdout)
    assert len(found["folders"][SVAMP]) == 1


def test_a_bad_row_ends_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    write_runs([run("A", SVAMP, 0, 0.5)], path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"agent": "A", "task": "X", "seed": 1, "score": 0.1, "valid": true}\n')
    done = invoke("score", path, "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "row 2" in done.stderr
    assert invoke("score", path, "--s-min", tmp_path / "none.json").exit_code == 2
    assert invoke("compare", path).exit_code == 2


def test_evaluate_refuses_before_any_sandbox(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    missing = invoke("evaluate", task, tmp_path / "none.csv")
    assert missing.exit_code == 2
    assert "No such file" in missing.stderr
    twice = invoke("evaluate", task, task / "utils.py", "--python", "x", "--profile", "base")
    assert twice.exit_code == 2
    assert invoke("evaluate", tmp_path, task / "utils.py").exit_code == 2
