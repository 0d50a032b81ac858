"""The published layout: instructions, truths, trees and folders of logs, read and written."""

import json
from pathlib import Path

import pytest

from basanite.agents.logs import LogHeader
from basanite.errors import InputError
from basanite.suites.fire import (
    FirePaper,
    FireTruth,
    answers_of_runs,
    questions_of,
    read_papers,
    read_run_folders,
    read_trees,
    read_truth_table,
    tree_json,
    write_papers,
    write_run_folder,
)
from support import agent_logs as logs
from support.reference import reference

INSTRUCTION = """You are a research agent. Study the question: "Does the order of
premises change accuracy?"

Models:
- m-1 through the given helper
- Budget: 1,000 API calls per model

Datasets:

Experimental constraints:
- Use exact match

Please plan and run the experiments, and conclude at several levels of detail.
"""


def test_instructions_are_read_and_written(tmp_path: Path) -> None:
    paper = FirePaper(task="order", instruction=INSTRUCTION, dataset_source="made", status="ok\n")
    assert paper.question == "Does the order of premises change accuracy?"
    assert paper.calls_per_model == 1000
    assert list(paper.sections) == ["Models", "Datasets", "Experimental constraints"]
    assert paper.sections["Datasets"] == ""
    assert paper.sections["Experimental constraints"] == "- Use exact match"
    truth = FireTruth(task="order", conclusion="It does.\r\n", plan="A plan")
    write_papers([paper], tmp_path / "agent")
    # Without truths none is written, whatever is known.
    assert not list((tmp_path / "agent").rglob("conclusion.txt"))
    folder = tmp_path / "repo" / "benchmark" / "papers"
    write_papers([paper], folder, [truth])
    data = folder / "order" / "data" / "sub"
    data.mkdir(parents=True)
    (data / "rows.jsonl").write_text("{}")
    for root in (tmp_path / "repo", folder, folder / "order"):
        papers, truths = read_papers(root)
        assert papers == [paper.model_copy(update={"data_files": ("sub/rows.jsonl",)})]
        assert truths == [truth]
        assert questions_of(papers) == {"order": paper.question}
    with pytest.raises(InputError, match="is there already"):
        write_papers([paper], folder)
    with pytest.raises(InputError, match="no task"):
        write_papers([], tmp_path / "x", [truth])
    for name in ("../up", "", "a/b", ".."):
        with pytest.raises(InputError, match="folder's name"):
            write_papers([FirePaper(task=name, instruction="x")], tmp_path / "x")
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=r"no instruction/instruction.txt"):
        read_papers(folder)
    (folder / "empty" / "instruction").mkdir()
    (folder / "empty" / "instruction" / "instruction.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match="byte 3 is not UTF-8"):
        read_papers(folder)


def test_truths_of_the_evaluation_are_read_and_not_run(tmp_path: Path) -> None:
    file = tmp_path / "utils.py"
    file.write_text(
        "raise SystemExit\nquery = {'a': 'Why?'}\ngt = {\n    'a': 'Because '\n    'so.',\n}\n"
    )
    truth = FireTruth(task="a", conclusion="Because so.")
    assert read_truth_table(file) == ({"a": "Why?"}, [truth])
    for text, message in [
        ("gt = {'a': open('x')}", "line 1: is no dictionary of texts"),
        ("gt = {'a': 'x', 'a': 'y'}", "a task stands twice"),
        ("gt = [", "is no Python"),
        ("query = {}", "has no dictionary `gt`"),
    ]:
        file.write_text(text)
        with pytest.raises(InputError, match=message):
            read_truth_table(file)


def test_given_trees_are_read_and_written_without_loss() -> None:
    path = reference("firebench") / "problem_trees.json"
    trees = read_trees(path)
    # Node counts of the published trees: root, two depths, leaves.
    counts = [[tree.counts.get(name, 0) for name in TYPES] for tree in trees]
    assert counts == [[1, 3, 2, 4], [1, 2, 3, 4], [1, 3, 0, 5]]
    assert json.loads(tree_json(trees)) == json.loads(path.read_text("utf-8"))
    assert [len(tree.leaves) for tree in trees] == [4, 4, 5]
    assert [tree.faults() for tree in trees] == [[], [], []]


TYPES = ("root node", "depth-1 node", "depth-2 node", "leaf node")


def test_faults_of_trees(tmp_path: Path) -> None:
    leaf = {"type": "leaf", "task": "T", "conclusion": "C", "evidence": {"figure": "1"}}
    tree = {
        "paper": {"title": "P"},
        "problem_tree": {
            "type": "root",
            "node": "R",
            "children": [
                {"type": "research_question", "node": "Q", "children": [leaf], "more": [1]},
                {"type": "depth-3 node", "node": "D", "children": [leaf | {"evidence": {}}]},
                {"type": "research_question", "node": "E"},
            ],
        },
    }
    file = tmp_path / "trees.json"
    file.write_text(json.dumps(tree))
    (found,) = read_trees(file)
    assert found.faults() == [
        "D: a depth-3 node at depth 1",
        "T: a leaf that cites no figure, table or section",
        "E: a question without children",
    ]
    assert json.loads(tree_json([found])) == [tree]
    for text, message in [
        ("[]", "no trees"),
        ("{", "no JSON"),
        ('[{"paper": {"title": "P"}, "problem_tree": {"type": 3}}]', "tree 1: problem_tree.type"),
        ('{"paper": {"title": "P"}, "problem_tree": {"type": "root"}, "x": 1}', "tree 1: x"),
    ]:
        file.write_text(text)
        with pytest.raises(InputError, match=message):
            read_trees(file)


def _run(root: Path, output: str, trial: str, task: str = "order", model: str = "m-1") -> None:
    write_run_folder(root, LogHeader("claude_code", task, model), trial, output)


def test_folders_of_logs_become_answers(tmp_path: Path) -> None:
    root = tmp_path / "log"
    _run(root, logs.claude(), "20250101_000000")
    _run(root, logs.claude(model_turns()), "20250102_000000")
    _run(root, logs.codex_text(), "20250101_000000", model="openai/gpt-5")
    _run(root, logs.openhands(logs.finish("Results pending.")), "t", model="z")
    runs = list(read_run_folders(tmp_path))
    assert [run.model for run in runs] == ["m-1", "m-1", "openai/gpt-5", "z"]
    assert runs[2].id == "claude_code/openai/gpt-5/order/20250101_000000"
    assert all(not run.notes for run in runs)
    truths = [FireTruth(task="order", conclusion="It does.")]
    found = answers_of_runs(runs, {"order": "Does it?"}, truths)
    assert [row["answer"] for row in found.rows] == [
        logs.FINDING, "", logs.FINDING, "Results pending.",
    ]  # fmt: skip
    assert (found.without, found.doubts) == ({"max_turns": 1}, {"placeholder": 1, "fragment": 1})
    assert found.rows[0]["agent"] == "claude_code m-1"
    with pytest.raises(InputError, match="no truth of the task `'order'`"):
        answers_of_runs(runs, {"order": "Does it?"}, [])
    with pytest.raises(InputError, match="no question of the task"):
        answers_of_runs(runs, {}, truths)
    with pytest.raises(InputError, match="is there already"):
        _run(root, "", "t", model="z")
    with pytest.raises(InputError, match="folder's name"):
        _run(root, "", "../t")


def model_turns() -> dict[str, object]:
    return {"subtype": "error_max_turns", "is_error": True, "result": None}


def test_logs_elsewhere_and_headers_that_disagree(tmp_path: Path) -> None:
    path = tmp_path / "log" / "a" / "m" / "order" / "t" / "log.log"
    path.parent.mkdir(parents=True)
    path.write_text(logs.header("other") + logs.claude())
    (run,) = read_run_folders(tmp_path)
    assert len(run.notes) == 3
    assert "the header's task is 'other', the folder's 'order'" in run.notes
    (tmp_path / "log" / "a" / "log.log").write_text("x")
    with pytest.raises(InputError, match="1 folders deep, not 4"):
        list(read_run_folders(tmp_path))
    with pytest.raises(InputError, match=r"no log.log below"):
        list(read_run_folders(_empty(tmp_path)))
    with pytest.raises(InputError, match="no such folder"):
        list(read_run_folders(tmp_path / "nowhere"))


def _empty(folder: Path) -> Path:
    made = folder / "empty"
    made.mkdir()
    return made
