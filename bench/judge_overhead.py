"""What a judgment costs above the bare model call.

500 items of one call each go through the command line's own path (`basanite judge claims`, with
ledger and cache on) at concurrency 64, against a mock endpoint that answers after 50 ms. Beside
it, in the same run, the same number of calls with the bare `openai` client. Each side runs in a
process of its own, the mock in a third. Imports are loaded before the clock starts and reported
by themselves.

    python bench/judge_overhead.py [--items 500] [--concurrency 64] [--repeats 3] [--profile]

Floor: items / concurrency x latency, with no CPU at all.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

LATENCY_S = 0.05


def main() -> None:
    options = _parse()
    if options.side:
        measure = _bare if options.side == "bare" else _basanite
        print(json.dumps(measure(options)))
        return
    from support.mock_endpoint import MockConfig, mock_process

    rows: dict[str, list[dict[str, float]]] = {"bare": [], "basanite": []}
    for _ in range(options.repeats):
        for side, found_rows in rows.items():
            with mock_process(MockConfig(latency=LATENCY_S)) as mock:
                found = _run_side(side, mock.url, options)
                stats = mock.stats()
            found_rows.append(found | {"calls": stats.calls, "in_flight": stats.max_in_flight})
    _print(rows, options)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="print where our CPU time goes")
    parser.add_argument("--side", choices=("bare", "basanite"), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_side(side: str, url: str, options: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, "--url", url]
    command += ["--items", str(options.items), "--concurrency", str(options.concurrency)]
    if options.profile and side == "basanite":
        command.append("--profile")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _claim(number: int) -> str:
    return f"Gene G{number} is {number % 7 + 2}-fold higher in treated cells than in controls."


def _measured(imports_s: float, started: tuple[float, float]) -> dict[str, float]:
    wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"imports_s": imports_s, "wall_s": wall, "cpu_s": cpu, "peak_mb": peak}


def _start() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _bare(options: argparse.Namespace) -> dict[str, float]:
    """The same number of calls, each with a prompt and a schema of about our size."""
    begin = time.perf_counter()
    from openai import AsyncOpenAI

    verdict: dict[str, object] = {
        "type": "object",
        "properties": {"quote": {"type": "string"}, "label": {"enum": ["entailed", "neutral"]}},
        "required": ["quote", "label"],
    }
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"a1": verdict},
        "required": ["a1"],
    }
    rules = "Say whether the text entails the claim. " * 20

    async def run() -> None:
        gate = asyncio.Semaphore(options.concurrency)
        client = AsyncOpenAI(base_url=options.url, api_key="none", max_retries=0)

        async def call(number: int) -> None:
            async with gate:
                reply = await client.chat.completions.create(
                    model="mock-model",
                    messages=[{"role": "user", "content": rules + _claim(number)}],
                    temperature=0,
                    top_p=1,
                    seed=0,
                    max_tokens=200,
                    response_format={
                        "type": "json_schema",
                        "json_schema": {"name": "reply", "schema": schema},
                    },
                )
            json.loads(reply.choices[0].message.content or "")

        async with client:
            await asyncio.gather(*(call(number) for number in range(options.items)))

    _ = AsyncOpenAI(base_url=options.url, api_key="none").chat.completions  # loads its modules
    imports_s = time.perf_counter() - begin
    started = _start()
    asyncio.run(run())
    return _measured(imports_s, started)


def _basanite(options: argparse.Namespace) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "answers.jsonl"
        rows.write_text(
            "".join(
                json.dumps(
                    {
                        "id": str(number),
                        "question": f"What does treatment do to gene G{number}?",
                        "answer": _claim(number),
                        "truth": f"Treatment raises G{number} {number % 7 + 2}-fold.",
                        "answer_claims": [_claim(number)],
                        "task": f"task-{number % 50}",
                    }
                )
                + "\n"
                for number in range(options.items)
            ),
            encoding="utf-8",
        )
        os.environ["BASANITE_CACHE"] = str(Path(folder) / "cache.sqlite")
        begin = time.perf_counter()
        app = _load_command_line()
        imports_s = time.perf_counter() - begin
        arguments = ["judge", "claims", str(rows), "-o", str(Path(folder) / "run"), "--quiet"]
        arguments += ["--endpoint", options.url, "--direction", "precision"]
        arguments += ["--concurrency", str(options.concurrency)]
        started = _start()
        if options.profile:
            _profiled(app, arguments)
        else:
            app(arguments, standalone_mode=False)
        return _measured(imports_s, started)


def _load_command_line() -> typer.Typer:
    """Load what the command loads while it runs, so that the clock sees work and no imports."""
    for name in (
        "numpy",
        "scipy.special",
        "sqlalchemy.dialects.sqlite",
        "basanite.llm._open",
        "basanite.reports",
        "basanite.suites",
    ):
        importlib.import_module(name)
    import openai

    from basanite.cli._app import app

    _ = openai.AsyncOpenAI(base_url="http://127.0.0.1:9", api_key="none").chat.completions
    return app


def _profiled(app: typer.Typer, arguments: list[str]) -> None:
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.runcall(app, arguments, standalone_mode=False)
    stats = pstats.Stats(profile, stream=sys.stderr)
    stats.sort_stats("tottime").print_stats(45)
    stats.sort_stats("cumtime").print_stats(70)


def _print(rows: dict[str, list[dict[str, float]]], options: argparse.Namespace) -> None:
    floor = options.items / options.concurrency * LATENCY_S
    print(f"{options.items} items, concurrency {options.concurrency}, floor {floor:.2f} s wall")
    best = {side: min(found, key=lambda row: row["wall_s"]) for side, found in rows.items()}
    print("side       wall s (median, worst)   CPU ms/item  peak MB  in flight  calls  imports s")
    for side, found in rows.items():
        walls = sorted(row["wall_s"] for row in found)
        row = best[side]
        print(
            f"{side:10} {row['wall_s']:.2f} ({statistics.median(walls):.2f}, {walls[-1]:.2f})"
            f"{'':9}{row['cpu_s'] / options.items * 1000:8.2f} {row['peak_mb']:10.0f}"
            f" {row['in_flight']:9.0f} {row['calls']:7.0f} {row['imports_s']:9.2f}"
        )
    ratio = best["basanite"]["wall_s"] / best["bare"]["wall_s"]
    above = (best["basanite"]["cpu_s"] - best["bare"]["cpu_s"]) / options.items * 1000
    print(f"ratio to the bare client: {ratio:.2f} x wall; {above:+.2f} ms of CPU per judgment")


if __name__ == "__main__":
    main()
