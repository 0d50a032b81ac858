"""What a sandbox costs: start-up above bare Python, and many at once.

    python bench/sandbox_overhead.py [--runs 30] [--at-once 16] [--backend NAME]...

Floors: the same interpreter with the same code as a plain child, and bubblewrap by itself with
the fewest arguments with which Python starts. Each run of the three is made in turn, so that other
work on the machine slows them alike.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import time
from collections.abc import Awaitable, Callable

from basanite.sandboxes import Limits, Sandbox, SandboxSpec, open_sandbox, probe

PYTHON = "/usr/bin/python3"
GOAL_MS = 20.0
BARE_BUBBLEWRAP = (
    "bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", "--proc", "/proc",
    "--dev", "/dev", "--unshare-all", PYTHON, "-I", "-c", "pass",
)  # fmt: skip
NAP_S = 0.5


def main() -> None:
    options = _parse()
    found = asyncio.run(_measured(options))
    print(json.dumps({"schema": "basanite.bench/1", **found}))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--backend", action="append", help="default: all that work here")
    return parser.parse_args()


async def _measured(options: argparse.Namespace) -> dict[str, object]:
    report = await probe(options.backend)
    names = [one.name for one in report.backends if one.available]
    print(f"{report.user}, groups: {report.groups}, {options.runs} runs of `python3 -I -c pass`")
    found: dict[str, object] = {}
    for name in names:
        found[name] = await _startup(name, options.runs)
    for name in names:
        found[f"{name}, at once"] = await _at_once(name, options.at_once)
    return found


async def _startup(name: str, runs: int) -> dict[str, float]:
    spec = SandboxSpec(limits=Limits(cpus=2, cpu_s=60))
    async with await open_sandbox(spec, backend=name) as sandbox:
        sides: dict[str, Callable[[], Awaitable[None]]] = {
            "bare python": lambda: _child(PYTHON, "-I", "-c", "pass"),
            f"{name}, opened before": lambda: _executed(sandbox),
            f"{name}, opened and closed": lambda: _whole(spec, name),
        }
        if name == "bubblewrap" and shutil.which("bwrap"):
            sides["bwrap alone"] = lambda: _child(*BARE_BUBBLEWRAP)
        walls: dict[str, list[float]] = {side: [] for side in sides}
        for number in range(runs + 1):
            for side, run in sides.items():
                began = time.perf_counter()
                await run()
                if number:  # the first fills the machine's caches
                    walls[side].append(1000 * (time.perf_counter() - began))
    medians = {side: statistics.median(wall) for side, wall in walls.items()}
    bare = medians["bare python"]
    print(name)
    for side, wall in walls.items():
        ninth = sorted(wall)[int(0.9 * (len(wall) - 1))]
        print(
            f"  {side:32} median {medians[side]:7.1f} ms, p90 {ninth:7.1f}, "
            f"{medians[side] - bare:+7.1f} ms, {medians[side] / bare:4.1f} times bare python"
        )
    above = medians[f"{name}, opened before"] - bare
    print(f"  above bare python: {above:.1f} ms (goal, for bubblewrap: {GOAL_MS:g} ms)")
    return {**medians, "above_bare_ms": above}


async def _child(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, error = await process.communicate()
    if process.returncode:
        raise SystemExit(f"{command[0]}: {(out + error).decode()}")


async def _executed(sandbox: Sandbox) -> None:
    result = await sandbox.execute([PYTHON, "-I", "-c", "pass"])
    if not result.ok:
        raise SystemExit(f"{sandbox.backend}: {result.status}: {result.stderr.text}")


async def _whole(spec: SandboxSpec, name: str) -> None:
    async with await open_sandbox(spec, backend=name) as sandbox:
        await _executed(sandbox)


async def _at_once(name: str, count: int) -> dict[str, float]:
    """Walls of naps at once: in sandboxes of their own, and as plain children."""
    command = (PYTHON, "-I", "-c", f"import time; time.sleep({NAP_S})")
    spec = SandboxSpec(limits=Limits(cpus=2, cpu_s=60))

    async def contained() -> None:
        async with await open_sandbox(spec, backend=name) as sandbox:
            result = await sandbox.execute(command)
            if not result.ok:
                raise SystemExit(f"{name}: {result.status}: {result.stderr.text}")

    walls: dict[str, float] = {}
    sides: dict[str, Callable[[], Awaitable[None]]] = {
        "bare python": lambda: _child(*command),
        name: contained,
    }
    for side, run in sides.items():
        began = time.perf_counter()
        await asyncio.gather(*(run() for _ in range(count)))
        walls[side] = time.perf_counter() - began
    print(
        f"{count} at once, each sleeping {NAP_S} s: {name} {walls[name]:.2f} s, "
        f"bare python {walls['bare python']:.2f} s"
    )
    return walls


if __name__ == "__main__":
    main()
