"""What the commands of all suites share: options, tables of a board, `compare` and `report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ._console import check_output_file, print_json, stderr, stdout
from ._data import check_plots_folder, is_report
from ._suite_tables import titled_table

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ..reports import AgentNumbers, Board, BoardNumbers, Comparisons, Section
    from ..stats import Estimate

Baseline = Annotated[
    str | None,
    typer.Option(
        help="Agent that each other one is compared with; all pairs where left out.",
        metavar="AGENT",
        show_default=False,
    ),
]
PublishedAgents = Annotated[
    bool, typer.Option("--agents", help="The published agents instead of the tasks.")
]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Page = Annotated[Path, typer.Option("-o", "--out", help="The page to write.")]
Plots = Annotated[
    Path | None,
    typer.Option("--plots", help="Folder for the plots as SVG files.", metavar="FOLDER"),
]

_MOST_NAMES = 5


def compare_boards(
    name: str,
    boards: Sequence[Board],
    *,
    baseline: str | None = None,
    level: float = 0.95,
    as_json: bool = False,
) -> None:
    """Print each board's agents and their differences, or one JSON envelope.

    Args:
        name: the suite's name, as in `basanite suite NAME`.
        boards: in the order they are shown.
        baseline: the agent that each other one is compared with; None for all pairs.
        level: confidence level of the intervals; differences are tested at `1 - level`.
        as_json: whether to print the envelope.
    """
    found = compared(boards, baseline, level)
    if as_json:
        print_json(compared_json(name, found, baseline))
    else:
        print_compared(found)


def compared(
    boards: Sequence[Board], baseline: str | None, level: float
) -> list[tuple[BoardNumbers, Comparisons]]:
    """Give each board's numbers and the differences of its agents."""
    from ..reports import board_numbers, compare_board
    from ..stats import PairedTest

    test = PairedTest(level=level)
    return [(board_numbers(one, level), compare_board(one, baseline, test)) for one in boards]


def compared_json(
    name: str, found: Sequence[tuple[BoardNumbers, Comparisons]], baseline: str | None
) -> dict[str, JsonValue]:
    """Give what `compared` found in the envelope `basanite.suite.NAME.compare/1`."""
    return {
        "schema": f"basanite.suite.{name}.compare/1",
        "baseline": baseline,
        "boards": [
            {**numbers.to_json(), "comparisons": pairs.to_json()} for numbers, pairs in found
        ],
    }


def print_compared(found: Sequence[tuple[BoardNumbers, Comparisons]]) -> None:
    """Print what `compared` found."""
    for numbers, pairs in found:
        print_board(numbers)
        print_comparisons(pairs, numbers.level, clustered=numbers.board.clustered)


def check_report_files(out: Path, plots: Path | None, *, force: bool = False) -> None:
    """Refuse a page or a folder of plots that can't be written, before any work is done.

    Raises:
        InputError: see `check_output_file`; or the folder is a file or holds drawings of others.
    """
    check_output_file(out, what="the report", replaces=is_report, force=force)
    if plots is not None:
        check_plots_folder(plots, force=force)


def report_boards(
    name: str,
    boards: Sequence[Board],
    out: Path,
    *,
    plots: Path | None = None,
    baseline: str | None = None,
    level: float = 0.95,
    as_json: bool = False,
) -> None:
    """Write the page and the plots, and with `as_json` print the numbers."""
    from ..reports import board_numbers

    write_boards(boards, out, plots=plots, baseline=baseline, level=level)
    if as_json:
        print_json(
            {
                "schema": f"basanite.suite.{name}.report/1",
                "boards": [board_numbers(board, level).to_json() for board in boards],
            }
        )


def write_boards(
    boards: Sequence[Board],
    out: Path,
    *,
    plots: Path | None = None,
    baseline: str | None = None,
    level: float = 0.95,
    title: str = "",
    extra: Sequence[Section] = (),
) -> None:
    """Write the page and the plots, and say so on stderr.

    Args:
        boards: in the order they are shown.
        out: the page.
        plots: the folder of plots; None for none.
        baseline: the agent that each other one is compared with; None for all pairs.
        level: confidence level of the boards' intervals.
        title: the page's heading; left out, the first board's title.
        extra: sections of the suite's own, shown first.
    """
    from ..reports import board_plots, write_board_report

    write_board_report(boards, out, title=title, baseline=baseline, level=level, extra=extra)
    stderr.print(f"wrote {out}", markup=False)
    if plots is not None:
        made = 0
        for number, board in enumerate(boards, 1):
            prefix = f"board-{number}-" if len(boards) > 1 else ""
            made += len(board_plots(board, plots, baseline=baseline, level=level, prefix=prefix))
        stderr.print(f"wrote {made} plots in {plots}", markup=False)


def print_board(numbers: BoardNumbers) -> None:
    """Print a board's agents, best first, and what is not in their means."""
    board = numbers.board
    table = titled_table(f"{board.title}: {board.measure}", "agent")
    for head in ("mean", f"{100 * numbers.level:g} % interval", "SD tasks", "SD runs"):
        table.add_column(head, justify="right", no_wrap=True)
    for head in ("tasks", "trials", "best"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in numbers.agents:
        spread = _number(one.sd_tasks), _number(one.sd_runs)
        trials = f"{one.n_scored}/{one.n_trials}"
        counts = str(one.mean.n), trials, str(one.best_tasks)
        mean = _number(one.mean.value), _interval(one.mean)
        table.add_row(Text(one.agent), *mean, *spread, *counts)
    stdout.print(table)
    for one in numbers.agents:
        _print_gaps(one)
    for note in board.notes:
        stdout.print(f"note: {note}", markup=False)


def _print_gaps(one: AgentNumbers) -> None:
    if one.mean.reason is not None:
        stdout.print(f"no interval of {one.agent}: {one.mean.reason}", markup=False)
    if one.unscored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in one.unscored.items())
        stdout.print(f"unscored of {one.agent}: {reasons}", markup=False)
    for what, tasks in (("no value of", one.unscored_tasks), ("not tried by", one.missing_tasks)):
        if tasks:
            more = len(tasks) - _MOST_NAMES
            named = ", ".join(tasks[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
            stdout.print(f"{what} {one.agent}: {named}", markup=False)


def print_comparisons(found: Comparisons, level: float, *, clustered: bool = False) -> None:
    """Print the differences of all pairs, first minus second.

    Args:
        found: the pairs.
        level: of the intervals.
        clustered: whether the board's tasks have clusters of their own.
    """
    table = titled_table(
        "Differences on the tasks that both have, first minus second", "first − second"
    )
    for head in ("diff.", f"{100 * level:g} % interval", "p", "detects", "tasks"):
        table.add_column(head, justify="right", no_wrap=True)
    for pair in found.made:
        difference = pair.difference
        table.add_row(
            Text(f"{pair.first} − {pair.second}"),
            _number(difference.mean.value, signed=True),
            _interval(difference.mean, signed=True),
            _p(pair.p_holm),
            _number(difference.detectable),
            str(difference.n),
        )
    stdout.print(table)
    for pair in found.made:
        if pair.difference.mean.reason is not None:
            names = f"{pair.first} − {pair.second}"
            reason = pair.difference.mean.reason
            if not clustered:
                reason = reason.replace("clusters", "tasks")
            stdout.print(f"no interval of {names}: {reason}", markup=False)
    for left_out in found.left_out:
        names = f"{left_out.first} and {left_out.second}"
        stdout.print(f"not compared: {names}: {left_out.why}", markup=False)
    stdout.print(
        "p: by sign flips, after Holm's correction over all pairs. detects: the smallest true "
        "difference that one test by itself would find with a power of 0.8.",
        style="dim",
        markup=False,
    )


def _number(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    places = 3 if abs(value) < 10 else 1
    return f"{value:{'+' if signed else ''}.{places}f}"


def _interval(estimate: Estimate, *, signed: bool = False) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    low, high = (_number(end, signed=signed) for end in (estimate.low, estimate.high))
    return f"{low} to {high}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
