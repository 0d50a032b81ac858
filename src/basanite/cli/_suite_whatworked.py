"""`suite whatworked`: how well an agent, or a method, tells what worked in a workflow."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from . import _suite_whatworked_episode as episode
from . import _suite_whatworked_own as own
from ._console import check_output_file, print_json, reported, stderr, stdout
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

if TYPE_CHECKING:
    from ..suites.whatworked import Evaluation, Reference, SubmissionScore

app = typer.Typer(
    help="WhatWorkedBench: what each factor of a workflow does, from few measurements.",
    no_args_is_help=True,
)
_NAME = "whatworked"


class Part(StrEnum):
    """Parts of the published study."""

    MAIN = "main"
    ADDED = "added"
    ALL = "all"


class Orders(StrEnum):
    """Orders of the factors."""

    PUBLISHED = "published"
    ALL = "all"


References = Annotated[
    Path | None,
    typer.Option(
        help="Folder of references (*.json); the 36 published ones where left out.",
        metavar="DIR",
        show_default=False,
    ),
]
Submissions = Annotated[
    Path,
    typer.Argument(
        help="JSONL or Parquet with agent, task, trial, table, measured.", show_default=False
    ),
]


def register(suite_app: typer.Typer) -> None:
    """Add this suite's commands."""
    for name, command in (
        ("list", _list),
        ("show", _show),
        ("import", _import),
        ("score", _score),
        ("compare", _compare),
        ("report", _report),
        ("evaluate", _evaluate),
    ):
        app.command(name)(reported(command))
    own.register(app)
    episode.register(app)
    suite_app.add_typer(app, name=_NAME)


def _load(folder: Path | None) -> tuple[Reference, ...]:
    from ..suites.whatworked import published_references, read_references

    return published_references() if folder is None else read_references(folder)


def _load_all(folder: Path | None) -> tuple[Reference, ...]:
    """Load what a task may be named from: also the package's own workflows."""
    from ..suites.whatworked import shipped_references

    return _load(folder) + (shipped_references() if folder is None else ())


def _list(*, references: References = None, as_json: opt.AsJson = False) -> None:
    """List the tasks: workflows whose every configuration has been run."""
    from ..suites.whatworked import origin

    found = _load(references)
    rows = [
        {
            "name": one.name,
            "source": one.source,
            "family": one.family,
            "factors": one.space.k,
            "cells": one.space.n_cells,
            "effects": int(one.truth.effects.size),
            "pairs": len(one.truth.pairs),
            "rules": [str(rule) for rule in one.rules],
        }
        for one in found
    ]
    if as_json:
        body: dict[str, object] = {"schema": f"basanite.suite.{_NAME}.list/1"}
        body |= origin() if references is None else {}
        print_json(body | {"tasks": rows})
        return
    table = titled("Tasks")
    heads = ("name", "source", "family", "factors", "cells")
    for name in heads:
        table.add_column(name, justify="right" if name in ("factors", "cells") else "left")
    for row in rows:
        table.add_row(*(Text(str(row[name])) for name in heads))
    stdout.print(table)
    if references is None:
        for name, text in origin().items():
            stdout.print(f"{name}: {text}", markup=False)


def _show(
    name: Annotated[str, typer.Argument(help="Name of a task.", show_default=False)],
    *,
    references: References = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a task's truth: effects, interactions, sign reversals. Not for the agent's eyes."""
    from ..suites.whatworked import describe_reference

    body = describe_reference(_named(_load_all(references), name))
    if as_json:
        print_json({"schema": f"basanite.suite.{_NAME}.show/1"} | body)
        return
    table = titled(f"{body['name']} ({body['family']}): effects of each factor")
    for head in ("factor", "mean", "least", "most", "helps", "harms"):
        table.add_column(head, justify="left" if head == "factor" else "right")
    for row in body["effects"]:  # type: ignore[attr-defined]
        figures = [f"{row[key]:+.4f}" for key in ("mean", "least", "most")]
        table.add_row(Text(row["factor"]), *figures, str(row["helps"]), str(row["harms"]))
    stdout.print(table)
    stdout.print(f"best: {body['best_mask']} with {body['best']:.4f}", markup=False)
    reversed_ = ", ".join(body["sign_reversals"]) or "none"  # type: ignore[arg-type]
    stdout.print(f"factors that help here and harm there: {reversed_}", markup=False)
    for rule in body["rules"]:  # type: ignore[attr-defined]
        stdout.print(f"rule: {rule}", markup=False)


def _import(
    path: Annotated[
        Path, typer.Argument(help="A reference, or a folder of them.", show_default=False)
    ],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write into.")],
    force: Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Check references of the published layout or ours, and write them in ours."""
    import json

    from ..suites.whatworked import read_references

    found = read_references(path)
    out.mkdir(parents=True, exist_ok=True)
    files = {one.name: out / f"{_file_name(one.name)}.json" for one in found}
    for file in files.values():
        check_output_file(file, what="the reference", force=force)
    for one in found:
        files[one.name].write_text(json.dumps(one.to_json(), indent=1) + "\n", encoding="utf-8")
    stderr.print(f"wrote {len(found)} references into {out}", markup=False)
    if as_json:
        hashes = {one.name: one.sha256 for one in found}
        print_json({"schema": f"basanite.suite.{_NAME}.import/1", "sha256": hashes})


def _scores(path: Path, references: Path | None, replay: list[str] | None) -> list[SubmissionScore]:
    from ..suites.whatworked import estimator_named, read_submissions, score_submission

    estimators = [estimator_named(name) for name in (["gp", "ard"] if replay is None else replay)]
    tasks = _load_all(references)
    return [score_submission(one, estimators) for one in read_submissions(path, tasks)]


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
            {"schema": f"basanite.suite.{_NAME}.score/1", "agents": agents, "submissions": rows}
        )
        return
    names = list(scores[0].replayed)
    table = titled("Effect recovery: families weigh equally")
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
    compare_boards(_NAME, [board], baseline=baseline, level=level, as_json=as_json)


def _report(
    path: Submissions,
    *,
    references: References = None,
    out: Page = Path("report.html"),
    plots: Plots = None,
    baseline: Baseline = None,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Write one self-contained HTML page: leaderboard, comparison, tasks, trials, costs."""
    from ..suites.whatworked import submissions_board

    check_report_files(out, plots, force=force)
    board = submissions_board(_scores(path, references, []))
    report_boards(_NAME, [board], out, plots=plots, baseline=baseline, as_json=as_json)


def _evaluate(
    *,
    method: Annotated[
        str,
        typer.Option(help="ridge-main, ridge-pair, gp-grid, gp-effect, ard or random."),
    ],
    budget: Annotated[float, typer.Option(help="Measurements beyond the two anchors.", min=0)] = 8,
    factors: Annotated[
        int | None, typer.Option(help="Only tasks of so many factors.", show_default=False)
    ] = None,
    references: References = None,
    equivalences: Annotated[
        bool, typer.Option("--equivalences", help="Tell which configurations run the same code.")
    ] = False,
    orders: Annotated[
        Orders, typer.Option(help="The published order of factors, or the mean over all.")
    ] = Orders.PUBLISHED,
    part: Annotated[
        Part,
        typer.Option(
            "--set", help="Without the families that were added later, only them, or all."
        ),
    ] = Part.MAIN,
    noise: Annotated[
        float | None,
        typer.Option(help="Add errors of this share of a task's range.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of random designs, orders and errors.")] = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Let a method measure and estimate, and give its figures."""
    from dataclasses import replace

    from ..suites.whatworked import EvaluateOptions, evaluate, select

    chosen, left_out = select(_load(references), factors=factors, which=part.value)
    options = EvaluateOptions(
        budget,
        equivalences,
        orders.value,
        seed=seed,
        noise=noise,
    )
    found = replace(evaluate(method, chosen, options), left_out=left_out)
    if as_json:
        print_json({"schema": f"basanite.suite.{_NAME}.evaluate/1"} | found.to_json())
    else:
        _print_evaluation(found)


def _print_evaluation(found: Evaluation) -> None:
    body = found.to_json()
    table = titled(f"{found.method}, budget {found.options.budget:g}")
    for head in ("source", "family", "recovery", "exact", "strict"):
        table.add_column(head, justify="left" if head in ("source", "family") else "right")
    per_source = body["per_source"]
    assert isinstance(per_source, dict)
    for name, row in per_source.items():
        marks = [_mark(row["exact"]), _mark(row["strict"])]
        table.add_row(Text(name), Text(row["family"]), f"{row['recovery']:.3f}", *marks)
    stdout.print(table)
    stdout.print(
        f"recovery {body['recovery']:.4f} (families weigh equally), exact {body['exact']:g}, "
        f"strict {body['strict']:g} of {body['n_conditions']}; strict at 2.5, 5, 10, 20, 40 %: "
        + ", ".join(f"{value:g}" for value in body["profile"]),  # type: ignore[attr-defined]
        markup=False,
    )
    interval = body["recovery_interval"]
    if isinstance(interval, list):
        low, high = interval
        text = f"95 % interval over families: {low:.3f} to {high:.3f}"
        stdout.print(text, markup=False)
    spread = body.get("spread")
    if isinstance(spread, dict):
        stdout.print(
            f"over {body['n_orders']} orders or seeds: SD {spread['recovery_sd']:.3f}, from "
            f"{spread['recovery_min']:.3f} to {spread['recovery_max']:.3f}",
            markup=False,
        )
    coverage = body.get("coverage")
    if isinstance(coverage, dict):
        stdout.print(
            f"{100 * coverage['level']:g} % intervals hold {100 * coverage['cells']:.1f} % of "
            f"cells that were not measured and {100 * coverage['effects']:.1f} % of effects",
            markup=False,
        )
    if found.left_out:
        stdout.print(f"left out: {', '.join(found.left_out)}", markup=False)


def _named(found: tuple[Reference, ...], name: str) -> Reference:
    for one in found:
        if one.name == name:
            return one
    raise InputError(f"there is no task {name[:40]!r}", todo="`list` and `workflows` name them.")


def _file_name(name: str) -> str:
    if name in (".", "..") or not all(c.isalnum() or c in "._-" for c in name):
        raise InputError(f"the name {name[:40]!r} can't be a file's", todo="Rename the reference.")
    return name


def _mark(value: object) -> str:
    return "yes" if value is True else "no" if value is False else f"{value:.2f}"


def _number(value: object) -> str:
    return "-" if value is None else f"{value:.3f}"


def titled(title: str) -> Table:
    """Give a table of this suite's look."""
    return Table(
        title=Text(title),
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
