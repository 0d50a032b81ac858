"""Task folders: read leniently, their evaluators run in a sandbox, one number taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.errors import GraderFailed, InputError, SetupError
from basanite.sandboxes import Limits, SandboxSpec
from basanite.suites.airs import (
    Evaluation,
    EvaluationOptions,
    evaluate_submission,
    printed_number,
    read_task_folder,
    read_task_folders,
)
from basanite.suites.airs._printed import NoNumber
from support.airs import METADATA, SVAMP, write_task

LIMITS = Limits(wall_s=20, memory_mb=300, disk_mb=128)
MARK = "--- EVALUATION RESULT ---\n"


async def evaluated(folder: Path, rows: str, evaluator: str | None = None) -> Evaluation:
    task = write_task(folder) if evaluator is None else write_task(folder, evaluator)
    submission = folder / "mine.csv"
    submission.write_text("Answer\n" + rows, encoding="utf-8")
    options = EvaluationOptions(data=folder / "data", spec=SandboxSpec(limits=LIMITS))
    return await evaluate_submission(read_task_folder(task), submission, options)


async def test_the_number_is_taken(needs_bubblewrap: None, tmp_path: Path) -> None:
    found = await evaluated(tmp_path, "1\n2\n0\n0\n")
    assert (found.score, found.metric, found.reason) == (0.5, "Accuracy", None)
    assert found.valid
    run = found.run("A", "7")
    assert (run.task, run.score, run.seed, run.valid) == (SVAMP, 0.5, "7", True)
    # The folder's evaluator is ours, and that is said.
    assert any("evaluate.py" in note for note in found.notes)


async def test_a_wrong_number_of_rows_is_not_valid(needs_bubblewrap: None, tmp_path: Path) -> None:
    found = await evaluated(tmp_path, "1\n")
    assert (found.score, found.reason, found.exit_code) == (None, "exit_code", 2)
    assert "the submission has 1 rows" in found.detail
    assert found.run("A", "0").valid is False


@pytest.mark.parametrize(
    ("evaluator", "reason"),
    [
        (f"print({MARK!r}); print('{{\"Accuracy\": NaN}}')", "not_finite"),
        (f"print({MARK!r})", "no_json"),
        ("pass", "no_json"),
        (f"print({MARK!r} + '{{\"Accuracy\": 1.5}}')", "out_of_range"),
        (f"print({MARK!r} + '{{\"Accuracy\": 1.0}}'); raise SystemExit(3)", "exit_code"),
        ("import time; time.sleep(60)", "timeout"),
        ("print('x' * 1000001)", "too_much_output"),
    ],
)
async def test_what_is_no_number_is_not_valid(
    needs_bubblewrap: None, tmp_path: Path, evaluator: str, reason: str
) -> None:
    task = write_task(tmp_path, evaluator)
    submission = tmp_path / "mine.csv"
    submission.write_text("Answer\n1\n", encoding="utf-8")
    spec = SandboxSpec(limits=LIMITS.model_copy(update={"wall_s": 2.0}))
    found = await evaluate_submission(
        read_task_folder(task), submission, EvaluationOptions(spec=spec)
    )
    assert (found.score, found.reason) == (None, reason)


async def test_a_program_of_the_submission_that_prints_makes_two_results(
    needs_bubblewrap: None, tmp_path: Path
) -> None:
    evaluator = f"""
exec(open("data/submission.csv").read().partition("\\n")[2])
print({MARK!r} + '{{"Accuracy": 0.1}}')
"""
    cheat = f"print({MARK!r} + '{{\"Accuracy\": 1.0}}')\n"
    found = await evaluated(tmp_path, cheat, evaluator)
    assert (found.score, found.reason) == (None, "several_results")


async def test_nothing_of_this_machine_is_seen(needs_bubblewrap: None, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("x", encoding="utf-8")
    evaluator = f"""
import json, os
seen = os.path.exists({str(secret)!r})
try:
    open("/labels/test_with_labels/labels.csv", "a")
except OSError:
    pass
else:
    seen = True
print({MARK!r} + json.dumps({{"Accuracy": float(seen)}}))
"""
    assert (await evaluated(tmp_path, "1\n", evaluator)).score == 0.0


async def test_a_missing_module_is_no_fault_of_the_submission(
    needs_bubblewrap: None, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match=r"lacks no_such_module.*datasets==4\.0\.0"):
        await evaluated(tmp_path, "1\n", "import no_such_module, json")


async def test_the_preparation_is_run(needs_bubblewrap: None, tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "evaluate_prepare.py").write_text(
        """
import argparse, os, shutil
parser = argparse.ArgumentParser()
for name in ("global-shared-data-dir", "agent-data-mount-dir", "agent-log-dir"):
    parser.add_argument("--" + name)
given = parser.parse_args()
target = os.path.join(given.agent_data_mount_dir, "test_with_labels")
shutil.copytree(os.path.join(given.global_shared_data_dir, "test_with_labels"), target)
shutil.copy(os.path.join(given.agent_log_dir, "submission.csv"), given.agent_data_mount_dir)
""",
        encoding="utf-8",
    )
    submission = tmp_path / "mine.csv"
    submission.write_text("Answer\n1\n2\n3\n0\n", encoding="utf-8")
    folder = read_task_folder(task)
    shared = EvaluationOptions(shared=tmp_path / "data", spec=SandboxSpec(limits=LIMITS))
    assert (await evaluate_submission(folder, submission, shared)).score == 0.75
    (task / "evaluate_prepare.py").write_text("raise SystemExit(1)", encoding="utf-8")
    with pytest.raises(GraderFailed, match=r"evaluate_prepare\.py failed"):
        await evaluate_submission(folder, submission, shared)


async def test_a_submission_is_a_regular_file(tmp_path: Path) -> None:
    folder = read_task_folder(write_task(tmp_path))
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "data" / "submission.csv")
    with pytest.raises(InputError, match="no regular file"):
        await evaluate_submission(folder, link)
    with pytest.raises(InputError, match="No such file"):
        await evaluate_submission(folder, tmp_path / "none.csv")


def test_metadata_is_read_leniently(tmp_path: Path) -> None:
    folder = read_task_folder(write_task(tmp_path))
    assert folder.name == SVAMP
    assert folder.shape == (300, 1)
    assert folder.s_sota == 0.942
    assert folder.requirements == ("datasets==4.0.0",)
    assert folder.exports == ("submission.csv",)
    assert folder.description == "Answer the questions.\n"
    assert [one.partition(" is ")[0] for one in folder.differences()] == ["evaluate.py (sha256)"]
    assert [one.name for one in read_task_folders(tmp_path)] == [SVAMP]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [('"(4906,)"', (4906,)), ("'300,1'", (300, 1)), ("[5000, 5]", (5000, 5)), ("7", (7,))],
)
def test_shapes_of_all_spellings(tmp_path: Path, shape: str, expected: tuple[int, ...]) -> None:
    task = write_task(tmp_path)
    text = METADATA.replace("shape: 300,1", f"shape: {shape}")
    (task / "metadata.yaml").write_text(text, encoding="utf-8")
    assert read_task_folder(task).shape == expected


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("metric_lower_is_better: false", "metric_lower_is_better: no way", "lower_is_better is"),
        ("metric: Accuracy", "metric: 3", "logging_info.metric is 3"),
        ("optimal_score: 1.0", "optimal_score: true", "optimal_score is True"),
        ("shape: 300,1", "shape: __import__('os')", "shape is"),
        ("shape: 300,1", 'shape: "{[]: 1}"', "shape is"),
        ("optimal_score: 1.0", f"optimal_score: 1{'0' * 400}", "beyond all floats"),
        ("logging_info:", "logging_info: !!python/object/apply:os.getcwd []\nx:", "YAML"),
    ],
)
def test_bad_metadata_is_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    task = write_task(tmp_path)
    (task / "metadata.yaml").write_text(METADATA.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=what):
        read_task_folder(task)


def test_a_folder_without_an_evaluator_is_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path)
    (task / "evaluate.py").unlink()
    with pytest.raises(InputError, match=r"holds no evaluate\.py"):
        read_task_folder(task)
    with pytest.raises(InputError, match=r"holds no metadata\.yaml"):
        read_task_folders(tmp_path / "data")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"MAE": 0.25}', 0.25),
        (MARK + '{\n  "MAE": 3\n}\n', 3.0),
        ('{"a": 1} {"b": 2}\n' + MARK + 'well: {"MAE": 1e-3} done', 0.001),
        ("{not json} " + '{"MAE": 2.0}', 2.0),
    ],
)
def test_printed_numbers(text: str, value: float) -> None:
    assert printed_number(text)[1] == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_json"),
        ("{'MAE': 1}", "no_json"),
        ("[1.0]", "no_json"),
        ('{"MAE": 1} {"MAE": 1}', "several_results"),
        (f'{MARK}{{"MAE": 1}}\n{MARK}{{"MAE": 2}}', "several_results"),
        ('{"MAE": 1, "RMSE": 2}', "not_one_number"),
        ('{"MAE": 1, "MAE": 2}', "not_one_number"),
        ("{}", "not_one_number"),
        ('{"MAE": true}', "not_one_number"),
        ('{"MAE": "1"}', "not_one_number"),
        ('{"MAE": null}', "not_one_number"),
        ('{"MAE": {"value": 1}}', "not_one_number"),
        ('{"MAE": NaN}', "not_finite"),
        ('{"MAE": -Infinity}', "not_finite"),
        ('{"MAE": 1e999}', "not_finite"),
    ],
)
def test_what_is_not_one_number(text: str, reason: str) -> None:
    with pytest.raises(NoNumber) as caught:
        printed_number(text)
    assert caught.value.reason == reason


def test_the_command(needs_bubblewrap: None, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from basanite.cli._app import app

    task, submission = write_task(tmp_path), tmp_path / "mine.csv"
    given = ["suite", "airs", "evaluate", str(task), str(submission), "--data",
             str(tmp_path / "data"), "--memory", "300", "--disk", "128"]  # fmt: skip
    submission.write_text("Answer\n1\n2\n3\n0\n", encoding="utf-8")
    done = CliRunner().invoke(app, [*given, "--agent", "A", "--seed", "3"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {
        "agent": "A", "task": SVAMP, "seed": "3", "score": 0.75, "valid": True,
    }  # fmt: skip
    submission.write_text("Answer\n1\n", encoding="utf-8")
    done = CliRunner().invoke(app, [*given, "--json"])
    assert done.exit_code == 4
    assert json.loads(done.stdout)["reason"] == "exit_code"
