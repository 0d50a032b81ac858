"""The command line as a user types it: in this process, or in one that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from basanite.cli._app import app


@dataclass(frozen=True)
class Done:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        """Standard output, which must be one JSON object and nothing else."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def basanite(*arguments: object) -> Done:
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return Done(result.exit_code, result.stdout, result.stderr)


def start(*arguments: object) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "basanite", *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def row(number: int, **fields: object) -> dict[str, object]:
    """One valid row; three rows share a question, and so a truth."""
    topic = number // 3
    given: dict[str, object] = {
        "id": f"i{number}",
        "question": f"What does compound {topic} do to gene G{topic}?",
        "answer": f"Compound {topic} raises G{topic} {number + 2}-fold. It leaves H{number} alone.",
        "truth": f"Compound {topic} raises gene G{topic} in all cells.",
    }
    return given | fields


def write_rows(path: Path, rows: Sequence[object]) -> Path:
    """Write JSONL."""
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path
