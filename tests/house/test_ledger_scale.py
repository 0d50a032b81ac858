"""The benchmark of large runs still runs: each of its steps, on a small run."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "ledger_scale.py"
STEPS = ["rows", "run", "resume", "report", "jsonl", "parquet", "floor:insert", "floor:read"]


def test_each_step_of_a_small_run_is_measured(tmp_path: Path) -> None:
    bound = 65  # MB: above what the first step takes and below what judging does
    command = [sys.executable, str(SCRIPT), "--judgments", "300", "--keep", str(tmp_path)]
    command += ["--most-mb", str(bound)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert f"more than {bound} MB: run, resume, report" in done.stderr
    assert done.returncode == 1
    table = [line.split() for line in done.stdout.splitlines()]
    found = {cells[0]: cells[1:] for cells in table if cells[0] in STEPS}
    assert list(found) == [name for name in STEPS if name != "parquet" or find_spec("pyarrow")]
    for name, (wall_s, _cpu_s, rate, peak_mb, *_) in found.items():
        assert float(wall_s) >= 0, name
        assert float(rate) > 0, name
        assert 10 < float(peak_mb) < 300, name
    assert (tmp_path / "report.html").stat().st_size > 100_000
    sizes = [len(line) for line in (tmp_path / "judgments.jsonl").read_bytes().splitlines()]
    assert len(sizes) == 300
    assert 2_000 < sum(sizes) / len(sizes) < 5_000  # what a judgment of the claims judge has
