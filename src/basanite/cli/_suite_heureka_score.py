"""`suite heureka score`, `compare` and `report`: ratings and letters of agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from . import _options as opt
from ._choice_table import choice_table
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
from ._suite_heureka_files import DEFAULT_SET, read_all_results, read_asked
from ._suite_tables import number

if TYPE_CHECKING:
    from ..suites.heureka import HeurekaScores

NAME = "heureka"

Results = Annotated[
    list[str],
    typer.Argument(
        help="Files of rows (JSONL, CSV, Parquet: agent, task, and score or answer), or AGENT=PATH "
        "of a judged run or of answers in JSON; several of one agent are its trials.",
        metavar="RESULTS...",
    ),
]
Questions = Annotated[
    str,
    typer.Option(
        "--questions",
        help="Question file in either form, or a published set whose ids are known (oeq, "
        "oeq_lite, oeq_tu). Letters need the file.",
        metavar="FILE|SET",
    ),
]
Categories = Annotated[
    Path | None,
    typer.Option(
        help="The published file of categories (CSV) of open questions.",
        metavar="FILE",
        show_default=False,
    ),
]
Lowest = Annotated[
    float,
    typer.Option(
        help="Lowest rating that is taken; 0 for scores of HeurekaBench's own judge, which may "
        "fall below 1."
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the suite's."""
    app.command("score")(reported(_score))
    app.command("compare")(reported(_compare))
    app.command("report")(reported(_report))


def _score(
    results: Results,
    *,
    questions: Questions = DEFAULT_SET,
    categories: Categories = None,
    lowest: Lowest = 1.0,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Score agents, as published and ours: ratings of open questions, or letters."""
    from ..suites.heureka import score_results

    asked = read_asked(questions, categories)
    scores = score_results(read_all_results(results), asked, lowest=lowest, level=level)
    if as_json:
        print_json(scores.to_json())
    else:
        _print(scores)


def _compare(
    results: Results,
    *,
    questions: Questions = DEFAULT_SET,
    lowest: Lowest = 1.0,
    baseline: Baseline = None,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Compare agents question by question, the questions of one paper taken together."""
    from ..suites.heureka import heureka_boards

    boards = heureka_boards(read_all_results(results), read_asked(questions, None), lowest)
    compare_boards(NAME, boards, baseline=baseline, level=level, as_json=as_json)


def _report(
    results: Results,
    *,
    out: Page = Path("report.html"),
    plots: Plots = None,
    questions: Questions = DEFAULT_SET,
    categories: Categories = None,
    lowest: Lowest = 1.0,
    baseline: Baseline = None,
    level: Level = 0.95,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Write one self-contained HTML page: leaderboard, comparison, questions, trials, costs."""
    from ..suites.heureka import heureka_boards

    check_report_files(out, plots, force=force)
    asked = read_asked(questions, categories)
    boards = heureka_boards(read_all_results(results), asked, lowest)
    report_boards(NAME, boards, out, plots=plots, baseline=baseline, level=level, as_json=as_json)


def _print(scores: HeurekaScores) -> None:
    from ..reports import board_numbers

    for board in scores.boards:
        print_board(board_numbers(board, scores.level))
    table = Table(title="as published", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", overflow="fold")
    table.add_column("figure")
    for head in ("mean over runs", "SD runs", "runs"):
        table.add_column(head, justify="right")
    for agent, figures in scores.published.items():
        for name, one in figures.items():
            numbers = number(one.mean), number(one.sd_runs), str(one.runs)
            table.add_row(Text(agent), name, *numbers)
    stdout.print(table)
    if scores.baselines is not None:
        stdout.print(choice_table(scores.baselines, len(scores.asked.papers)))
    for agent in scores.boards[0].agents:
        board = scores.boards[0]
        low, high = scores.bounds(agent, board)
        if high - low > 1e-9:
            stdout.print(
                f"{agent}: over all {len(scores.asked.papers)} questions, {board.measure} "
                f"from {low:.3f} to {high:.3f}, whatever those without a value would have",
                markup=False,
            )
