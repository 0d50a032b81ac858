"""The command tree. Command groups live in their own files and register here."""

from __future__ import annotations

import logging
import os

import typer

from .. import __version__
from . import (
    _choice_metrics,
    _critic_study,
    _data,
    _demo,
    _doctor,
    _embedded,
    _judge,
    _sandbox,
    _suite,
)
from ._console import stdout

app = typer.Typer(
    name="basanite",
    help="Evaluate AI research agents on what they discover, with judges that you host.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_judge.register(app)
_data.register(app)
_choice_metrics.register(_data.metrics_app)
_critic_study.register(app)
_embedded.register(app)
_sandbox.register(app)
_suite.register(app)
_doctor.register(app)
_demo.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        stdout.print(f"basanite {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
    verbose: bool = typer.Option(False, "--verbose", help="Log more, to stderr."),
) -> None:
    level = logging.DEBUG if verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("basanite").setLevel(level)
    # Tracing clients in LangChain's packages must not send anything anywhere by default.
    os.environ.setdefault("LANGSMITH_TRACING", "false")
    os.environ.setdefault("LANGCHAIN_TRACING_V2", "false")
