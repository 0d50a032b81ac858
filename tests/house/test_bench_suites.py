"""The benchmark of the suites still runs, each figure with a unit and, but for one, a goal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "suites.py"
WITHOUT_A_GOAL = {"airs: all figures of the study"}


def test_every_figure_is_measured() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr  # 1: slower than a goal, which no test may fail
    rows = json.loads(done.stdout)
    assert len(rows) == 8
    assert {name for name, row in rows.items() if row["goal"] is None} == WITHOUT_A_GOAL
    assert all(row["value"] > 0 and row["unit"] in {"s", "MB"} for row in rows.values())
