"""A scanpy workflow inside a sandbox, and the same outside: quality control to marker genes.

    python bench/scanpy_workflow.py [--runs 3] [--backend NAME]

Both run the script of the profile `scanpy` by the profile's interpreter, on the 700 cells of
`pbmc68k_reduced`, on one thread, with a copy of the same warm caches, in turn. It needs
`basanite sandbox profile build scanpy`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from importlib.resources import files
from pathlib import Path, PurePosixPath

from basanite.sandboxes import (
    ExecResult,
    Limits,
    Mount,
    Profile,
    SandboxSpec,
    find_profile,
    run_sandboxed,
)

SCRIPT = Path(str(files("basanite.sandboxes") / "profiles" / "scanpy" / "workflow.py"))
GOAL = 1.2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--backend", default="bubblewrap")
    options = parser.parse_args()
    profile = find_profile("scanpy")
    if profile is None:
        raise SystemExit("basanite sandbox profile build scanpy")
    outside, inside = [], []
    result: ExecResult | None = None
    for _ in range(options.runs):
        outside.append(_outside(profile))
        began = time.perf_counter()
        result = asyncio.run(run_sandboxed(_spec(profile), backend=options.backend))
        inside.append(time.perf_counter() - began)
        if not result.ok:
            raise SystemExit(result.stderr.text)
    if result is None:
        raise SystemExit("--runs must be 1 or more")
    bare, contained = statistics.median(outside), statistics.median(inside)
    peak = result.usage.peak_memory_bytes or 0
    print(f"outside {bare:.2f} s, inside {contained:.2f} s: {contained / bare:.2f} (goal: {GOAL})")
    print(
        f"inside: {result.backend}, peak {peak / 2**20:.0f} MB, {len(result.artifacts)} artifacts"
    )
    print(
        json.dumps({"schema": "basanite.bench/1", "outside_s": bare, "inside_s": contained,
                    "ratio": contained / bare})
    )  # fmt: skip


def _outside(profile: Profile) -> float:
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        caches = Path(folder) / "caches"
        shutil.copytree(profile.caches, caches)
        subprocess.run(
            [str(profile.prefix / "bin" / "python"), str(SCRIPT), str(Path(folder) / "out")],
            env={"HOME": folder, **profile.variables(PurePosixPath(caches))},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return time.perf_counter() - began


def _spec(profile: Profile) -> SandboxSpec:
    script = Mount(source=SCRIPT, target=PurePosixPath("/scripts/workflow.py"))
    return profile.apply(
        SandboxSpec(
            command=("python", "/scripts/workflow.py", "out"),
            mounts=(script,),
            limits=Limits(wall_s=300, memory_mb=2048, processes=64),
        )
    )


if __name__ == "__main__":
    main()
