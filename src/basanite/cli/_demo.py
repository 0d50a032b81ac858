"""`demo`: the main job on answers that ship with the package, with what runs on a laptop."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as opt
from ._console import print_json, reported, stderr
from ._judging import RunOptions, judge_by_models, judge_lexical, scan
from ._models import EMBEDDED_CONCURRENCY, JudgeModels

if TYPE_CHECKING:
    from ..llm import ModelSpec
    from ..store import InputFile

_AT_LEAST = 6


def register(app: typer.Typer) -> None:
    """Add this file's command to the command tree."""
    app.command("demo")(reported(_demo))


def _demo(
    *,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for both runs and report.html.")
    ] = Path("out/demo"),
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Start no item with the model after so long (six always start)."),
    ] = 60.0,
    endpoint: opt.Endpoint = "embedded",
    model: opt.ModelName = None,
    gguf: opt.Gguf = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Judge thirty answers on ten findings in real single-cell data; write a report.

    The lexical judge takes all thirty, the model as many as fit the time. The embedded model has
    135 million parameters: it shows that everything works, not what a good judge would say.
    """
    from ..llm import ModelSpec
    from ..reports import summarise, write_report
    from ..store import RunFolder

    spec = ModelSpec(endpoint=endpoint, model=model, gguf=gguf, concurrency=EMBEDDED_CONCURRENCY)
    with resources.as_file(resources.files("basanite.data").joinpath("pbmc68k")) as folder:
        source = scan(folder / "answers.jsonl")
        asyncio.run(_judge_both(source, spec, out, seconds, quiet=quiet))
    runs = [out / "lexical", out / "claims"]
    with ExitStack() as stack:
        folders = [stack.enter_context(RunFolder.open(run)) for run in runs]
        summaries = [summarise(run) for run in folders]
        write_report(folders, out / "report.html")
    stderr.print(f"report: {out / 'report.html'}", style="bold", markup=False)
    if as_json:
        print_json(
            {"schema": "basanite.summaries/1", "runs": [found.to_json() for found in summaries]}
        )
    return 0


async def _judge_both(
    source: InputFile, spec: ModelSpec, out: Path, seconds: float, *, quiet: bool
) -> None:
    from ..runs import Limits
    from ..suites import ClaimsRecipe

    # A demo is run again and again: what the runs hold already is kept and gone on with.
    shared = RunOptions(out / "lexical", resume=True, max_unscored=1.0, quiet=quiet)
    await judge_lexical(source, "weighted", shared)
    limits = Limits(
        concurrency=spec.concurrency, run_seconds=max(seconds, 0.001), at_least=_AT_LEAST
    )
    timed = replace(shared, out=out / "claims", limits=limits, cache="use")
    models = JudgeModels({"check": spec}, "check")
    await judge_by_models(source, models, lambda by: ClaimsRecipe(by["check"]), timed)
