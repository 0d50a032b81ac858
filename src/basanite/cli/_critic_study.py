"""`critic-study`: whether a critic helped, and whether its critique did."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from ._console import print_json, reported, stdout

if TYPE_CHECKING:
    from ..stats import Estimate
    from ..suites import Contrast, CriticStudy, StudyRow

_MOST_NAMES = 5
_PADDING = (0, 1, 0, 0)
"""Seven columns fit into a terminal of 80 characters with this, and not with rich's own."""
_LEGEND = (
    "p: by sign flips, after Holm's correction over all tables of a kind. detects: the smallest "
    "true difference that one test by itself would find with a power of 0.8; with the correction "
    "it takes a larger one. +/=/-: better, equal, worse."
)


StudyResults = Annotated[
    list[str],
    typer.Argument(
        help="Files of scores (JSONL, CSV, Parquet: task, arm, score), or judged runs as "
        "ARM=FOLDER. Arms: none, end, plan, again, baseline.",
        metavar="RESULTS...",
    ),
]


def register(app: typer.Typer) -> None:
    """Add this file's command to the command tree."""
    app.command("critic-study")(reported(_critic_study))


def _critic_study(
    results: StudyResults,
    *,
    by_baseline: Annotated[
        bool,
        typer.Option(
            "--group-by-baseline", help="Also compare within groups of the baseline's scores."
        ),
    ] = False,
    low: Annotated[
        float | None,
        typer.Option(help="Highest score of the low group; 2, or 0.25 for scores from 0 to 1."),
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="Highest score of the middle group; 4, or 0.75.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Tasks that differ by more count as better or worse.")
    ] = 0.0,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Compare a critic's arms task by task: none, end, plan, and a second attempt without one."""
    from ..stats import PairedTest
    from ..suites import GroupCuts, StudyOptions, critic_study

    if not by_baseline and (low is not None or high is not None):
        raise InputError("--low and --high are of groups", todo="Add --group-by-baseline.")
    options = StudyOptions(PairedTest(level=level), threshold)
    rows, notes = study_rows(results)
    cuts = None
    if by_baseline:
        cuts = GroupCuts.of_scale((row.score for row in rows if row.score is not None), low, high)
    study = critic_study(rows, options, cuts)
    study = replace(study, notes=(*study.notes, *notes))
    if as_json:
        print_json(study.to_json())
    else:
        print_study(study)


def study_rows(results: Sequence[str]) -> tuple[list[StudyRow], tuple[str, ...]]:
    """Read all files and runs, and say what the runs' judges differ in."""
    from ..store import RunFolder
    from ..suites import ARMS, BASELINE, check_runs, read_study, rows_of_run

    rows: list[StudyRow] = []
    runs: list[RunFolder] = []
    with ExitStack() as stack:
        for given in results:
            arm, equals, folder = given.partition("=")
            # A file whose name holds a `=` is still a file.
            if equals and arm in (*ARMS, BASELINE):
                runs.append(stack.enter_context(RunFolder.open(Path(folder))))
                rows += rows_of_run(runs[-1], arm)
            elif Path(given).is_dir():
                raise InputError(
                    "is a folder", where=given, todo=f"Say which arm the run is: none={given}"
                )
            else:
                if equals and arm.isidentifier() and not Path(given).exists():
                    raise InputError(
                        f"the arm {arm[:40]!r} is not known, and there is no file of this name",
                        where=given,
                        todo=f"Name one of {', '.join((*ARMS, BASELINE))}.",
                    )
                rows += read_study(given)
        return rows, check_runs(runs)


def print_study(study: CriticStudy) -> None:
    """Print arms, differences and groups."""
    stdout.print(_arms(study))
    percent = f"{100 * study.level:g} %"
    _print_contrasts("Differences on the same tasks", study.contrasts, percent)
    for agent, contrasts in study.by_agent.items():
        _print_contrasts(agent, contrasts, percent)
    if study.groups is not None:
        groups = study.groups
        ends = {
            "low": f"up to {groups.cuts.low:g}",
            "mid": f"{groups.cuts.low:g} to {groups.cuts.high:g}",
            "high": f"above {groups.cuts.high:g}",
        }
        for group, size in groups.sizes.items():
            title = f"{group}: {size} with a {groups.by} score {ends[group]}"
            inside = [one for one in groups.contrasts if one.group == group]
            _print_contrasts(title, inside, percent)
        if groups.ungrouped:
            stdout.print(f"in no group, without a {groups.by} score: {len(groups.ungrouped)}")
    stdout.print(_LEGEND, style="dim", markup=False)
    _print_missing(study)
    for note in study.notes:
        stdout.print(f"note: {note}", markup=False)


def _arms(study: CriticStudy) -> Table:
    table = Table(
        title="Arms", title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=_PADDING
    )
    for name in ("arm", "mean", f"{100 * study.level:g} % interval", "items", "tasks", "unscored"):
        table.add_column(name, justify="left" if name in ("arm", "unscored") else "right")
    for name, arm in study.arms.items():
        mean = "-" if arm.mean.value is None else f"{arm.mean.value:.3f}"
        unscored = ", ".join(f"{count} {reason}" for reason, count in arm.unscored.items())
        counts = str(arm.mean.n), str(arm.mean.n_clusters)
        table.add_row(name, mean, _interval(arm.mean), *counts, Text(unscored or "0"))
    return table


def _print_contrasts(title: str, contrasts: Sequence[Contrast], percent: str) -> None:
    # Names of agents come from files: Text keeps their square brackets what they are.
    table = Table(
        title=Text(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=_PADDING
    )
    table.add_column("arms", no_wrap=True)
    for name in ("diff.", f"{percent} interval", "p", "detects", "items", "+/=/-"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in contrasts:
        found = one.difference
        table.add_row(
            one.name,
            _signed(found.mean.value),
            "-" if found.mean.low is None else _interval(found.mean, signed=True),
            _p(one.p_holm),
            "-" if found.detectable is None else f"{found.detectable:.3f}",
            str(found.n),
            f"{one.better}/{one.equal}/{one.worse}",
        )
    stdout.print(table)
    # In the table a reason would push the last columns out of 80 characters.
    reasons: dict[str, list[str]] = {}
    for one in contrasts:
        if one.difference.mean.reason is not None:
            reasons.setdefault(one.difference.mean.reason, []).append(one.name)
    for reason, names in reasons.items():
        stdout.print(f"no interval of {', '.join(names)}: {reason}", markup=False)


def _print_missing(study: CriticStudy) -> None:
    for name, arm in study.arms.items():
        if arm.missing:
            named = [f"{one.item} ({one.reason})" for one in arm.missing[:_MOST_NAMES]]
            more = len(arm.missing) - len(named)
            text = ", ".join(named) + (f" and {more} more" if more else "")
            stdout.print(f"no score in {name}: {text}", markup=False)
    whole = len(study.items)
    for one in study.contrasts:
        if one.left_out:
            pairs = f"{one.difference.n} of {whole} items"
            stdout.print(f"{one.name} is over the {pairs} with a score in both", markup=False)


def _interval(estimate: Estimate, *, signed: bool = False) -> str:
    if estimate.low is None or estimate.high is None:
        return estimate.reason or "-"
    form = _signed if signed else "{:.3f}".format
    return f"{form(estimate.low)} to {form(estimate.high)}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
