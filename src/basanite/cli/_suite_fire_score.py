"""`suite fire score`, `compare`, `report` and `errors`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from ._console import print_json, reported, stdout
from ._data import Force
from ._suite_board import (
    Baseline,
    Level,
    Page,
    Plots,
    check_report_files,
    compare_boards,
    print_board,
    report_boards,
)
from ._suite_tables import number, titled_table, with_interval

if TYPE_CHECKING:
    from ..reports import Board
    from ..suites.fire import ErrorShares, FireScores

Trials = Annotated[
    Path,
    typer.Argument(
        help="JSONL, CSV or Parquet: agent, task, trial, precision, recall, f1 (cost, "
        "unscored_reason).",
        metavar="TRIALS",
        show_default=False,
    ),
]
Tasks = Annotated[
    Path | None,
    typer.Option(
        "--tasks",
        help="Tasks of your own, or dates of those known: task, published (YYYY-MM-DD), d, c, m.",
        metavar="META",
        show_default=False,
    ),
]
Percent = Annotated[bool, typer.Option("--percent", help="Scores go from 0 to 100, not to 1.")]
Cutoffs = Annotated[
    list[str] | None,
    typer.Option(
        "--cutoff",
        help="Last day of a model's training data; needs the tasks' dates. May be given several "
        "times.",
        metavar="AGENT=DATE",
        show_default=False,
    ),
]
Published = Annotated[
    list[str] | None,
    typer.Option(
        help="Compare with a published agent, or with `all` of them. May be given several times.",
        metavar="AGENT|all",
        show_default=False,
    ),
]


class Measure(StrEnum):
    """What agents are compared by."""

    F1 = "f1"
    PRECISION = "precision"
    RECALL = "recall"


def register(app: typer.Typer) -> None:
    """Add the commands that score."""
    app.command("score")(reported(_score))
    app.command("compare")(reported(_compare))
    app.command("report")(reported(_report))
    app.command("errors")(reported(_errors))


def _score(
    trials: Trials,
    *,
    tasks: Tasks = None,
    cutoff: Cutoffs = None,
    percent: Percent = False,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Score trials: per trial, per task, mean over tasks, with each spread under its name."""
    from ..suites.fire import (
        fire_tasks,
        parse_cutoffs,
        read_tasks,
        read_trials,
        score_trials,
    )

    cutoffs = parse_cutoffs(cutoff or [])
    if cutoffs and tasks is None:
        raise InputError(
            "the tasks have no dates",
            where="--cutoff",
            todo="Give the day on which each task's paper came out: --tasks META, with the "
            "columns task and published.",
        )
    known = fire_tasks() if tasks is None else read_tasks(tasks)
    rows = read_trials(trials, known, percent=percent)
    scores = score_trials(rows, known, cutoffs=cutoffs, level=level)
    if as_json:
        print_json(scores.to_json())
    else:
        _print_scores(scores)


def _compare(
    trials: Trials,
    *,
    tasks: Tasks = None,
    measure: Annotated[Measure, typer.Option(help="What agents are compared by.")] = Measure.F1,
    published: Published = None,
    baseline: Baseline = None,
    percent: Percent = False,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Compare agents task by task, also with the published ones."""
    if published and measure is not Measure.F1:
        raise InputError(
            f"no {measure.value} of single tasks was published",
            where="--published",
            todo="Compare with published agents by --measure f1.",
        )
    boards = _boards(trials, tasks, published, percent=percent)
    if measure.value not in boards:
        raise InputError(f"no trial has a {measure.value}", where=str(trials), todo="Give it.")
    board = boards[measure.value]
    compare_boards("fire", [board], baseline=baseline, level=level, as_json=as_json)


def _report(
    trials: Trials,
    *,
    out: Page = Path("report.html"),
    tasks: Tasks = None,
    published: Published = None,
    plots: Plots = None,
    baseline: Baseline = None,
    percent: Percent = False,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Write one self-contained HTML page on F1, and on precision and recall where given."""
    check_report_files(out, plots, force=force)
    boards = list(_boards(trials, tasks, published, percent=percent).values())
    if baseline is not None and any(baseline not in board.agents for board in boards):
        # A published agent has only F1: the other boards can't be held against it.
        boards = boards[:1]
    report_boards("fire", boards, out, plots=plots, baseline=baseline, level=level, as_json=as_json)


def _errors(
    errors: Annotated[
        Path,
        typer.Argument(
            help="JSONL, CSV or Parquet: agent, task, trial, kind (false_negative, "
            "false_positive), error_type.",
            metavar="ERRORS",
        ),
    ],
    *,
    tasks: Tasks = None,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Count the types of wrong claims and missed findings, beside the published shares."""
    from ..suites.fire import (
        error_shares,
        errors_envelope,
        fire_tasks,
        published_figures,
        read_errors,
        read_tasks,
    )

    known = fire_tasks() if tasks is None else read_tasks(tasks)
    found = error_shares(read_errors(errors, known), level)
    figures = published_figures().agents
    if as_json:
        print_json(
            {
                **errors_envelope(found, level),
                "published_percent": {
                    one.agent: {
                        "false_negative": one.false_negatives,
                        "false_positive": one.false_positives,
                    }
                    for one in figures
                },
            }
        )
        return
    for agent, kinds in found.items():
        for kind, shares in kinds.items():
            _print_shares(agent, kind, shares, level)


def _boards(
    trials: Path, tasks: Path | None, published: list[str] | None, *, percent: bool
) -> dict[str, Board]:
    """Give the boards by measure, F1 first."""
    from ..suites.fire import (
        fire_boards,
        fire_tasks,
        published_figures,
        read_tasks,
        read_trials,
        score_trials,
    )

    known = fire_tasks() if tasks is None else read_tasks(tasks)
    rows = read_trials(trials, known, percent=percent)
    names = published or []
    if "all" in names:
        names = [one.agent for one in published_figures().agents]
    notes = score_trials(rows, known).notes
    return fire_boards(rows, known, published=names, notes=notes)


def _print_scores(scores: FireScores) -> None:
    from ..reports import board_numbers

    print_board(board_numbers(scores.boards["f1"], scores.level))
    table = titled_table(
        "Precision and recall; F1 with trials without a score as 0, as published", "agent"
    )
    for head in ("precision", "recall", "F1 as published"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in scores.agents.values():
        published = number(one.f1_published.value)
        table.add_row(
            Text(one.agent), with_interval(one.precision), with_interval(one.recall), published
        )
    stdout.print(table)
    _print_difficulty(scores)
    _print_costs(scores)
    _print_contamination(scores)


def _print_difficulty(scores: FireScores) -> None:
    groups = scores.boards["f1"].groups
    order = [name for name in ("easy", "medium", "hard") if name in groups]
    if not order:
        return
    of_agents = {name: one.spread["f1"].groups for name, one in scores.agents.items()}
    most = {name: max(found[name].n for found in of_agents.values()) for name in order}
    table = titled_table("F1 by difficulty (D + C + M), and tasks", "agent")
    for name in order:
        table.add_column(f"{name}, {most[name]}", justify="right", no_wrap=True)
    for agent, found in of_agents.items():
        fewer = {
            name: "" if found[name].n == most[name] else f", {found[name].n}" for name in order
        }
        table.add_row(Text(agent), *(with_interval(found[name], 2) + fewer[name] for name in order))
    stdout.print(table)


def _print_costs(scores: FireScores) -> None:
    costs = {name: one.cost for name, one in scores.agents.items() if one.cost is not None}
    if not costs:
        return
    table = titled_table("Cost in US dollars", "agent")
    for head in ("total", "a trial", "a point of F1", "trials", "tasks"):
        table.add_column(head, justify="right")
    for name, cost in costs.items():
        known = str(cost.n_trials), str(cost.n_tasks)
        amounts = f"{cost.total:.2f}", f"{cost.per_trial:.3f}", with_interval(cost.per_point, 4)
        table.add_row(Text(name), *amounts, *known)
    stdout.print(table)


def _print_contamination(scores: FireScores) -> None:
    for agent, found in scores.contamination.items():
        title = f"{agent}: F1 on papers up to {found.cutoff} and after"
        table = titled_table(title, "difficulty")
        for head in ("before", "tasks", "after", "tasks", "before − after"):
            table.add_column(head, justify="right")
        for name, one in found.strata.items():
            sides = number(one.before.value), str(one.before.n)
            other = number(one.after.value), str(one.after.n)
            table.add_row(name, *sides, *other, with_interval(one.difference))
        table.add_row("within all", "", "", "", "", with_interval(found.adjusted))
        stdout.print(table)
        if found.left_out:
            stdout.print(f"on one side only: {', '.join(found.left_out)}", markup=False)
        if found.adjusted.reason is not None:
            stdout.print(f"no interval within all: {found.adjusted.reason}", markup=False)


def _print_shares(agent: str, kind: str, shares: ErrorShares, level: float) -> None:
    from ..suites.fire import ERROR_TYPES

    title = f"{agent}: {shares.n} {kind.replace('_', ' ')} errors, {100 * level:g} % intervals"
    table = titled_table(title, "type")
    for head in ("stage", "errors", "share"):
        table.add_column(head, justify="right")
    for name, share in shares.shares.items():
        counts = ERROR_TYPES[kind][name], str(shares.counts[name])
        table.add_row(name, *counts, with_interval(share))
    stdout.print(table)
    if shares.unreadable:
        stdout.print(f"{shares.unreadable} more have no type, and are in no share", markup=False)


__all__ = ["register"]
