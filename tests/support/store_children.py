"""Starting and reading the child processes of `support.store_child`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SCRIPT = Path(__file__).parent / "store_child.py"


def start_child(what: str, path: Path) -> subprocess.Popen[str]:
    """Start a program that writes to a path and prints what it has done."""
    return subprocess.Popen(
        [sys.executable, str(_SCRIPT), what, str(path)],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_for_lines(child: subprocess.Popen[str], count: int) -> list[str]:
    """Read the first lines that a child prints."""
    assert child.stdout is not None
    return [child.stdout.readline().rstrip("\n") for _ in range(count)]
