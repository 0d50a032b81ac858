"""`suite whatworked enumerate` and `workflows`: workflows of one's own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from ._console import check_output_file, print_json, reported, stderr, stdout
from ._data import Force, check_plots_folder
from ._suite_board import Plots
from ._suite_tables import titled_table
from ._suite_whatworked_tasks import NAME

if TYPE_CHECKING:
    from ..suites.whatworked import CellFailure, CellRun, Enumeration, Workflow


def register(app: typer.Typer) -> None:
    """Add these commands to the suite's."""
    app.command("enumerate")(reported(_enumerate))
    app.command("workflows")(reported(_workflows))


def _enumerate(
    workflow: Annotated[
        str,
        typer.Argument(
            help="A description (WORKFLOW.toml), or the name of a shipped workflow.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="Reference to write (JSON).")],
    cache: Annotated[
        Path, typer.Option(help="Folder of runs that are done; they are not made again.")
    ] = Path("whatworked-runs"),
    workers: Annotated[int, typer.Option(help="Sandboxes at a time.", min=1)] = 1,
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Also write an HTML page here.", show_default=False),
    ] = None,
    plots: Plots = None,
    backend: Annotated[
        str | None,
        typer.Option(help="bubblewrap, oci or gvisor.", metavar="NAME", show_default=False),
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Run a workflow with every configuration, each in a sandbox of its own.

    A run that is killed goes on where it was. Runs without a score are named, and no reference
    is written then.
    """
    from ..suites.whatworked import CellFailure, EnumerateOptions, enumerate_workflow

    check_output_file(out, what="the reference", force=force)
    if page is not None:
        check_output_file(page, what="the page", force=force)
    if plots is not None:
        check_plots_folder(plots, force=force)
    found = _workflow(workflow)
    total = found.space.n_cells * len(found.seeds)

    def told(one: CellRun | CellFailure) -> None:
        if not quiet:
            said = f"no score ({one.reason})" if isinstance(one, CellFailure) else f"{one.score:g}"
            stderr.print(f"{one.mask} seed {one.seed}: {said}", markup=False)

    options = EnumerateOptions(cache, workers, backend, told)
    runs = asyncio.run(enumerate_workflow(found, options))
    body = runs.to_json()  # names the runs that failed
    out.write_text(json.dumps(body, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    stderr.print(f"{runs.n_cached} of {total} runs were there; wrote {out}", markup=False)
    if page is not None or plots is not None:
        _write_page(runs, page, plots)
    if as_json:
        _print(runs)
    else:
        rules = ", ".join(map(str, runs.reference().rules)) or "none"
        stdout.print(f"rules: {rules}", markup=False)


def _write_page(runs: Enumeration, page: Path | None, plots: Path | None) -> None:
    from ..suites.whatworked import enumeration_facts, surface_report, write_workflow_report

    report = surface_report(
        runs.reference(),
        description=runs.workflow.description,
        facts=enumeration_facts(runs),
    )
    write_workflow_report(report, page, plots=plots)


def _print(runs: Enumeration) -> None:
    reference = runs.reference()
    print_json(
        {
            "schema": f"basanite.suite.{NAME}.enumerate/1",
            "name": reference.name,
            "sha256": reference.sha256,
            "n_runs": len(runs.runs),
            "n_cached": runs.n_cached,
            "n_classes": reference.space.n_cells
            if reference.classes is None
            else len(set(reference.classes.tolist())),
            "rules": [str(rule) for rule in reference.rules],
            "code_sha256": runs.workflow.code_sha256,
            "environment": dict(runs.environment),
        }
    )


def _workflows(
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Folder to copy descriptions, code and references into.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """List the workflows that come with the package; `--out` copies them, to start one's own."""
    from ..suites.whatworked import shipped_origin, shipped_references, shipped_workflow

    rows = []
    for reference in shipped_references():
        one, how = shipped_workflow(reference.name), shipped_origin(reference.name)
        rows.append(
            {
                "name": one.name,
                "family": one.family,
                "description": one.description,
                "factors": [factor.name for factor in one.factors],
                "cells": one.space.n_cells,
                "rules": [str(rule) for rule in reference.rules],
                "profile": one.profile,
                "seconds": how["seconds"],
                # A reference of other code than what is here would be no truth about it.
                "current": how["code_sha256"] == one.code_sha256,
                "sha256": reference.sha256,
            }
        )
    if out is not None:
        _copy(out, [str(row["name"]) for row in rows], force)
    if as_json:
        print_json({"schema": f"basanite.suite.{NAME}.workflows/1", "workflows": rows})
        return
    shown = titled_table("Workflows")
    for head in ("name", "family", "factors", "cells", "description"):
        shown.add_column(head, justify="right" if head == "cells" else "left")
    for row in rows:
        names = ", ".join(row["factors"])  # type: ignore[arg-type]
        cells = (row["name"], row["family"], names, row["cells"], row["description"])
        shown.add_row(*(Text(str(cell)) for cell in cells))
    stdout.print(shown)


def _copy(out: Path, names: list[str], force: bool) -> None:
    from importlib.resources import files

    (out / "references").mkdir(parents=True, exist_ok=True)
    folder = files("basanite.suites.whatworked").joinpath("workflows")
    places: dict[str, Path] = {}
    for name in names:
        places[f"{name}.toml"] = out / f"{name}.toml"
        places[f"{name}.py"] = out / f"{name}.py"
        places[f"{name}.json"] = out / "references" / f"{name}.json"
    for target in places.values():  # all of them before the first is written
        check_output_file(target, what="the workflow", force=force)
    for source, target in places.items():
        target.write_bytes(folder.joinpath(source).read_bytes())
    stderr.print(f"copied {len(names)} workflows into {out}", markup=False)


def _workflow(text: str) -> Workflow:
    from ..suites.whatworked import WORKFLOWS, read_workflow, shipped_workflow

    if text in WORKFLOWS:
        return shipped_workflow(text)
    if not Path(text).is_file():
        raise InputError(
            f"there is no workflow {text[:60]!r}, and no such file",
            todo="`basanite suite whatworked workflows` names those of the package.",
        )
    return read_workflow(text)
