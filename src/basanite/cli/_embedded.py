"""`embedded`: the small model that runs in a child process, with no server and no GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as opt
from ._console import print_json, reported, stderr

embedded_app = typer.Typer(help="The embedded model: SmolLM2-135M-Instruct on llama.cpp.")


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command tree."""
    embedded_app.command("install")(reported(_install))
    app.add_typer(embedded_app, name="embedded")


def _install(
    *,
    target: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the weights; the user's cache where left out.", show_default=False
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Fetch the weights (98 MB) once and keep them in the user's cache."""
    from ..llm import install_model

    path = install_model(target, progress=lambda text: stderr.print(text, markup=False))
    stderr.print(f"the embedded model is at {path}", markup=False)
    if as_json:
        print_json({"schema": "basanite.embedded/1", "path": str(path)})
