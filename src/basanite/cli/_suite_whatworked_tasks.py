"""`suite whatworked list`, `show` and `import`: references, and where commands find them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from ._console import check_output_file, print_json, reported, stderr, stdout
from ._data import Force
from ._suite_tables import titled_table

if TYPE_CHECKING:
    from ..suites.whatworked import Reference

NAME = "whatworked"
"""The suite's name in commands and in the schemas of what they print."""

References = Annotated[
    Path | None,
    typer.Option(
        help="Folder of references (*.json); the 36 published ones where left out.",
        metavar="DIR",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the suite's."""
    for name, command in (("list", _list), ("show", _show), ("import", _import)):
        app.command(name)(reported(command))


def load_references(folder: Path | None) -> tuple[Reference, ...]:
    """Load the references of a folder, or the published ones."""
    from ..suites.whatworked import published_references, read_references

    return published_references() if folder is None else read_references(folder)


def load_tasks(folder: Path | None) -> tuple[Reference, ...]:
    """Load what a task may be named from: also the package's own workflows."""
    from ..suites.whatworked import shipped_references

    return load_references(folder) + (shipped_references() if folder is None else ())


def _list(*, references: References = None, as_json: opt.AsJson = False) -> None:
    """List the tasks: workflows whose every configuration has been run."""
    from ..suites.whatworked import origin

    found = load_references(references)
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
        body: dict[str, object] = {"schema": f"basanite.suite.{NAME}.list/1"}
        body |= origin() if references is None else {}
        print_json(body | {"tasks": rows})
        return
    table = titled_table("Tasks")
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

    body = describe_reference(_named(load_tasks(references), name))
    if as_json:
        print_json({"schema": f"basanite.suite.{NAME}.show/1"} | body)
        return
    table = titled_table(f"{body['name']} ({body['family']}): effects of each factor")
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
        print_json({"schema": f"basanite.suite.{NAME}.import/1", "sha256": hashes})


def _named(found: tuple[Reference, ...], name: str) -> Reference:
    for one in found:
        if one.name == name:
            return one
    raise InputError(f"there is no task {name[:40]!r}", todo="`list` and `workflows` name them.")


def _file_name(name: str) -> str:
    if name in (".", "..") or not all(c.isalnum() or c in "._-" for c in name):
        raise InputError(f"the name {name[:40]!r} can't be a file's", todo="Rename the reference.")
    return name
