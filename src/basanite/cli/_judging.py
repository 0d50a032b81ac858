"""Running a judge for a command: open the models, judge the file, show the summary."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..runs import Limits
from ._console import UNSCORED_EXIT, print_json, stderr
from ._progress import show_progress
from ._summary import print_summary

if TYPE_CHECKING:
    from ..judges import LexicalForm
    from ..llm import ChatModel
    from ..schema import InvalidRow
    from ..store import InputFile
    from ..suites import JudgeJob, JudgeRun, Recipe
    from ._models import JudgeModels

_INVALID_ROWS_SHOWN = 20
_CREDENTIALS = re.compile(r"(://)[^/\s]*@")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a judge command keeps, bounds and shows its run."""

    out: Path
    limits: Limits = field(default_factory=Limits)
    resume: bool = False
    max_unscored: float = 0.05
    as_json: bool = False
    quiet: bool = False
    cache: str = "off"
    ledger_url: str | None = None
    fsync: bool = False


def scan(source: Path) -> InputFile:
    """Look an input through before anything is made or started; print its warnings."""
    from ..store import InputFile

    found = InputFile.scan(source)
    for warning in found.warnings:
        stderr.print("[yellow]warning[/]", end=" ")
        stderr.print(f"{source}: {warning}", markup=False)
    return found


async def judge_by_models(
    source: InputFile,
    models: JudgeModels,
    recipe_of: Callable[[dict[str, ChatModel]], Recipe],
    run: RunOptions,
) -> int:
    """Open the models and the cache, judge a file, print the summary; give the exit code.

    Args:
        source: the file.
        models: which model each role of the judge has; equal ones are opened once.
        recipe_of: makes the judge of the models by role.
        run: how the run is kept, bounded and shown.
    """
    from ..llm import open_model
    from ..store import ReplyCache, default_cache_path

    check_folder(run)
    # PostgreSQL holds the cache too, so that several machines share it.
    server = run.ledger_url if is_server(run.ledger_url) else None
    with ReplyCache.open(server or default_cache_path()) as cache:
        async with AsyncExitStack() as stack:
            opened = {
                spec: await stack.enter_async_context(open_model(spec, cache))
                for spec in dict.fromkeys(models.roles.values())
            }
            by_role = {role: opened[spec] for role, spec in models.roles.items()}
            recipe = recipe_of(by_role)
            main = by_role[models.main]
            job = replace(
                _job(source, run),
                endpoint=models.roles[models.main].endpoint,
                capabilities=asdict(main.capabilities),
                endpoints={role: spec.endpoint for role, spec in models.roles.items()},
            )
            return await _judge(job, recipe, run)


async def judge_lexical(source: InputFile, form: LexicalForm, run: RunOptions) -> int:
    """Judge a file by word overlap, print the summary; give the exit code."""
    from ..suites import LexicalRecipe

    return await judge_without_model(source, lambda: LexicalRecipe(source, form), run)


async def judge_without_model(
    source: InputFile, recipe_of: Callable[[], Recipe], run: RunOptions
) -> int:
    """Judge a file by a judge that asks no model, print the summary; give the exit code."""
    check_folder(run)
    return await _judge(_job(source, run), recipe_of(), run)


def _job(source: InputFile, run: RunOptions) -> JudgeJob:
    from ..suites import JudgeJob

    return JudgeJob(
        input=source,
        out=run.out,
        command=shown_command(sys.argv),
        limits=run.limits,
        resume=run.resume,
        cache=run.cache,
        ledger_url=run.ledger_url,
        fsync=run.fsync,
    )


async def _judge(job: JudgeJob, recipe: Recipe, run: RunOptions) -> int:
    from ..suites import judge_file

    _spare_collections()
    warn = _InvalidRows(str(job.input.path))
    with show_progress(recipe.fingerprint.judge, quiet=run.quiet) as on_progress:
        done = await judge_file(job, recipe, on_progress=on_progress, on_invalid=warn)
    warn.end()
    return _show(done, run)


def _spare_collections() -> None:
    """Keep the garbage collector from walking through what lives as long as the process.

    What the imports made is never garbage, and there is a lot of it. Left to its defaults, the
    collector takes about 0.3 ms of CPU per judgment.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _show(done: JudgeRun, run: RunOptions) -> int:
    share = done.summary.share_unscored
    print_summary(done.summary, done.outcome, done.path)
    if run.as_json:
        print_json({**done.summary.to_json(), "path": str(done.path)})
    if share > run.max_unscored:
        stderr.print(
            f"[bold red]{share:.1%} of the items have no score[/], more than the "
            f"{run.max_unscored:.1%} of --max-unscored; the reasons are above"
        )
        return UNSCORED_EXIT
    return 0


class _InvalidRows:
    """Names each row that can't be judged, the first ones in full."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._count = 0

    def __call__(self, row: InvalidRow) -> None:
        self._count += 1
        if self._count <= _INVALID_ROWS_SHOWN:
            stderr.print("[yellow]skipped[/]", end=" ")
            stderr.print(f"{self._path}, {row.message}", markup=False)

    def end(self) -> None:
        if self._count > _INVALID_ROWS_SHOWN:
            more = self._count - _INVALID_ROWS_SHOWN
            stderr.print(f"[yellow]skipped[/] {more} further rows; the report lists them all")


def check_folder(run: RunOptions) -> None:
    """Refuse a folder that can't take the run before a model is started.

    Raises:
        InputError: it holds something already and --resume is not given.
    """
    if run.out.exists() and not run.out.is_dir():
        raise InputError("is a file; a run is a folder", where=str(run.out))
    if not run.resume and (run.out / "manifest.json").exists():
        raise InputError(
            "there is a run in the folder already",
            where=str(run.out),
            todo="Go on with it (--resume), or name another folder.",
        )


def is_server(url: str | None) -> bool:
    """Whether a ledger's URL names a database server."""
    return url is not None and url.startswith("postgres")


def shown_command(arguments: list[str]) -> tuple[str, ...]:
    """Give a command line as it may be stored: user names and passwords are out of URLs."""
    shown = (_CREDENTIALS.sub(r"\1***@", argument) for argument in arguments[1:])
    return ("basanite", *shown)
