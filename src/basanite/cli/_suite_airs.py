"""`suite airs`: AIRS-Bench's tasks, and the figures of runs on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from . import _suite_airs_evaluate, _suite_airs_score
from ._console import check_output_file, print_json, reported, stderr, stdout
from ._data import Force
from ._suite_board import PublishedAgents
from ._suite_tables import headed_table

if TYPE_CHECKING:
    from ..suites.airs import AirsTask, PublishedAgent

airs_app = typer.Typer(
    help="AIRS-Bench: valid submissions, normalized score and Elo, as published and ours.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add this suite's commands to those of all suites."""
    airs_app.command("list")(reported(_list))
    airs_app.command("show")(reported(_show))
    airs_app.command("import")(reported(_import))
    _suite_airs_score.register(airs_app)
    _suite_airs_evaluate.register(airs_app)
    app.add_typer(airs_app, name="airs")


def _list(
    *,
    agents: PublishedAgents = False,
    as_json: opt.AsJson = False,
) -> None:
    """List the twenty tasks with their direction, state of the art and worst score."""
    from ..suites.airs import airs_tasks, published_figures

    figures = published_figures()
    if as_json:
        listed: dict[str, object] = {
            "schema": "basanite.suite.airs.list/1",
            "tasks": [one.model_dump(mode="json") for one in airs_tasks().values()],
            "published": figures.model_dump(mode="json"),
        }
        print_json(listed)
    elif agents:
        table = headed_table("agent", "seeds", "VSR", "NS", "Elo")
        for one in figures.agents:
            row = (f"{one.vsr:.2f}", f"{one.ns:.3f}", f"{one.elo:.0f}")
            table.add_row(Text(one.agent), str(one.seeds), *row)
        table.add_row("SOTA", "", "", "", f"{figures.sota_elo:.0f}")
        stdout.print(table)
        stdout.print(figures.source, style="dim", markup=False)
    else:
        table = headed_table("task", "better", "SOTA", "worst")
        for task in airs_tasks().values():
            better = "low" if task.lower_is_better else "high"
            # A metric's name stands at the end of its task's; with a column of its own the longest
            # would not fit into a terminal of 80 characters.
            table.add_row(task.task, better, f"{task.s_sota:g}", f"{task.s_min:g}")
        stdout.print(table)


def _show(
    name: Annotated[str, typer.Argument(help="A task, or a published agent.", metavar="NAME")],
    *,
    as_json: opt.AsJson = False,
) -> None:
    """Show all that is known of a task or of a published agent."""
    from ..suites.airs import airs_tasks, published_figures

    agents = {one.agent: one for one in published_figures().agents}
    found: AirsTask | PublishedAgent | None = airs_tasks().get(name) or agents.get(name)
    if found is None:
        raise InputError(
            f"there is no task or published agent {name[:80]!r}",
            todo="`basanite suite airs list` has the tasks, and with --agents the agents.",
        )
    shown = found.model_dump(mode="json")
    if as_json:
        print_json({"schema": "basanite.suite.airs.show/1", **shown})
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for key, value in shown.items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        table.add_row(key, Text("-" if value is None else text))
    stdout.print(table)


def _import(
    source: Annotated[
        Path,
        typer.Argument(
            help="Records (JSONL, CSV, Parquet: agent or scaffold and model, task, seed, score, "
            "status), or a task's folder, or a folder of those.",
            metavar="SOURCE",
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File of runs to write (JSONL).", metavar="RUNS"),
    ] = None,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Make runs from records with a status, or check task folders against what is shipped."""
    from ..suites.airs import import_runs, read_task_folders, write_runs

    if source.is_dir():
        if out is not None:
            raise InputError("task folders make no runs", todo="Leave --out away.")
        folders = {one.name: list(one.differences()) for one in read_task_folders(source)}
        if as_json:
            print_json({"schema": "basanite.suite.airs.import/1", "folders": folders})
            return
        for name, differences in folders.items():
            told = "; ".join(differences) or "as shipped"
            stdout.print(f"{name}: {told}", markup=False)
        return
    if out is None:
        raise InputError("there is no file to write to", todo="Give -o RUNS.jsonl.")
    check_output_file(out, what="the runs", force=force)
    runs = import_runs(source)
    write_runs(runs, out)
    valid = sum(run.valid for run in runs)
    if as_json:
        counts = {"n_runs": len(runs), "n_valid": valid, "out": str(out)}
        print_json({"schema": "basanite.suite.airs.import/1", **counts})
    else:
        stderr.print(f"wrote {len(runs)} runs, {valid} of them valid, to {out}", markup=False)


__all__ = ["register"]
