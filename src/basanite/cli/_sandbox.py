"""`sandbox`: what this machine can contain; commands, kernels and profiles in sandboxes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from . import _options as opt
from . import _sandbox_kernel, _sandbox_profile, _sandbox_run
from ._console import print_json, reported, stdout

if TYPE_CHECKING:
    from ..sandboxes import BackendReport

sandbox_app = typer.Typer(
    help="Run untrusted code, contained: no network, nothing of this machine, within limits.",
    no_args_is_help=True,
)

NONE_WORKS = 3
"""Exit code: no backend works here."""


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command tree."""
    sandbox_app.command("probe")(reported(_probe))
    _sandbox_run.register(sandbox_app)
    _sandbox_kernel.register(sandbox_app)
    _sandbox_profile.register(sandbox_app)
    app.add_typer(sandbox_app, name="sandbox")


def _probe(
    *,
    backend: Annotated[
        list[str] | None,
        typer.Option(help="Only this one; may be given several times.", metavar="NAME"),
    ] = None,
    as_json: opt.AsJson = False,
) -> int:
    """Say which sandboxes can be had here, by running a trial in each, and what they hold."""
    from ..sandboxes import probe

    report = asyncio.run(probe(backend))
    works = any(one.available for one in report.backends)
    if as_json:
        print_json({"schema": "basanite.sandbox.probe/1", **report.model_dump(mode="json")})
    else:
        stdout.print(f"{report.platform}, {report.user}; groups: {report.groups}", markup=False)
        stdout.print(f"  {report.groups_found}", markup=False)
        for one in report.backends:
            stdout.print(_shown(one))
    return 0 if works else NONE_WORKS


def _shown(one: BackendReport) -> Table | str:
    if not one.available:
        lines = [f"[bold]{one.name}[/]: [yellow]not available[/]: {escape(one.why)}"]
        return "\n  ".join([*lines, *([escape(one.todo)] if one.todo else [])])
    floors = ", ".join(one.floors) or "none"
    table = Table(
        "aspect",
        "held by",
        "how",
        "not contained",
        title=f"{one.name} {one.version}; floors: {floors}",
        title_justify="left",
        title_style="bold",
    )
    for aspect, found in one.enforced.items():
        table.add_row(aspect, escape(found.by), found.strength, escape(found.residual))
    return table


__all__ = ["NONE_WORKS", "register", "sandbox_app"]
