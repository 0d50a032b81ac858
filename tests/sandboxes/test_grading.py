"""Graders: what counts is the file that they write, and nothing that the agent prints or plants."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from basanite.errors import ArtifactRejected, GraderFailed, PolicyError, UnscoredReason
from basanite.sandboxes import Limits, SandboxSpec, grade, open_sandbox, run_sandboxed


class Score(BaseModel):
    score: float


GRADER = """
import json, os
answer = open(os.path.join(os.environ["ARTIFACTS"], "answer.txt")).read()
truth = json.load(open(os.path.join(os.environ["TRUTH"], "truth.json")))
with open(os.environ["GRADE"], "w") as file:
    json.dump({"score": 1.0 if answer.strip() == truth else 0.0}, file)
"""


def truth(folder: Path) -> Path:
    path = folder / "truth.json"
    path.write_text('"42"', encoding="utf-8")
    return path


async def test_only_the_artifact_counts(needs_bubblewrap: None, tmp_path: Path) -> None:
    said = "print('{\"score\": 1.0}'); open('grade.json', 'w').write('{\"score\": 1.0}')"
    for answer, expected in (("42", 1.0), ("41", 0.0)):
        async with await open_sandbox(SandboxSpec()) as sandbox:
            result = await sandbox.execute(
                code=f"open('answer.txt', 'w').write('{answer}'); {said}"
            )
            found = await grade(result, GRADER, Score, truth=[truth(tmp_path)])
        assert found == Score(score=expected)


async def test_planted_modules_are_not_imported(needs_bubblewrap: None, tmp_path: Path) -> None:
    """The agent leaves modules that would write a grade of 1 if a grader imported them."""
    plant = """
import pathlib
evil = "import os; open('/work/grade.json', 'w').write('{\\"score\\": 1.0}'); os._exit(0)"
for name in ("json.py", "os.py", "encodings.py", "sitecustomize.py", "usercustomize.py",
             "conftest.py"):
    pathlib.Path(name).write_text(evil)
for folder in ("json", ".local/lib/python3.11/site-packages"):
    pathlib.Path(folder).mkdir(parents=True)
pathlib.Path("json/__init__.py").write_text(evil)
pathlib.Path("evil.pth").write_text("import os; os._exit(0)")
pathlib.Path("answer.txt").write_text("41")
"""
    async with await open_sandbox(SandboxSpec()) as sandbox:
        result = await sandbox.execute(["/usr/bin/python3", "-I", "-c", plant])
        assert result.ok, result.stderr.text
        spec = SandboxSpec(
            environment={"PYTHONPATH": "/artifacts", "PYTHONSTARTUP": "/artifacts/os.py"}
        )
        found = await grade(result, GRADER, Score, truth=[truth(tmp_path)], spec=spec)
    assert found == Score(score=0.0)


async def test_the_truth_and_the_artifacts_are_read_only(
    needs_bubblewrap: None, tmp_path: Path
) -> None:
    code = """
import json, os
refused = 0
for path in ("/truth/truth.json", "/artifacts/answer.txt"):
    try:
        open(path, "r+").close()
    except OSError:
        refused += 1
json.dump({"score": refused}, open(os.environ["GRADE"], "w"))
"""
    async with await open_sandbox(SandboxSpec()) as sandbox:
        result = await sandbox.execute(code="open('answer.txt', 'w').write('42')")
        found = await grade(result, code, Score, truth=[truth(tmp_path)])
    assert found == Score(score=2.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", r"the grader failed \(exit code 1\): .*ZeroDivisionError"),
        ("pass", "the grader wrote no grade. It must write JSON"),
        ("import os; open(os.environ['GRADE'], 'w').write('{\"score\": NaN}')", "NaN is no grade"),
        ("import os; open(os.environ['GRADE'], 'w').write('[1')", "is not what was asked for"),
        ("import os; open(os.environ['GRADE'], 'w').write('{}')", "score: Field required"),
        ("import os; os.symlink('/truth', os.environ['GRADE'])", "the grader wrote no grade"),
        ("import time; time.sleep(60)", r"the grader failed \(timeout\): it said nothing"),
    ],
)
async def test_no_valid_grade_is_no_grade(needs_bubblewrap: None, code: str, said: str) -> None:
    spec = SandboxSpec(limits=Limits(wall_s=2))
    async with await open_sandbox(SandboxSpec()) as sandbox:
        result = await sandbox.execute(["true"])
        with pytest.raises(GraderFailed, match=f"(?s){said}") as caught:
            await grade(result, code, Score, spec=spec)
    assert caught.value.reason is UnscoredReason.GRADER_FAILED


async def test_what_is_wanted_must_be_there(needs_bubblewrap: None) -> None:
    async with await open_sandbox(SandboxSpec()) as sandbox:
        result = await sandbox.execute(code="import os; os.symlink('/etc/passwd', 'answer.txt')")
        with pytest.raises(ArtifactRejected, match="a symbolic link"):
            await grade(result, GRADER, Score, wanted=["answer.txt"])
        with pytest.raises(ArtifactRejected, match="left no such file"):
            await grade(result, GRADER, Score, wanted=["other.txt"])


async def test_copies_that_are_gone_are_an_error(needs_bubblewrap: None) -> None:
    result = await run_sandboxed(SandboxSpec(code="open('answer.txt', 'w').write('42')"))
    with pytest.raises(PolicyError, match="Grade before the agent's sandbox is closed"):
        await grade(result, GRADER, Score)


async def test_two_truths_of_one_name(needs_bubblewrap: None, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with await open_sandbox(SandboxSpec()) as sandbox:
        result = await sandbox.execute(["true"])
        with pytest.raises(PolicyError, match=r"two mounts have the target /truth/truth\.json"):
            await grade(result, GRADER, Score, truth=[truth(tmp_path), truth(other)])
