"""`suite whatworked`: how well an agent, or a method, tells what worked in a workflow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from . import _options as opt
from . import _suite_whatworked_episode as episode
from . import _suite_whatworked_evaluate as evaluate
from . import _suite_whatworked_own as own
from . import _suite_whatworked_tasks as tasks
from ._console import print_json, reported, stdout
from ._data import Force
from ._suite_board import (
    Baseline,
    Level,
    Page,
    Plots,
    check_report_files,
    compare_boards,
    report_boards,
)
from ._suite_tables import titled_table
from ._suite_whatworked_tasks import NAME, References, load_tasks

if TYPE_CHECKING:
    from ..suites.whatworked import SubmissionScore

app = typer.Typer(
    help="WhatWorkedBench: what each factor of a workflow does, from few measurements.",
    no_args_is_help=True,
)


Submissions = Annotated[
    Path,
    typer.Argument(
        help="JSONL or Parquet with agent, task, trial, table, measured.", show_default=False
    ),
]


def register(suite_app: typer.Typer) -> None:
    """Add this suite's commands."""
    tasks.register(app)
    for name, command in (
        ("score", _score),
        ("compare", _compare),
        ("report", _report),
    ):
        app.command(name)(reported(command))
    evaluate.register(app)
    own.register(app)
    episode.register(app)
    suite_app.add_typer(app, name=NAME)


def _scores(path: Path, references: Path | None, replay: list[str] | None) -> list[SubmissionScore]:
    from ..suites.whatworked import estimator_named, read_submissions, score_submission

    estimators = [estimator_named(name) for name in (["gp", "ard"] if replay is None else replay)]
    found = read_submissions(path, load_tasks(references))
    return [score_submission(one, estimators) for one in found]


def _score(
    path: Submissions,
    *,
    references: References = None,
    replay: Annotated[
        list[str] | None,
        typer.Option(
            help="Estimators that complete a table from the same measurements: ridge-main, "
            "ridge-pair, gp, ard. [default: gp, ard]",
            show_default=False,
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Score tables as handed in, and what estimators make of the same measurements."""
    from ..suites.whatworked import summarise_submissions

    scores = _scores(path, references, replay)
    agents = summarise_submissions(scores)
    if as_json:
        rows = [one.to_json() for one in scores]
        print_json(
            {"schema": f"basanite.suite.{NAME}.score/1", "agents": agents, "submissions": rows}
        )
        return
    names = list(scores[0].replayed)
    table = titled_table("Effect recovery: families weigh equally")
    heads = ("agent", "delivered", "as published", *names, "exact", "strict", "tables")
    for head in heads:
        table.add_column(head, justify="left" if head == "agent" else "right")
    for agent, found in agents.items():
        replayed = found["replayed"]
        assert isinstance(replayed, dict)
        table.add_row(
            Text(agent),
            _number(found["recovery"]),
            _number(found["recovery_published"]),
            *(_number(replayed[name]) for name in names),
            str(found["exact"]),
            str(found["strict"]),
            f"{found['n_delivered']}/{found['n']}",
        )
    stdout.print(table)
    stdout.print(
        "as published: a table that is missing counts as 0. Further columns: estimators on the "
        "agent's own measurements.",
        style="dim",
        markup=False,
    )


def _compare(
    path: Submissions,
    *,
    references: References = None,
    baseline: Baseline = None,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Compare agents task by task, with intervals, sign-flip tests and Holm's correction."""
    from ..suites.whatworked import submissions_board

    board = submissions_board(_scores(path, references, []))
    compare_boards(NAME, [board], baseline=baseline, level=level, as_json=as_json)


def _report(
    path: Submissions,
    *,
    references: References = None,
    out: Page = Path("report.html"),
    plots: Plots = None,
    baseline: Baseline = None,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Write one self-contained HTML page: leaderboard, comparison, tasks, trials, costs."""
    from ..suites.whatworked import submissions_board

    check_report_files(out, plots, force=force)
    board = submissions_board(_scores(path, references, []))
    report_boards(NAME, [board], out, plots=plots, baseline=baseline, level=level, as_json=as_json)


def _number(value: object) -> str:
    return "-" if value is None else f"{value:.3f}"
