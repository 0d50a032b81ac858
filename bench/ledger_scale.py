"""How far one run folder goes: 100,000 judgments written, resumed, reported and exported.

1,000 tasks times agents times trials go through the path of every run (`suites.judge_file`: rows
into the ledger, the one loop over items, the summary) with a judge that answers at once, into an
SQLite ledger in WAL mode. Then the run is resumed, with nothing left to do, and `basanite report`
and `basanite export` read it. Each step runs in a process of its own, whose peak memory is read
at its end.

    python bench/ledger_scale.py [--judgments 100000] [--concurrency 64] [--keep FOLDER]

Floors, printed beside the steps: the same bodies inserted with plain `sqlite3` in one transaction
(for the run), and every body of the ledger read and parsed once (for all that read). Exit code 1:
a step took more memory than `--most-mb`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

TASKS = 1_000
AGENTS = 10
ROWS_AT_ONCE = 1_000


@dataclass(frozen=True)
class Scale:
    """Where the run lies and how large it is."""

    folder: Path
    judgments: int
    concurrency: int

    @property
    def rows(self) -> Path:
        return self.folder / "answers.jsonl"

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def ledger(self) -> Path:
        return self.run / "ledger.sqlite"


def write_rows(scale: Scale) -> dict[str, float]:
    from support.instant_judge import make_row

    with scale.rows.open("w", encoding="utf-8") as file:
        for number in range(scale.judgments):
            row = make_row(number, tasks=TASKS, agents=AGENTS)
            file.write(row.model_dump_json(exclude_none=True) + "\n")
    return {"mb": scale.rows.stat().st_size / 2**20}


def judge(scale: Scale) -> dict[str, float]:
    return _judge(scale, resume=False)


def resume(scale: Scale) -> dict[str, float]:
    return _judge(scale, resume=True)


def _judge(scale: Scale, *, resume: bool) -> dict[str, float]:
    from basanite.cli._judging import _spare_collections
    from basanite.runs import Limits
    from basanite.store import InputFile
    from basanite.suites import JudgeJob, judge_file
    from support.instant_judge import InstantRecipe

    _spare_collections()
    job = JudgeJob(
        input=InputFile.scan(scale.rows),
        out=scale.run,
        limits=Limits(concurrency=scale.concurrency),
        resume=resume,
    )
    done = asyncio.run(judge_file(job, InstantRecipe())).outcome
    expected = (0, scale.judgments) if resume else (scale.judgments, 0)
    _expect("done and skipped", (done.done, done.skipped), expected)
    return {"loop_s": done.seconds, "mb": scale.ledger.stat().st_size / 2**20}


def report(scale: Scale) -> dict[str, float]:
    page = scale.folder / "report.html"
    _command("report", str(scale.run), "-o", str(page))
    return {"mb": page.stat().st_size / 2**20}


def export_jsonl(scale: Scale) -> dict[str, float]:
    return _export(scale, "jsonl")


def export_parquet(scale: Scale) -> dict[str, float]:
    return _export(scale, "parquet")


def _export(scale: Scale, form: str) -> dict[str, float]:
    out = scale.folder / f"judgments.{form}"
    _command("export", str(scale.run), "--format", form, "-o", str(out))
    if form == "jsonl":
        with out.open("rb") as file:
            _expect("exported lines", sum(1 for _ in file), scale.judgments)
    return {"mb": out.stat().st_size / 2**20}


def _command(*arguments: str) -> None:
    from basanite.cli._app import app

    _expect(f"exit code of {arguments[0]}", app(list(arguments), standalone_mode=False) or 0, 0)


def floor_insert(scale: Scale) -> dict[str, float]:
    """Insert all bodies in one transaction; the time of fetching them does not count."""
    spent = 0.0
    target = sqlite3.connect(scale.folder / "floor.sqlite", isolation_level=None)
    target.execute("PRAGMA journal_mode=WAL")
    target.execute("PRAGMA synchronous=NORMAL")
    target.execute("CREATE TABLE plain (name TEXT PRIMARY KEY, body TEXT)")
    target.execute("BEGIN")
    for page in _pages(scale, "kind || '/' || key, body"):
        begin = time.perf_counter()
        target.executemany("INSERT INTO plain VALUES (?, ?)", page)
        spent += time.perf_counter() - begin
    begin = time.perf_counter()
    target.execute("COMMIT")
    spent += time.perf_counter() - begin
    target.close()
    return {"wall_s": spent}


def floor_read(scale: Scale) -> dict[str, float]:
    read = 0
    for page in _pages(scale, "body"):
        for (body,) in page:
            read += isinstance(json.loads(body), dict)
    _expect("records", read, 2 * scale.judgments)  # answers and judgments
    return {}


def _pages(scale: Scale, columns: str) -> Iterator[list[tuple[str, ...]]]:
    source = sqlite3.connect(scale.ledger)
    cursor = source.execute(f"SELECT {columns} FROM basanite_records ORDER BY seq")
    while page := cursor.fetchmany(ROWS_AT_ONCE):
        yield page
    source.close()


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"{what}: {found}, expected {expected}")


STEPS: dict[str, Callable[[Scale], dict[str, float]]] = {
    "rows": write_rows,
    "run": judge,
    "resume": resume,
    "report": report,
    "jsonl": export_jsonl,
    "parquet": export_parquet,
    "floor:insert": floor_insert,
    "floor:read": floor_read,
}
FLOOR_OF = {"run": "floor:insert"} | dict.fromkeys(
    ("resume", "report", "jsonl", "parquet"), "floor:read"
)


def main() -> None:
    options = _parse()
    if options.step:
        print(json.dumps(_measured(options.step, _scale(options, options.keep))))
        return
    with tempfile.TemporaryDirectory(prefix="basanite-scale-") as scratch:
        folder = options.keep or Path(scratch)
        found = {name: _in_child(name, folder, options) for name in _wanted()}
    _print(found, options)
    over = [name for name, row in found.items() if row["peak_mb"] > options.most_mb]
    if over:
        raise SystemExit(f"more than {options.most_mb} MB: {', '.join(over)}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--most-mb", type=int, default=300, help="peak memory of any step")
    parser.add_argument("--keep", type=Path, help="an empty folder to work in and leave behind")
    parser.add_argument("--step", choices=STEPS, help="one step alone, in --keep, in this process")
    return parser.parse_args()


def _scale(options: argparse.Namespace, folder: Path) -> Scale:
    return Scale(folder, options.judgments, options.concurrency)


def _wanted() -> list[str]:
    if importlib.util.find_spec("pyarrow") is not None:
        return list(STEPS)
    print("no Parquet: pyarrow is not installed (pip install 'basanite[parquet]')")
    return [name for name in STEPS if name != "parquet"]


def _in_child(name: str, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    # A child's ru_maxrss starts with the memory of the process that made it, so that this one
    # loads nothing of basanite.
    command = [sys.executable, __file__, "--step", name, "--keep", str(folder)]
    command += ["--judgments", str(options.judgments), "--concurrency", str(options.concurrency)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} failed\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _measured(name: str, scale: Scale) -> dict[str, float]:
    begin, cpu = time.perf_counter(), time.process_time()
    found = STEPS[name](scale)
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"wall_s": wall, "cpu_s": cpu, "peak_mb": peak} | found


def _print(found: dict[str, dict[str, float]], options: argparse.Namespace) -> None:
    print(f"{options.judgments} judgments, {TASKS} tasks, concurrency {options.concurrency}")
    print("step            wall s    CPU s  judgments/s  peak MB  file MB  x floor")
    for name, row in found.items():
        floor = found[FLOOR_OF[name]]["wall_s"] if name in FLOOR_OF else None
        size = f"{row['mb']:8.1f}" if "mb" in row else " " * 8
        ratio = "" if floor is None else f"{row['wall_s'] / floor:7.1f}"
        print(
            f"{name:13} {row['wall_s']:8.2f} {row['cpu_s']:8.2f} "
            f"{options.judgments / row['wall_s']:12.0f} {row['peak_mb']:8.0f} {size} {ratio}"
        )
    loop = found["run"]["loop_s"]
    print(f"the loop over items of the run: {loop:.1f} s, {options.judgments / loop:.0f} a second")


if __name__ == "__main__":
    main()
