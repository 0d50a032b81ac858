"""`suite fire`: FIRE-Bench's tasks and published figures, and the figures of trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from . import _suite_fire_import, _suite_fire_score
from ._console import print_json, reported, stdout
from ._suite_board import PublishedAgents
from ._suite_tables import headed_table

if TYPE_CHECKING:
    from ..suites.fire import FireTask, PublishedAgent

fire_app = typer.Typer(
    help="FIRE-Bench: claim precision, recall and F1 of rediscovered findings.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add this suite's commands to those of all suites."""
    fire_app.command("list")(reported(_list))
    fire_app.command("show")(reported(_show))
    _suite_fire_import.register(fire_app)
    _suite_fire_score.register(fire_app)
    app.add_typer(fire_app, name="fire")


def _list(
    *,
    agents: PublishedAgents = False,
    as_json: opt.AsJson = False,
) -> None:
    """List the tasks with their difficulty, or the published agents with their figures."""
    from ..suites.fire import fire_tasks, published_figures

    tasks = fire_tasks().tasks.values()
    figures = published_figures()
    if as_json:
        print_json(
            {
                "schema": "basanite.suite.fire.list/1",
                "tasks": [_plain(task) for task in tasks],
                "agents": {one.agent: _figures(one) for one in figures.agents},
                "source": figures.source,
            }
        )
    elif agents:
        heads = ("F1", "SD tasks", "SD runs", "best", "printed ±", "$ a task")
        table = headed_table("agent", *heads)
        for one in figures.agents:
            found = _figures(one)
            numbers = (found["f1"], found["sd_tasks"], found["sd_runs_population"])
            row = [f"{100 * float(str(number)):.2f}" for number in numbers]
            printed = f"{one.printed['f1'].plus_minus:.1f}"
            cost = f"{one.cost_usd.per_task:.2f}"
            table.add_row(Text(one.agent), *row, str(found["best_tasks"]), printed, cost)
        stdout.print(table)
        stdout.print(
            "F1 and its spreads are computed from the table of tasks, in percent; SD runs as "
            "printed there, over three runs.",
            style="dim",
            markup=False,
        )
        stdout.print(figures.source, style="dim", markup=False)
    else:
        table = headed_table("task", "D", "C", "M", "difficulty", "venue")
        for task in tasks:
            axes = ["-" if axis is None else str(axis) for axis in (task.d, task.c, task.m)]
            venue = " ".join(str(part) for part in (task.venue, task.year) if part)
            table.add_row(Text(task.task), *axes, task.difficulty or "-", Text(venue or "-"))
        stdout.print(table)


def _show(
    name: Annotated[str, typer.Argument(help="A task, or a published agent.", metavar="NAME")],
    *,
    as_json: opt.AsJson = False,
) -> None:
    """Show all that is known of a task or of a published agent."""
    from ..suites.fire import fire_tasks, published_figures

    figures = published_figures()
    agents = {one.agent: one for one in figures.agents}
    task = fire_tasks().tasks.get(name)
    if task is not None:
        scores = {one.agent: one.f1.get(name) for one in figures.agents}
        shown = {**_plain(task), "published_f1_percent": scores}
    elif name in agents:
        shown = agents[name].model_dump(mode="json")
        shown["f1_percent"] = shown.pop("f1")
        shown["computed"] = _figures(agents[name])
    else:
        raise InputError(
            f"there is no task or published agent {name[:80]!r}",
            todo="`basanite suite fire list` has the tasks, and with --agents the agents.",
        )
    if as_json:
        print_json({"schema": "basanite.suite.fire.show/1", **shown})
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for key, value in shown.items():
        for number, (left, right) in enumerate(_lines(value)):
            table.add_row("" if number else key, Text(f"{left} {right}".strip()))
    stdout.print(table)


def _lines(value: object) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(str(key), _spelt(one)) for key, one in value.items()]
    return [("", _spelt(value))]


def _spelt(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(_spelt(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_spelt(one)}" for key, one in value.items())
    return str(value)


def _plain(task: FireTask) -> dict[str, object]:
    return {**task.model_dump(mode="json", exclude={"published"}), "difficulty": task.difficulty}


def _figures(agent: PublishedAgent) -> Mapping[str, object]:
    """What the printed table of tasks gives, as shares."""
    from ..suites.fire import recomputed

    return recomputed(agent)


__all__ = ["register"]
