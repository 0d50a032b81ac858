"""`suite heureka critics` and `agreement`: groups of a critic study, and judges beside experts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from ._console import print_json, reported, stdout
from ._critic_study import StudyResults, print_study, study_rows
from ._suite_heureka_files import read_asked
from ._suite_heureka_score import Lowest
from ._suite_tables import number

if TYPE_CHECKING:
    from ..suites.heureka import CriticFigures, ExpertAgreement, RaterAgreement


def register(app: typer.Typer) -> None:
    """Add these commands to the suite's."""
    app.command("critics")(reported(_critics))
    app.command("agreement")(reported(_agreement))


def _critics(
    results: StudyResults,
    *,
    low: Annotated[float, typer.Option(help="Highest score of the low group.")] = 2.0,
    high: Annotated[float, typer.Option(help="Highest score of the middle group.")] = 4.0,
    threshold: Annotated[
        float, typer.Option(help="Questions that change by more count as better or worse.")
    ] = 0.5,
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions",
            help="Question file or published set: names the papers, which intervals are "
            "clustered by, and refuses other tasks.",
            metavar="FILE|SET",
            show_default=False,
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Analyse a critic study by groups, as published and with an independent baseline."""
    from ..suites import GroupCuts, StudyOptions
    from ..suites.heureka import critic_figures

    cuts = GroupCuts(low, high)
    rows, notes = study_rows(results)
    papers = {} if questions is None else read_asked(questions, None).papers
    stranger = next((row for row in rows if row.task not in papers), None) if papers else None
    if stranger is not None:
        raise InputError(
            f"there is no question {stranger.task[:80]!r} ({len(papers)} are known)",
            where=stranger.where,
            todo="Ids are PAPER/INSIGHT/QuestionN; name the file that they are from.",
        )
    options = StudyOptions(threshold=threshold, clusters=papers)
    found = critic_figures(rows, options, cuts)
    if as_json:
        print_json({**found.to_json(), "notes": [*found.notes, *notes]})
        return
    print_study(found.study)
    _print_published(found)
    for note in (*found.notes, *notes):
        stdout.print(f"note: {note}", markup=False)


def _agreement(
    file: Annotated[
        Path,
        typer.Argument(
            help="Ratings (JSONL, CSV, Parquet: item, rater, rating, perhaps task).",
            metavar="RATINGS",
        ),
    ],
    *,
    judge: Annotated[
        list[str],
        typer.Option(help="A rater that is a judge; all others are experts.", metavar="RATER"),
    ],
    lowest: Lowest = 1.0,
    as_json: opt.AsJson = False,
) -> None:
    """Hold a judge's ratings against the experts' mode and median, and experts against others."""
    from ..suites.heureka import expert_agreement, read_ratings

    found = expert_agreement(read_ratings(file, lowest), judge)
    if as_json:
        print_json(found.to_json())
    else:
        _print_agreement(found)


def _print_published(found: CriticFigures) -> None:
    table = Table(
        title="as published: groups by the arm `none` itself",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("arm")
    table.add_column("group")
    for head in ("none", "critic", "gain", "questions", "+/-"):
        table.add_column(head, justify="right")
    for one in found.published:
        gain = "-" if one.gain is None else f"{100 * one.gain:+.1f} %"
        means = number(one.none), number(one.with_critic)
        counts = str(one.n), f"{one.better}/{one.worse}"
        table.add_row(one.arm, one.group or "all", *means, gain, *counts)
    stdout.print(table)


def _print_agreement(found: ExpertAgreement) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("rater and truth", overflow="fold")
    for head in ("within 1", "diff.", "Spearman", "kappa", "95 % interval", "rounded"):
        table.add_column(head, justify="right", no_wrap=True)
    for name, ways in found.judges.items():
        for way, one in ways.items():
            table.add_row(Text(f"{name}: {way}"), *_cells(one))
    if found.experts is not None:
        table.add_row("each expert: others' median", *_cells(found.experts))
    stdout.print(table)
    for name in found.judges:
        left_out = {
            "no rating by": found.unrated[name],
            "no expert's rating beside": found.unmatched[name],
        }
        for what, items in left_out.items():
            if items:
                stdout.print(f"{what} {name}: {', '.join(items[:5])} ({len(items)})", markup=False)
    if found.tied:
        stdout.print(
            f"{len(found.tied)} answers have several modes; the one nearest to the median counts",
            markup=False,
        )


def _cells(one: RaterAgreement) -> list[str]:
    share = "-" if one.within_one is None else f"{round(one.within_one * one.n)}/{one.n}"
    difference = "-" if one.mean_difference is None else f"{one.mean_difference:+.2f}"
    spearman, kappa, rounded = (
        "-" if each.value is None else f"{each.value:.2f}"
        for each in (one.spearman, one.kappa, one.kappa_rounded)
    )
    low, high = one.kappa.low, one.kappa.high
    bounds = "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"
    return [share, difference, spearman, kappa, bounds, rounded]
