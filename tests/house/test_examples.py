"""Each example runs as its first lines say, against a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.embedded import need_model
from support.mock_endpoint import MockConfig, mock_process

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.py"))


def run(example: Path, endpoint: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(example)],
        env={**os.environ, "BASANITE_ENDPOINT": endpoint},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path) -> None:
    with mock_process(MockConfig()) as mock:
        child = run(example, mock.url)
    assert child.returncode == 0, child.stderr
    assert child.stdout.strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_it_needs(example: Path) -> None:
    child = run(example, "")
    assert child.returncode == 1
    assert "BASANITE_ENDPOINT" in child.stderr


def test_judging_two_answers_shows_claims_with_labels() -> None:
    (example,) = (path for path in EXAMPLES if path.stem == "judge_two_answers")
    with mock_process(MockConfig()) as mock:
        child = run(example, mock.url)
    assert child.stdout.count("precision: ") == 2
    assert "by the truth: " in child.stdout
    assert "by the answer: " in child.stdout


def test_a_critic_by_the_embedded_model(monkeypatch: pytest.MonkeyPatch) -> None:
    need_model()
    monkeypatch.setenv("BASANITE_EMBEDDED_THREADS", "1")
    (example,) = (path for path in EXAMPLES if path.stem == "langchain_agent")
    child = run(example, "embedded", seconds=300)
    assert child.returncode == 0, child.stderr
    assert "draft 0: T cells rise." in child.stdout
    assert "ended: " in child.stdout
