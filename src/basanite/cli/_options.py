"""Options that several commands share, each written down once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class CacheChoice(StrEnum):
    """What the reply cache does."""

    USE = "use"
    REFRESH = "refresh"
    OFF = "off"


Input = Annotated[
    Path,
    typer.Argument(
        help="JSONL, CSV or Parquet with id, question, answer, truth (contexts, task, agent, "
        "trial, human, options), or RAGChecker's JSON.",
        show_default=False,
    ),
]
Out = Annotated[
    Path, typer.Option("-o", "--out", help="Folder of the run.", metavar="RUN", show_default=False)
]
Endpoint = Annotated[
    str,
    typer.Option(
        help="URL of an OpenAI-compatible server (vLLM, llama.cpp, Ray Serve, …), or 'embedded'.",
        envvar="BASANITE_ENDPOINT",
        metavar="URL|embedded",
        show_default=False,
    ),
]
Endpoints = Annotated[
    list[str],
    typer.Option(
        help="URL of an OpenAI-compatible server (vLLM, llama.cpp, Ray Serve, …), or 'embedded'; "
        "ROLE=URL for one role of the judge.",
        envvar="BASANITE_ENDPOINT",
        metavar="URL|embedded",
        show_default=False,
    ),
]
ModelNames = Annotated[
    list[str] | None,
    typer.Option(
        help="Model name; may be left out where the endpoint has one model. ROLE=NAME for one role "
        "(extract, check); may be given several times.",
        envvar="BASANITE_MODEL",
        metavar="NAME",
        show_default=False,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        help="Model name; may be left out where the endpoint has one model.",
        envvar="BASANITE_MODEL",
        metavar="NAME",
        show_default=False,
    ),
]
Gguf = Annotated[
    Path | None,
    typer.Option(help="Weights for the embedded endpoint.", metavar="FILE", show_default=False),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=4096,
        help="Items in flight. [default: 8; 2 with the embedded model]",
        metavar="N",
        show_default=False,
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")]
Cache = Annotated[CacheChoice, typer.Option(help="Reply cache, shared by all runs.")]
MaxUnscored = Annotated[
    float,
    typer.Option(
        min=0.0, max=1.0, help="Largest share of items without a score before the exit code is 4."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON summary on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Ledger = Annotated[
    str | None,
    typer.Option(
        help="Ledger elsewhere, such as postgresql://…; a file in RUN where left out.",
        envvar="BASANITE_LEDGER",
        metavar="URL",
        show_default=False,
    ),
]
Fsync = Annotated[
    bool, typer.Option("--fsync", help="Wait for the disk at every commit: survives power loss.")
]
ItemSeconds = Annotated[float, typer.Option(min=0.1, help="Deadline of one item.", metavar="S")]
AttemptSeconds = Annotated[
    float, typer.Option(min=0.1, help="Deadline of one attempt at one request.", metavar="S")
]
RunSeconds = Annotated[
    float | None,
    typer.Option(min=0.1, help="Start no item after so long.", metavar="S", show_default=False),
]
RunTokens = Annotated[
    int | None,
    typer.Option(
        min=1, help="Start no item after so many tokens.", metavar="N", show_default=False
    ),
]
