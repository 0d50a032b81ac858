"""`basanite suite whatworked`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from basanite.suites.whatworked import published_references
from support.command import basanite
from support.whatworked import host, reference_file, submissions, workflow


def run(*arguments: object) -> Any:
    done = basanite("suite", "whatworked", *map(str, arguments), "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_list_names_source_and_licence() -> None:
    found = run("list")
    assert found["schema"] == "basanite.suite.whatworked.list/1"
    assert len(found["tasks"]) == 36
    assert "Apache-2.0" in found["licence"]
    assert "EthanNing/WhatWorkedBench" in found["origin"]


def test_evaluate_has_the_keys_that_others_script_against() -> None:
    found = run("evaluate", "--method", "ridge-pair", "--budget", 8, "--factors", 4)
    assert found["recovery"] == pytest.approx(0.611536, abs=5e-7)
    assert (found["exact"], found["strict"]) == (15, 3)
    assert found["profile"] == [1, 1, 3, 8, 20]
    assert len(found["per_source"]) == 22
    assert found["per_source"]["airfoil"]["family"] == "regression"


def test_evaluate_own_references_in_all_orders(tmp_path: Path) -> None:
    reference_file(tmp_path)
    found = run(
        "evaluate", "--method", "gp-effect", "--budget", 5, "--references", tmp_path,
        "--orders", "all", "--equivalences",
    )  # fmt: skip
    assert found["n_orders"] == 24
    assert found["spread"]["recovery_min"] <= found["recovery"] <= found["spread"]["recovery_max"]
    assert list(found["per_source"]) == ["made"]


def test_show_and_import(tmp_path: Path) -> None:
    found = run("show", "airfoil")
    assert found["n_effects"] == 32
    source = reference_file(tmp_path)
    done = run("import", source, "--out", tmp_path / "out")
    assert done["sha256"] == {"made": workflow().sha256}
    assert run("list", "--references", tmp_path / "out")["tasks"][0]["rules"]


def rows(folder: Path) -> Path:
    tasks = [one for one in published_references() if one.space.k == 4][:6]
    found = []
    for task in tasks:
        table = dict(zip(task.space.masks, task.values.tolist(), strict=True))
        flat = dict.fromkeys(table, 0.5)
        found.append({"agent": "good", "task": task.name, "table": table})
        found.append({"agent": "flat", "task": task.name, "table": flat, "measured": ["0001"]})
    return submissions(folder, *found)


def test_score_compare_report(tmp_path: Path) -> None:
    path = rows(tmp_path)
    found = run("score", path, "--replay", "gp")
    assert found["agents"]["good"]["recovery"] == 1.0
    assert found["agents"]["flat"]["replayed"].keys() == {"gp"}
    assert len(found["submissions"]) == 12
    compared = run("compare", path, "--baseline", "flat")
    assert compared["schema"] == "basanite.suite.whatworked.compare/1"
    page = tmp_path / "page.html"
    report = run("report", path, "--out", page, "--plots", tmp_path / "plots")
    assert report["schema"] == "basanite.suite.whatworked.report/1"
    assert "WhatWorked" in page.read_text(encoding="utf-8")
    assert list((tmp_path / "plots").glob("*.svg"))


def test_an_episode_is_scored(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        one.call("submit", {"estimator": "ard"})
    found = run("episode", "score", reference_file(tmp_path), tmp_path / "episode.json")
    assert found["delivered"]["recovery"] == found["replayed"]["ard"]["recovery"]


def test_tables_for_people(tmp_path: Path) -> None:
    for arguments in (
        ["list"],
        ["show", "banknote"],
        ["score", rows(tmp_path)],
        ["evaluate", "--method", "ard", "--budget", 4, "--factors", 4],
    ):
        done = basanite("suite", "whatworked", *map(str, arguments))
        assert done.code == 0, done.err
        assert "banknote" in done.out or "good" in done.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", "nowhere"], "no task 'nowhere'"),
        (["evaluate", "--method", "magic"], "no method 'magic'"),
        (["evaluate", "--method", "ard", "--factors", "5"], "no references of 5 factors"),
        (["episode", "score", "nowhere", "x.json"], "no task 'nowhere'"),
        (["episode", "call", "/nowhere/socket", "task", "3"], "no JSON object"),
    ],
)
def test_bad_input(arguments: list[str], problem: str) -> None:
    done = basanite("suite", "whatworked", *arguments)
    assert done.code == 2
    assert problem in done.err
