"""What the commands of all suites share: `compare` and `report` of a board, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from . import _options as opt
from ._console import check_output_file, print_json, reported, stderr, stdout
from ._data import Force, check_plots_folder, is_report

if TYPE_CHECKING:
    from ..reports import AgentNumbers, Board, BoardNumbers, Comparisons
    from ..stats import Estimate

Load = Callable[[Path], "Board | Sequence[Board]"]
"""Reads a file of results into one board, or into several, such as one a measure."""

Baseline = Annotated[
    str | None,
    typer.Option(
        help="Agent that each other one is compared with; all pairs where left out.",
        metavar="AGENT",
        show_default=False,
    ),
]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Page = Annotated[Path, typer.Option("-o", "--out", help="The page to write.")]
Plots = Annotated[
    Path | None,
    typer.Option("--plots", help="Folder for the plots as SVG files.", metavar="FOLDER"),
]

_PADDING = (0, 1, 0, 0)
_MOST_NAMES = 5


def board_commands(
    app: typer.Typer, name: str, load: Load, *, file_help: str = "The file of results."
) -> None:
    """Add `compare` and `report` to a suite's commands.

    A suite whose boards need options of its own writes the two commands itself, over
    `compare_boards` and `report_boards`.

    Args:
        app: the suite's own commands.
        name: the suite's name, as in `basanite suite NAME`.
        load: reads the file that the user gives; it raises `InputError` for what is wrong in it.
        file_help: says what the file holds.
    """

    def compare(
        file: Path, *, baseline: Baseline = None, level: Level = 0.95, as_json: opt.AsJson = False
    ) -> None:
        """Compare agents task by task, with intervals, sign-flip tests and Holm's correction."""
        compare_boards(name, boards_of(load(file)), baseline=baseline, level=level, as_json=as_json)

    def report(
        file: Path,
        *,
        out: Page = Path("report.html"),
        plots: Plots = None,
        baseline: Baseline = None,
        as_json: opt.AsJson = False,
        force: Force = False,
    ) -> None:
        """Write one self-contained HTML page: leaderboard, comparison, tasks, trials, costs."""
        check_report_files(out, plots, force=force)
        boards = boards_of(load(file))
        report_boards(name, boards, out, plots=plots, baseline=baseline, as_json=as_json)

    argument = Annotated[Path, typer.Argument(help=file_help, metavar="FILE", show_default=False)]
    for command in (compare, report):
        # The text of `--help` is the suite's own.
        command.__annotations__["file"] = argument
        app.command(command.__name__)(reported(command))


def boards_of(loaded: Board | Sequence[Board]) -> list[Board]:
    """Give what was loaded as a list."""
    from ..reports import Board

    return [loaded] if isinstance(loaded, Board) else list(loaded)


def compare_boards(
    name: str,
    boards: Sequence[Board],
    *,
    baseline: str | None = None,
    level: float = 0.95,
    as_json: bool = False,
) -> None:
    """Print each board's agents and their differences, or one JSON envelope."""
    from ..reports import board_numbers, compare_board
    from ..stats import PairedTest

    test = PairedTest(level=level)
    found = [
        (board_numbers(board, level), compare_board(board, baseline, test)) for board in boards
    ]
    if as_json:
        print_json(
            {
                "schema": f"basanite.suite.{name}.compare/1",
                "baseline": baseline,
                "boards": [
                    {**numbers.to_json(), "comparisons": pairs.to_json()}
                    for numbers, pairs in found
                ],
            }
        )
        return
    for numbers, pairs in found:
        print_board(numbers)
        print_comparisons(pairs, level, clustered=numbers.board.clustered)


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
    as_json: bool = False,
) -> None:
    """Write the page and the plots, and with `as_json` print the numbers."""
    from ..reports import board_numbers, board_plots, write_board_report

    write_board_report(boards, out, baseline=baseline)
    stderr.print(f"wrote {out}", markup=False)
    if plots is not None:
        made = 0
        for number, board in enumerate(boards, 1):
            prefix = f"board-{number}-" if len(boards) > 1 else ""
            made += len(board_plots(board, plots, baseline=baseline, prefix=prefix))
        stderr.print(f"wrote {made} plots in {plots}", markup=False)
    if as_json:
        print_json(
            {
                "schema": f"basanite.suite.{name}.report/1",
                "boards": [board_numbers(board).to_json() for board in boards],
            }
        )


def print_board(numbers: BoardNumbers) -> None:
    """Print a board's agents, best first, and what is not in their means."""
    board = numbers.board
    table = titled_table(f"{board.title}: {board.measure}")
    table.add_column("agent", overflow="fold")
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
    table = titled_table("Differences on the tasks that both have, first minus second")
    table.add_column("first − second", overflow="fold")
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


def titled_table(title: str) -> Table:
    """Give an empty table of the look that all boards have."""
    # Names come from files: Text keeps their square brackets what they are.
    return Table(
        title=Text(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=_PADDING
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
