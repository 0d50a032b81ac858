"""`suite`: the benchmarks' own numbers, a group of commands for each."""

from __future__ import annotations

import typer

from . import _suite_airs, _suite_fire, _suite_heureka, _suite_whatworked

suite_app = typer.Typer(
    help="Benchmarks: their tasks, their scores as published and ours, and comparisons.",
    no_args_is_help=True,
)


@suite_app.callback()
def _suite() -> None:
    """Benchmarks: their tasks, their scores as published and ours, and comparisons."""


def register(app: typer.Typer) -> None:
    """Add all suites' commands to the command tree."""
    _suite_airs.register(suite_app)
    _suite_whatworked.register(suite_app)
    _suite_fire.register(suite_app)
    _suite_heureka.register(suite_app)
    app.add_typer(suite_app, name="suite")
