"""`suite heureka codematcher`: which files of code were found for each insight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ..errors import InputError
from . import _options as opt
from ._console import print_json, reported, stdout
from ._data import read_json
from ._suite_board import Level
from ._suite_heureka_files import read_in
from ._suite_tables import number

if TYPE_CHECKING:
    from ..suites.heureka import CodeMatches, FilePool, MatchFigures

_MOST_NAMES = 5
_BESIDE = "code"
"""Folder in which the published layout keeps the scripts, beside the insights."""


def register(app: typer.Typer) -> None:
    """Add this command to the suite's."""
    app.command("codematcher")(reported(_codematcher))


def _codematcher(
    insights: Annotated[
        Path, typer.Argument(help="JSON: insight to its files (gt_files).", metavar="INSIGHTS")
    ],
    retrieved: Annotated[
        Path,
        typer.Argument(
            help="JSON: insight to the files that came back, best first (rt_files).",
            metavar="RETRIEVED",
        ),
    ],
    *,
    scripts: Annotated[
        Path | None,
        typer.Option(
            help="All files there are: a folder, or JSON of paths. Left out: the folder `code` "
            "beside INSIGHTS if it holds their files, else the files that insights name.",
            metavar="PATH",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        list[int] | None,
        typer.Option("-k", "--at", help="Where lists are cut; 1, 3 and 5 where left out."),
    ] = None,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Give a code matcher's recall and precision, in whole and at k, as published and ours."""
    from ..suites.heureka import code_matches, gold_files, retrieved_files

    gold = read_in(insights, gold_files)
    found = read_in(retrieved, lambda parsed: retrieved_files(parsed, gold))
    pool = _pool(scripts, insights, gold)
    options = {} if at is None else {"cuts": at}
    matches = code_matches(gold, found, pool, level=level, **options)
    if as_json:
        print_json(matches.to_json())
    else:
        _print(matches)


def _pool(
    scripts: Path | None, insights: Path, gold: Mapping[str, Sequence[str]]
) -> FilePool | None:
    from ..suites.heureka import script_pool

    if scripts is not None:
        return script_pool(scripts, None if scripts.is_dir() else read_json(scripts))
    beside = insights.parent / _BESIDE
    if not beside.is_dir():
        return None
    try:
        pool = script_pool(beside)
    except InputError:
        return None  # a folder of that name which holds something else
    named = {path for paths in gold.values() for path in paths}
    return pool if named <= pool.paths else None


def _print(matches: CodeMatches) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("over")
    for head in ("recall", f"{100 * matches.level:g} % interval", "precision", "hits", "insights"):
        table.add_column(head, justify="right")
    rows: dict[str, MatchFigures] = {"whole lists": matches.figures()}
    rows |= {f"first {k}": matches.figures(k) for k in matches.cuts}
    rows["first, as many as its files"] = matches.figures("gold")
    rows["without lists of everything"] = matches.without_everything()
    rows["as published"] = matches.published()
    for name, one in rows.items():
        hits = f"{one.hits}/{one.gold}"
        recall, precision = one.recall, one.precision
        bounds = "-"
        if recall.low is not None and recall.high is not None:
            bounds = f"{recall.low:.3f} to {recall.high:.3f}"
        means = number(recall.value), bounds, number(precision.value)
        table.add_row(name, *means, hits, str(recall.n))
    stdout.print(table)
    stdout.print(f"{len(matches.pool.paths)} files: {matches.pool.source}", markup=False)
    for insight in matches.insights:
        if insight.everything:
            stdout.print(
                f"returned everything: {insight.id} ({len(insight.retrieved)})", markup=False
            )
        _print_paths("unknown paths of", insight.id, insight.unknown)
        _print_paths("repeated paths of", insight.id, insight.repeated)
        if not insight.retrieved:
            stdout.print(f"returned nothing: {insight.id}", markup=False)
    _print_paths("no list for", "these insights", matches.not_retrieved)
    for note in matches.notes():
        stdout.print(f"note: {note}", markup=False)


def _print_paths(what: str, id_: str, paths: Sequence[str]) -> None:
    if paths:
        more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
        stdout.print(f"{what} {id_}: {', '.join(paths[:_MOST_NAMES])}{more}", markup=False)
