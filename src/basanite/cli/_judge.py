"""`judge`: answers and truths in, scores per claim and a run folder out."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from ..runs import Limits
from . import _options as opt
from ._console import UNSCORED_EXIT, print_json, reported, stderr
from ._progress import show_progress
from ._summary import print_summary

if TYPE_CHECKING:
    from ..judges import LexicalForm
    from ..llm import ModelSpec
    from ..schema import InvalidRow
    from ..store import InputFile
    from ..suites import ClaimsOptions, JudgeJob, JudgeRun, Recipe

EMBEDDED_CONCURRENCY = 2
DEFAULT_CONCURRENCY = 8
_INVALID_ROWS_SHOWN = 20
_CREDENTIALS = re.compile(r"(://)[^/\s]*@")

judge_app = typer.Typer(help="Judge answers against truths.")


class DirectionChoice(StrEnum):
    """Which way claims are held."""

    BOTH = "both"
    PRECISION = "precision"
    RECALL = "recall"


class ClaimSource(StrEnum):
    """How a text becomes claims."""

    MODEL = "model"
    SENTENCES = "sentences"


class FormChoice(StrEnum):
    """Forms of the lexical judge."""

    WEIGHTED = "weighted"
    TOKEN_F1 = "token-f1"


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


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command tree."""
    judge_app.command("claims")(reported(_claims))
    judge_app.command("lexical")(reported(_lexical))
    app.add_typer(judge_app, name="judge")


def _claims(
    source: opt.Input,
    *,
    out: opt.Out,
    endpoint: opt.Endpoint,
    model: opt.ModelName = None,
    gguf: opt.Gguf = None,
    concurrency: opt.Concurrency = None,
    resume: opt.Resume = False,
    cache: opt.Cache = opt.CacheChoice.USE,
    direction: Annotated[
        DirectionChoice, typer.Option(help="Check claims of the answer, of the truth, or both.")
    ] = DirectionChoice.BOTH,
    claims_by: Annotated[
        ClaimSource, typer.Option(help="Who splits texts into claims.")
    ] = ClaimSource.MODEL,
    triplets: Annotated[
        bool, typer.Option("--triplets", help="Ask for claims as subject, relation, object.")
    ] = False,
    per_request: Annotated[
        int, typer.Option(min=1, max=50, help="Claims checked in one request.", metavar="N")
    ] = 5,
    max_unscored: opt.MaxUnscored = 0.05,
    item_seconds: opt.ItemSeconds = 600.0,
    attempt_seconds: opt.AttemptSeconds = 180.0,
    max_seconds: opt.RunSeconds = None,
    max_tokens: opt.RunTokens = None,
    ledger: opt.Ledger = None,
    fsync: opt.Fsync = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Judge by claims: precision, recall, F1, and with contexts all of RAGChecker's metrics."""
    from ..llm import ModelSpec
    from ..suites import ClaimsOptions

    embedded = endpoint == "embedded"
    concurrency = concurrency or (EMBEDDED_CONCURRENCY if embedded else DEFAULT_CONCURRENCY)
    spec = ModelSpec(
        endpoint=endpoint,
        model=model,
        gguf=gguf,
        concurrency=concurrency,
        attempt_seconds=attempt_seconds,
        cache=cache.value,
    )
    limits = Limits(
        concurrency=concurrency,
        item_seconds=item_seconds,
        run_seconds=max_seconds,
        max_tokens=max_tokens,
    )
    options = ClaimsOptions(
        direction=direction.value,
        claims_by=claims_by.value,
        triplets=triplets,
        per_request=per_request,
    )
    run = RunOptions(out, limits, resume, max_unscored, as_json, quiet, cache.value, ledger, fsync)
    return asyncio.run(judge_claims(scan(source), spec, options, run))


def _lexical(
    source: opt.Input,
    *,
    out: opt.Out,
    form: Annotated[FormChoice, typer.Option(help="How words are weighed.")] = FormChoice.WEIGHTED,
    resume: opt.Resume = False,
    max_unscored: opt.MaxUnscored = 0.05,
    ledger: opt.Ledger = None,
    fsync: opt.Fsync = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Judge by word overlap, without a model: the baseline that each judge must beat."""
    run = RunOptions(
        out, Limits(), resume, max_unscored, as_json, quiet, ledger_url=ledger, fsync=fsync
    )
    return asyncio.run(judge_lexical(scan(source), form.value, run))


def scan(source: Path) -> InputFile:
    """Look an input through before anything is made or started; print its warnings."""
    from ..store import InputFile

    found = InputFile.scan(source)
    for warning in found.warnings:
        stderr.print("[yellow]warning[/]", end=" ")
        stderr.print(f"{source}: {warning}", markup=False)
    return found


async def judge_claims(
    source: InputFile, spec: ModelSpec, options: ClaimsOptions, run: RunOptions
) -> int:
    """Open the model and the cache, judge a file, print the summary; give the exit code."""
    from ..llm import open_model
    from ..store import ReplyCache, default_cache_path
    from ..suites import ClaimsRecipe

    check_folder(run)
    # PostgreSQL holds the cache too, so that several machines share it.
    server = run.ledger_url if is_server(run.ledger_url) else None
    with ReplyCache.open(server or default_cache_path()) as cache:
        async with open_model(spec, cache) as model:
            recipe = ClaimsRecipe(model, options)
            job = replace(
                _job(source, run), endpoint=spec.endpoint, capabilities=asdict(model.capabilities)
            )
            return await _judge(job, recipe, run)


async def judge_lexical(source: InputFile, form: LexicalForm, run: RunOptions) -> int:
    """Judge a file by word overlap, print the summary; give the exit code."""
    from ..suites import LexicalRecipe

    check_folder(run)
    return await _judge(_job(source, run), LexicalRecipe(source, form), run)


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
