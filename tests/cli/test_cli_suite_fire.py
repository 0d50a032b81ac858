"""`basanite suite fire` as a user types it."""

import json
from pathlib import Path
from typing import Any

import pytest

from basanite.cli._suite_fire_import import _CLAIMS
from basanite.graphs._claim_entailment import JUDGE
from support import agent_logs as logs
from support.command import basanite, write_rows
from support.fire import EASY, HARD, MEDIUM, file_of, trial


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    rows = [
        trial(agent, task, number, precision=value, recall=value, f1=value, cost=0.2)
        for agent, step in (("one", 0.1), ("[b]two[/]", 0.0))
        for place, task in enumerate((EASY, MEDIUM, HARD))
        for number, value in enumerate((0.8 - 0.2 * place + step, 0.6 - 0.2 * place + step))
    ]
    return file_of(tmp_path, *rows)


def test_score_prints_the_keys_that_scripts_read(trials: Path) -> None:
    done = basanite("suite", "fire", "score", trials, "--json")
    assert done.code == 0, done.err
    found: Any = done.json()
    assert found["schema"] == "basanite.suite.fire.score/1"
    one = found["agents"]["one"]
    assert one["precision"] == one["recall"] == one["f1"] == pytest.approx(0.6)
    assert one["sd_tasks"] == pytest.approx(0.2)
    assert one["sd_runs"] == pytest.approx(0.2 / 2**0.5)
    assert one["best_tasks"] == 3
    assert one["cost"]["per_f1_point"] == pytest.approx(0.2 / 60)
    assert one["difficulty"]["hard"]["f1"] == pytest.approx(0.4)
    assert found["tasks"] == {EASY: "easy", MEDIUM: "medium", HARD: "hard"}


def test_score_prints_tables(trials: Path) -> None:
    done = basanite("suite", "fire", "score", trials)
    assert done.code == 0, done.err
    for text in ("[b]two[/]", "SD tasks", "SD runs", "F1 by difficulty", "a point of F1"):
        assert text in done.out
    assert "note: 3 of the 30 published tasks are scored" in done.out


def test_cutoffs_need_dates(trials: Path, tmp_path: Path) -> None:
    done = basanite("suite", "fire", "score", trials, "--cutoff", "one=2024-06-01")
    assert done.code == 2
    assert "--cutoff: the tasks have no dates" in done.err
    rows = [{"task": task, "published": "2024-01-01"} for task in (EASY, MEDIUM)]
    meta = write_rows(tmp_path / "meta.jsonl", rows)
    given = ("--tasks", meta, "--cutoff", "one=2024-06-01")
    done = basanite("suite", "fire", "score", trials, *given)
    assert done.code == 2
    assert f"there is no date of {HARD}" in done.err
    write_rows(meta, [*rows, {"task": HARD, "published": "2025-01-01"}])
    done = basanite("suite", "fire", "score", trials, *given, "--json")
    assert done.code == 0, done.err
    found: Any = done.json()["contamination"]
    assert found["one"]["cutoff"] == "2024-06-01"
    assert found["one"]["left_out"] == ["easy", "medium", "hard"]
    assert found["one"]["adjusted_difference"] is None
    assert "before − after" in basanite("suite", "fire", "score", trials, *given).out


def test_compare_and_report_with_published_agents(trials: Path, tmp_path: Path) -> None:
    done = basanite("suite", "fire", "compare", trials, "--published", "all", "--json",
                    "--baseline", "one")  # fmt: skip
    assert done.code == 0, done.err
    found: Any = done.json()
    (board,) = found["boards"]
    assert len(board["comparisons"]) == 5
    page, plots = tmp_path / "r.html", tmp_path / "plots"
    done = basanite("suite", "fire", "report", trials, "-o", page, "--plots", plots)
    assert done.code == 0, done.err
    text = page.read_text("utf-8")
    assert "claim F1" in text
    assert "claim precision" in text
    assert len(list(plots.glob("*.svg"))) > 3
    name = "codex_gpt-5-medium"
    more = ("--published", name, "--baseline", f"published: {name}")
    done = basanite("suite", "fire", "report", trials, "-o", page, *more)
    assert done.code == 0, done.err
    done = basanite("suite", "fire", "compare", trials, "--published", "nobody")
    assert done.code == 2
    assert "no published agent" in done.err


def test_compare_by_another_measure(tmp_path: Path) -> None:
    rows = [
        trial(agent, EASY, 0, precision=precision, recall=recall, f1=None, unscored_reason="lost")
        for agent, precision, recall in (("a", 0.75, None), ("b", 0.5, None))
    ]
    file = file_of(tmp_path, *rows)
    done = basanite("suite", "fire", "compare", file, "--measure", "precision", "--json")
    assert done.code == 0, done.err
    found: Any = done.json()
    (board,) = found["boards"]
    assert board["measure"] == "claim precision"
    assert board["comparisons"][0]["difference"] == pytest.approx(0.25)
    done = basanite("suite", "fire", "compare", file, "--measure", "recall")
    assert done.code == 2
    assert "no trial has a recall" in done.err
    given = ("--measure", "precision", "--published", "all")
    done = basanite("suite", "fire", "compare", file, *given)
    assert done.code == 2
    assert "no precision of single tasks was published" in done.err


def test_list_and_show() -> None:
    listed: Any = basanite("suite", "fire", "list", "--json").json()
    assert len(listed["tasks"]) == 35
    assert listed["agents"]["codex_gpt-5-medium"]["best_tasks"] == 9
    assert "46.75" in basanite("suite", "fire", "list", "--agents").out
    assert "questbench" in basanite("suite", "fire", "list").out
    shown = basanite("suite", "fire", "show", EASY, "--json").json()
    assert shown["difficulty"] == "easy"
    agent: Any = basanite("suite", "fire", "show", "openhands_gpt-5", "--json").json()
    assert agent["printed"]["f1"] == {"mean": 37.9, "plus_minus": 23.0}
    assert basanite("suite", "fire", "show", "openhands_gpt-5").code == 0
    assert basanite("suite", "fire", "show", "x").code == 2


def test_bad_rows_end_the_command(tmp_path: Path) -> None:
    file = file_of(tmp_path, trial(), trial(f1=3), trial(task="x", number=2))
    for command in ("score", "compare", "report"):
        done = basanite("suite", "fire", command, file)
        assert done.code == 2
        assert "row 2: f1 is `3.0`, not from 0 to 1" in done.err
        assert "row 3: the task `'x'` is not known" in done.err


def test_errors(tmp_path: Path) -> None:
    row = {"agent": "a", "task": EASY, "trial": 0, "kind": "false_positive",
           "error_type": "unrelated"}  # fmt: skip
    file = write_rows(tmp_path / "errors.jsonl", [row, row | {"error_type": None}])
    found: Any = basanite("suite", "fire", "errors", file, "--json").json()
    kind = found["agents"]["a"]["false_positive"]
    assert (kind["n"], kind["unreadable"]) == (1, 1)
    assert kind["types"]["unrelated"]["share"] == 1.0
    assert found["published_percent"]["openhands_gpt-5"]["false_positive"]["unrelated"] == 28.3
    assert "1 more have no type" in basanite("suite", "fire", "errors", file).out


def test_from_logs_to_figures(tmp_path: Path) -> None:
    """Logs become answers, answers are judged, judgments become trials, trials are scored."""
    papers = tmp_path / "papers" / EASY
    (papers / "instruction").mkdir(parents=True)
    (papers / "instruction" / "instruction.txt").write_text('Study "Does the place matter?"\n')
    (papers / "conclusion.txt").write_text("Accuracy is lowest in the middle.")
    for number, log in enumerate((logs.claude({"total_cost_usd": 0.25}), logs.claude()[:200])):
        folder = tmp_path / "log" / "claude_code" / "m-1" / EASY / str(number)
        folder.mkdir(parents=True)
        (folder / "log.log").write_text(log)
    answers = tmp_path / "answers.jsonl"
    done = basanite("suite", "fire", "import", tmp_path / "log", "-o", answers)
    assert done.code == 2
    assert "Give --truths" in done.err
    done = basanite("suite", "fire", "import", tmp_path / "log", "-o", answers, "--truths",
                    tmp_path / "papers", "--json")  # fmt: skip
    assert done.code == 0, done.err
    found = done.json()
    assert (found["kind"], found["n_rows"], found["no_conclusion"]) == ("answers", 2, {"cut": 1})
    rows = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    assert [row["answer"] for row in rows] == [logs.FINDING, ""]
    done = basanite("suite", "fire", "import", tmp_path / "papers", "-o", tmp_path / "tasks.jsonl",
                    "--truths-out", tmp_path / "truths.jsonl", "--json")  # fmt: skip
    assert (done.code, done.json()["n_truths"]) == (0, 1)
    assert "lowest" not in (tmp_path / "tasks.jsonl").read_text("utf-8")
    assert "lowest" in (tmp_path / "truths.jsonl").read_text("utf-8")
    judged, trials = tmp_path / "judged", tmp_path / "trials.jsonl"
    done = basanite("judge", "lexical", answers, "-o", judged, "--max-unscored", "1")
    assert done.code == 0, done.err
    done = basanite("suite", "fire", "import", judged, "-o", trials, "--logs", tmp_path, "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert (found["kind"], found["n_rows"], found["n_scored"]) == ("trials", 2, 1)
    assert (found["n_costs"], found["judge"]) == (1, "lexical")
    assert "no claims" in str(found["notes"])
    assert JUDGE in _CLAIMS
    scored: Any = basanite("suite", "fire", "score", trials, "--json").json()["agents"]
    one = scored["claude_code m-1"]
    assert (one["n_scored"], one["unscored"]) == (1, {"empty_answer": 1})
    assert one["cost"]["total"] == 0.25
    assert 0 < one["f1"] < 1


def test_one_log_is_no_source(tmp_path: Path) -> None:
    for name, what in (("log.log", "is one log"), ("log.txt", "is no JSON")):
        (tmp_path / name).write_text(logs.claude(), encoding="utf-8")
        done = basanite("suite", "fire", "import", tmp_path / name, "-o", tmp_path / "out.jsonl")
        assert done.code == 2
        assert what in done.err
        assert "the folder that holds AGENT/MODEL/TASK/TIME/log.log" in done.err


def test_trees_and_what_is_no_source(tmp_path: Path) -> None:
    leaf = {"type": "leaf node", "task": "T", "conclusion": "C", "evidence": {}}
    tree = {"type": "root node", "node": "R", "children": [leaf]}
    file = tmp_path / "trees.json"
    file.write_text(json.dumps({"paper": {"title": "P"}, "problem_tree": tree}))
    done = basanite("suite", "fire", "import", file, "-o", tmp_path / "out.json")
    assert done.code == 0, done.err
    assert "n leaves: 1" in done.out
    assert "note: P: T: a leaf that cites no figure" in done.err
    assert basanite("suite", "fire", "import", tmp_path / "out.json").code == 0
    assert basanite("suite", "fire", "import", tmp_path / "nothing").code == 2
    # A file that is there is not written over.
    done = basanite("suite", "fire", "import", file, "-o", file)
    assert (done.code, "--force" in done.err) == (2, True)
