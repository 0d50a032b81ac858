"""The page of one or several boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from ..stats import Estimate, PairedTest
from ._board import Board
from ._board_compare import compare_board
from ._board_figures import (
    MAX_AGENTS_DRAWN,
    MAX_TASKS_DRAWN,
    board_axis,
    cost_plot,
    difference_plot,
    digits,
    heat_axis,
    heat_map,
    leaderboard_plot,
    on_front,
    shade,
    trials_plot,
)
from ._board_numbers import AgentNumbers, BoardNumbers, board_numbers
from ._comparison import MAX_AGENTS
from ._comparison_section import difference_axis
from ._figure import Figure
from ._page import write_page
from ._plots import write_figures
from ._render import render
from ._section import Section
from ._strip import BEYOND, Axis, scale, strip

MAX_TASKS = 500
"""Tasks that the heat map's table shows."""
MAX_LISTED = 200
"""Trials without a value that are listed one by one; all are counted."""


def board_sections(
    board: Board,
    *,
    baseline: str | None = None,
    level: float = 0.95,
    prefix: str = "",
    label: str = "",
) -> list[Section]:
    """Give the sections of a board: about, leaderboard, groups, comparison, tasks, trials, cost.

    Args:
        board: what is shown.
        baseline: the agent that each other one is compared with; None for all pairs.
        level: confidence level of the intervals; differences are tested at `1 - level`.
        prefix: put before each section's id, where a page holds several boards.
        label: put before each section's title, then.

    Raises:
        InputError: the board has no agent of the baseline's name, or the level is not between 0
            and 1.
    """
    found = board_numbers(board, level)
    made = [
        ("about", "About", render("board_about.html.j2", found=found, trials=_counts(found))),
        ("leaderboard", "Leaderboard", _leaderboard(found)),
        ("groups", "Groups", _groups(found)),
        ("comparison", "Comparison", _comparison(found, baseline)),
        ("tasks", "Tasks", _heat(found)),
        ("trials", "Spread across runs", _trials(found)),
        ("cost", "Cost and score", _cost(found)),
        ("unscored", "Trials without a value", _unscored(board)),
    ]
    return [
        Section(prefix + id_, f"{label}: {title[0].lower()}{title[1:]}" if label else title, body)
        for id_, title, body in made
        if body
    ]


def leaderboard_section(
    estimates: Mapping[str, Estimate],
    *,
    id: str,  # noqa: A002
    title: str,
    measure: str,
    axis: tuple[float, float],
    level: float = 0.95,
    note: str = "",
) -> Section:
    """Give a leaderboard of numbers that are no means of a board, such as ratings.

    Args:
        estimates: agent to estimate, in the order they are shown.
        id: the section's id on its page.
        title: the section's title.
        measure: what the numbers are, for the axis.
        axis: the range that is drawn.
        level: confidence level of the intervals, for the words.
        note: a sentence on how they were made.
    """
    drawn = Axis(*axis)
    body = render(
        "board_estimates.html.j2",
        estimates=estimates,
        figure=leaderboard_plot(id, measure, estimates, drawn, level),
        measure=measure,
        level=level,
        places=1 if drawn.high - drawn.low >= 20 else 3,
        note=note,
    )
    return Section(id, title, body)


def board_plots(
    board: Board,
    folder: Path,
    *,
    baseline: str | None = None,
    level: float = 0.95,
    prefix: str = "",
) -> list[Path]:
    """Write the drawings of a board as SVG files, black on white.

    `leaderboard.svg`, `heat-map.svg`, `trials-AGENT.svg` where a task has several trials,
    `cost.svg` where costs are known, and `differences.svg` for two agents or more.

    Args:
        board: what is drawn.
        folder: where the files are written; it is made where it does not exist.
        baseline: the agent that each other one is compared with; None for all pairs.
        level: confidence level of the intervals.
        prefix: put before each file's name, where several boards share a folder.

    Returns:
        The files, in the order of the page.

    Raises:
        InputError: the folder is a file, there is no such baseline, or the level is not between
            0 and 1.
        OSError: a file can't be written.
    """
    figures = board_figures(board, baseline, level)
    return write_figures([replace(one, name=prefix + one.name) for one in figures], folder)


def board_figures(board: Board, baseline: str | None = None, level: float = 0.95) -> list[Figure]:
    """Draw all that the page of a board shows."""
    found = board_numbers(board, level)
    made = [_leaderboard_plot(found), heat_map(found), *_trial_plots(found)]
    cost = cost_plot(found)
    if cost is not None:
        made.append(cost)
    if _comparable(board, baseline):
        pairs = compare_board(board, baseline, PairedTest(level=level))
        if pairs.made:
            made.append(difference_plot(pairs, board.measure, level))
    return made


def write_board_report(
    boards: Sequence[Board],
    out: Path,
    *,
    title: str = "",
    baseline: str | None = None,
    level: float = 0.95,
    extra: Sequence[Section] = (),
) -> None:
    """Write one self-contained HTML page on one or several boards.

    Args:
        boards: in the order they are shown.
        out: the file to write; an existing one is replaced. It appears whole or not at all.
        title: the page's heading; left out, the first board's title.
        baseline: the agent that each other one is compared with; None for all pairs.
        level: confidence level of the boards' intervals; see `board_sections`.
        extra: sections of the caller's own, shown first.

    Raises:
        InputError: there is no board, a board has no such baseline, two sections share an id, or
            the level is not between 0 and 1.
        OSError: the file can't be written.
    """
    if not boards:
        raise InputError("a report needs at least one board", todo="Give one.")
    sections = list(extra)
    if len(boards) == 1:
        sections += board_sections(boards[0], baseline=baseline, level=level)
    else:
        for number, (board, label) in enumerate(zip(boards, _labels(boards), strict=True), 1):
            prefix = f"board-{number}-"
            sections += board_sections(
                board, baseline=baseline, level=level, prefix=prefix, label=label
            )
    write_page(sections, out, title or boards[0].title)


def _labels(boards: Sequence[Board]) -> list[str]:
    """Tell boards apart in as few words as will do."""
    measures, titles = [board.measure for board in boards], [board.title for board in boards]
    for labels in (measures, titles):
        if len(set(labels)) == len(labels):
            return labels
    return [f"{board.title}, {board.measure} ({n})" for n, board in enumerate(boards, 1)]


def _counts(found: BoardNumbers) -> dict[str, int]:
    return {
        "scored": sum(one.n_scored for one in found.agents),
        "all": sum(one.n_trials for one in found.agents),
    }


def _axis(found: BoardNumbers) -> Axis:
    means = [one.mean for one in found.agents]
    means += [mean for one in found.agents for mean in one.groups.values()]
    ends = [end for mean in means for end in (mean.value, mean.low, mean.high)]
    return board_axis(found.board, ends)


def _leaderboard_plot(found: BoardNumbers) -> Figure:
    title = f"{found.board.measure}, mean over tasks"
    estimates = {one.agent: one.mean for one in found.agents}
    return leaderboard_plot("leaderboard", title, estimates, _axis(found), found.level)


def _leaderboard(found: BoardNumbers) -> str:
    return render(
        "board_leaderboard.html.j2",
        found=found,
        board=found.board,
        figure=_leaderboard_plot(found),
        places=digits(found.board),
        most=MAX_AGENTS_DRAWN,
        beyond=BEYOND,
    )


def _groups(found: BoardNumbers) -> str:
    if not found.board.groups:
        return ""
    return render("board_groups.html.j2", found=found, places=digits(found.board))


def _comparable(board: Board, baseline: str | None) -> bool:
    return len(board.agents) > 1 and (baseline is not None or len(board.agents) <= MAX_AGENTS)


def _comparison(numbers: BoardNumbers, baseline: str | None) -> str:
    board, level = numbers.board, numbers.level
    if len(board.agents) < 2:
        return ""
    if not _comparable(board, baseline):
        return render("board_many.html.j2", n=len(board.agents), most=MAX_AGENTS)
    pairs = compare_board(board, baseline, PairedTest(level=level))
    return render(
        "board_comparison.html.j2",
        board=board,
        found=pairs,
        axis=difference_axis(pairs),
        baseline=baseline,
        level=level,
        scale=scale,
        strip=strip,
        beyond=BEYOND,
    )


def _heat(found: BoardNumbers) -> str:
    board, axis = found.board, heat_axis(found.board)
    return render(
        "board_heat.html.j2",
        found=found,
        board=board,
        tasks=board.tasks[:MAX_TASKS],
        axis=axis,
        shade=lambda value: shade(board, axis, value),
        places=digits(board),
    )


def _repeated(found: BoardNumbers) -> list[AgentNumbers]:
    return [one for one in found.agents if one.n_repeated][:MAX_AGENTS_DRAWN]


def _trial_plots(found: BoardNumbers) -> list[Figure]:
    axis = board_axis(found.board, [row.value for row in found.board.rows])
    return [trials_plot(found.board, one, f"trials-{one.agent}", axis) for one in _repeated(found)]


def _trials(found: BoardNumbers) -> str:
    return render(
        "board_trials.html.j2",
        found=found,
        figures=_trial_plots(found),
        n_tasks=len(found.board.tasks),
        most=MAX_TASKS_DRAWN,
    )


def _cost(found: BoardNumbers) -> str:
    figure = cost_plot(found)
    if figure is None:
        return ""
    known = [one for one in found.agents if one.cost is not None and one.mean.value is not None]
    return render(
        "board_cost.html.j2",
        found=found,
        board=found.board,
        figure=figure,
        front=[one.agent for one in known if on_front(found.board, one, known)],
        places=digits(found.board),
    )


def _unscored(board: Board) -> str:
    rows = [row for row in board.rows if row.value is None]
    if not rows:
        return ""
    return render("board_unscored.html.j2", rows=rows[:MAX_LISTED], n=len(rows))
