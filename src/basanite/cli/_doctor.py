"""`doctor`: what this machine can run, and what to do about what it can't."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from ..errors import BasaniteError
from . import _options as opt
from ._console import print_json, reported, stdout

if TYPE_CHECKING:
    from ..llm import ModelSpec

State = Literal["ok", "optional", "problem"]

_GIB = 1024**3
_MIN_FREE_GIB = 1.0
_MARKS = {"ok": "[green]ok[/]", "optional": "[yellow]missing[/]", "problem": "[red]problem[/]"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    """`optional`: missing, and only its own commands need it."""
    found: str
    todo: str = ""


def register(app: typer.Typer) -> None:
    """Add this file's command to the command tree."""
    app.command("doctor")(reported(_doctor))


def _doctor(
    *,
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="An endpoint to probe as well.",
            envvar="BASANITE_ENDPOINT",
            metavar="URL|embedded",
            show_default=False,
        ),
    ] = None,
    model: opt.ModelName = None,
    as_json: opt.AsJson = False,
) -> int:
    """Say what this machine can run, and what to do about what it can't."""
    from ..llm import ModelSpec

    findings = list(_machine())
    if endpoint:
        findings.append(asyncio.run(_endpoint(ModelSpec(endpoint=endpoint, model=model))))
    failed = any(finding.state == "problem" for finding in findings)
    if as_json:
        print_json(
            {
                "schema": "basanite.doctor/1",
                "ok": not failed,
                "findings": [asdict(finding) for finding in findings],
            }
        )
    else:
        table = Table("", "what", "found", "what to do", show_lines=False)
        for finding in findings:
            cells = (finding.name, finding.found, finding.todo)
            table.add_row(_MARKS[finding.state], *map(escape, cells))
        stdout.print(table)
    return 3 if failed else 0


def _machine() -> Iterator[Finding]:
    yield Finding("python", "ok", f"{platform.python_version()} on {platform.platform()}")
    yield Finding("basanite", "ok", metadata.version("basanite"))
    yield _memory()
    for look in (_cache, _embedded):
        yield _guarded(look)
    yield _package("parquet files", "pyarrow", "parquet")
    yield _package("PostgreSQL ledger", "psycopg", "postgres")
    yield _gpu()
    yield from _sandbox()


def _guarded(look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except BasaniteError as error:
        return Finding(look.__name__.strip("_"), "problem", str(error), error.todo or "")


def _memory() -> Finding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    except (ValueError, OSError):
        return Finding("machine", "ok", f"{cores} cores")
    return Finding("machine", "ok", f"{cores} cores, {memory:.0f} GiB of memory")


def _cache() -> Finding:
    """Open the reply cache as a run would."""
    from ..store import ReplyCache, default_cache_path

    path = default_cache_path()
    with ReplyCache.open(path):
        free = shutil.disk_usage(path.parent).free / _GIB
    if free < _MIN_FREE_GIB:
        return Finding(
            "cache",
            "problem",
            f"{path}: {free:.1f} GiB free",
            "Free some space, or set BASANITE_CACHE to a file on another disk.",
        )
    return Finding("cache", "ok", f"{path}, {free:.0f} GiB free")


def _embedded() -> Finding:
    from ..llm import find_model

    if importlib.util.find_spec("xllamacpp") is None:
        return Finding(
            "embedded model",
            "optional",
            "xllamacpp is not installed",
            "pip install 'basanite[embedded]'",
        )
    path = find_model()
    if path is None:
        return Finding(
            "embedded model",
            "optional",
            "the weights are not installed",
            "basanite embedded install",
        )
    return Finding("embedded model", "ok", str(path))


def _package(what: str, package: str, extra: str) -> Finding:
    if importlib.util.find_spec(package) is None:
        return Finding(
            what, "optional", f"{package} is not installed", f"pip install 'basanite[{extra}]'"
        )
    return Finding(what, "ok", f"{package} {metadata.version(package)}")


def _gpu() -> Finding:
    if Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi"):
        return Finding(
            "GPU", "ok", "an NVIDIA driver", "Serve a model with vLLM; judge with --endpoint URL."
        )
    return Finding(
        "GPU",
        "optional",
        "none found",
        "Judge with the embedded model, or with --endpoint URL of a server elsewhere.",
    )


def _sandbox() -> Iterator[Finding]:
    from ..sandboxes import PROFILE_NAMES, find_profile, probe

    report = asyncio.run(probe())
    works = [one for one in report.backends if one.available]
    for one in report.backends:
        name = f"sandbox: {one.name}"
        if one.available:
            weak = ", ".join(a for a, e in one.enforced.items() if e.strength == "best_effort")
            yield Finding(name, "ok", f"{one.version}" + (f"; best effort: {weak}" if weak else ""))
        else:
            yield Finding(name, "optional", one.why, one.todo)
    for name in PROFILE_NAMES if works else ():
        profile = find_profile(name)
        if profile is None:
            yield Finding(
                f"profile: {name}",
                "optional",
                "not built",
                f"basanite sandbox profile build {name}",
            )
        else:
            yield Finding(f"profile: {name}", "ok", str(profile.prefix))


async def _endpoint(spec: ModelSpec) -> Finding:
    from ..llm import open_model

    try:
        async with open_model(spec, None) as model:
            can = asdict(model.capabilities)
            shown = ", ".join(
                f"{name} {'unknown' if value is None else value}" for name, value in can.items()
            )
            return Finding("endpoint", "ok", f"{model.identity.name} ({shown})")
    except BasaniteError as error:
        where = f"{error.where}: " if error.where else ""
        return Finding("endpoint", "problem", f"{where}{error.what}", error.todo or "")
