"""`suite whatworked evaluate`: what a method recovers on many references."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from . import _options as opt
from ._console import print_json, reported, stdout
from ._suite_tables import titled_table
from ._suite_whatworked_tasks import NAME, References, load_references

if TYPE_CHECKING:
    from ..suites.whatworked import Evaluation


class Part(StrEnum):
    """Parts of the published study."""

    MAIN = "main"
    ADDED = "added"
    ALL = "all"


class Orders(StrEnum):
    """Orders of the factors."""

    PUBLISHED = "published"
    ALL = "all"


def register(app: typer.Typer) -> None:
    """Add this command to the suite's."""
    app.command("evaluate")(reported(_evaluate))


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
    seed: Annotated[int, typer.Option(help="Of random designs, orders and errors.", min=0)] = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Let a method measure and estimate, and give its figures."""
    from dataclasses import replace

    from ..suites.whatworked import EvaluateOptions, evaluate, select

    chosen, left_out = select(load_references(references), factors=factors, which=part.value)
    options = EvaluateOptions(
        budget,
        equivalences,
        orders.value,
        seed=seed,
        noise=noise,
    )
    found = replace(evaluate(method, chosen, options), left_out=left_out)
    if as_json:
        print_json({"schema": f"basanite.suite.{NAME}.evaluate/1"} | found.to_json())
    else:
        _print_evaluation(found)


def _print_evaluation(found: Evaluation) -> None:
    body = found.to_json()
    table = titled_table(f"{found.method}, budget {found.options.budget:g}")
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


def _mark(value: object) -> str:
    return "yes" if value is True else "no" if value is False else f"{value:.2f}"
