"""What a sandbox adds to a Jupyter kernel: the time until it is ready, and that of a cell.

Sessions of basanite and bare kernels of the same interpreter (the profile `base`) take turns. The
bare ones run outside of any sandbox, started and asked by `jupyter_client` in a process of its
own. Ready: from the start of the kernel until a request is answered and its end published. A round
trip: the cell `1+1` from its sending until both its reply and its `idle` are there.

    python bench/kernel.py [--kernels 5] [--cells 200]

Floor: the bare kernel.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

READY_GOAL_S = 1.0
CELL_GOAL_MS = 5.0
WARM_UP = 5


def main() -> None:
    options = _parse()
    if options.side:
        print(json.dumps(asyncio.run(_bare(options.cells))))
        return
    from basanite.sandboxes import find_profile

    profile = find_profile("base")
    if profile is None:
        sys.exit("the profile base is not built: basanite sandbox profile build base")
    bare = [str(profile.prefix / "bin" / "python"), __file__, "--side", "bare"]
    bare += ["--cells", str(options.cells)]
    rows: dict[str, list[dict[str, float]]] = {"bare": [], "basanite": []}
    for _ in range(options.kernels):
        done = subprocess.run(bare, check=True, stdout=subprocess.PIPE, text=True)
        rows["bare"].append(json.loads(done.stdout))
        rows["basanite"].append(asyncio.run(_session(options.cells)))
    _print(rows, options)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kernels", type=int, default=5)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--side", choices=("bare",), help=argparse.SUPPRESS)
    return parser.parse_args()


async def _session(cells: int) -> dict[str, float]:
    from basanite.sandboxes import SandboxSpec, find_profile, open_sandbox, open_session

    profile = find_profile("base")
    assert profile is not None
    spec = profile.apply(SandboxSpec.create(limits={"memory_mb": 400, "wall_s": 300}))
    began = time.perf_counter()
    async with await open_sandbox(spec) as sandbox:
        opened = time.perf_counter()
        async with await open_session(sandbox) as session:
            ready = time.perf_counter()
            times = []
            for _ in range(cells + WARM_UP):
                sent = time.perf_counter()
                result = await session.execute("1+1")
                times.append(time.perf_counter() - sent)
                assert result.outputs[0].text == "2"
    return {"open_s": opened - began, "ready_s": ready - opened, **_summary(times)}


async def _bare(cells: int) -> dict[str, float]:
    # Of the profile's environment; the one that runs basanite needs none.
    jupyter_client: Any = importlib.import_module("jupyter_client")
    began = time.perf_counter()
    manager = jupyter_client.AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel(stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    try:
        await _answers(client)
        ready = time.perf_counter()
        times = []
        for _ in range(cells + WARM_UP):
            sent = time.perf_counter()
            await _cell(client)
            times.append(time.perf_counter() - sent)
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
    return {"ready_s": ready - began, **_summary(times)}


async def _answers(client: Any) -> None:
    """Wait until a request is answered and its end published, as a session does.

    Not `wait_for_ready`, which then waits a fifth of a second for silence.
    """
    while True:
        request = client.kernel_info()
        await _reply(client, request)
        with contextlib.suppress(TimeoutError):  # the subscription came too late for it
            await asyncio.wait_for(_published(client, request), 0.25)
            return


async def _cell(client: Any) -> None:
    request = client.execute("1+1")
    assert await _published(client, request) == "2"
    await _reply(client, request)


async def _published(client: Any, request: str) -> str:
    """Give the result of a request when its `idle` is there."""
    value = ""
    while True:
        message = await client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "execute_result":
            value = message["content"]["data"]["text/plain"]
        elif message["content"].get("execution_state") == "idle":
            return value


async def _reply(client: Any, request: str) -> None:
    while True:
        message = await client.get_shell_msg(timeout=60)
        if message["parent_header"].get("msg_id") == request:
            return


def _summary(times: list[float]) -> dict[str, float]:
    """Give the median and the 95th percentile, without the first cells, in milliseconds."""
    kept = sorted(1000 * one for one in times[WARM_UP:])
    return {"cell_ms": statistics.median(kept), "cell_p95_ms": kept[int(0.95 * len(kept))]}


def _print(rows: dict[str, list[dict[str, float]]], options: argparse.Namespace) -> None:
    print(f"{options.kernels} kernels of {options.cells} cells each; load {os.getloadavg()[0]:.1f}")
    found: dict[str, dict[str, float]] = {}
    for side, runs in rows.items():
        found[side] = {
            name: statistics.median(run[name] for run in runs) for name in sorted(runs[0])
        }
        found[side]["ready_worst_s"] = max(run["ready_s"] for run in runs)
        one = found[side]
        print(
            f"{side:10} ready {one['ready_s']:6.3f} s (worst {one['ready_worst_s']:.3f}), "
            f"1+1 {one['cell_ms']:6.2f} ms (p95 {one['cell_p95_ms']:.2f})"
        )
    ours, floor = found["basanite"], found["bare"]
    ratio = {name: ours[name] / floor[name] for name in ("ready_s", "cell_ms", "cell_p95_ms")}
    print(
        f"ratio      ready {ratio['ready_s']:6.2f} (goal: {READY_GOAL_S:g} s), "
        f"1+1 {ratio['cell_ms']:6.2f} (goal: {CELL_GOAL_MS:g} ms), "
        f"p95 {ratio['cell_p95_ms']:.2f}; the sandbox itself opens in {ours['open_s']:.3f} s"
    )
    print(json.dumps({"schema": "basanite.bench/1", **found, "ratio": ratio}))


if __name__ == "__main__":
    main()
