"""The drawings of a board: leaderboard, heat map, trials, and cost against score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..stats import Estimate
from ._board import Board, BoardCell
from ._board_numbers import AgentNumbers, BoardNumbers
from ._comparison import Comparisons
from ._comparison_section import difference_axis
from ._figure import WIDTH, Figure, Mark, dot, fitted, fitted_ends, line, numbers, rect, words
from ._forest import ForestRow, forest, said_of
from ._plane import Plane
from ._strip import Axis, axis_for
from ._text import percent

MAX_AGENTS_DRAWN = 40
"""Agents that a plot shows; with more it would be taller than a page."""
MAX_TASKS_DRAWN = 60
"""Tasks that one plot shows."""
SHADES = 10
"""Steps of a heat map, from the ground's colour on."""

_LABELS, _ROW, _LINE = 128.0, 18.0, 15.0


def board_axis(board: Board, values: Iterable[float | None] = ()) -> Axis:
    """Give the board's own scale, or one that holds the values where an end is not known."""
    low, high = board.scale
    if low is not None and high is not None:
        return Axis(float(low), float(high))
    known = [value for value in values if value is not None]
    found = axis_for(known) if known else Axis()
    start = found.low if low is None else float(low)
    end = found.high if high is None else float(high)
    return Axis(start, end if end > start else start + 1.0)


def digits(board: Board) -> int:
    """Decimals that tell two values of the board apart: 3 for shares, 1 for percentages."""
    low, high = board.scale
    known = [row.value for row in board.rows if row.value is not None] or [0.0]
    ends = min(known) if low is None else low, max(known) if high is None else high
    return 1 if ends[1] - ends[0] >= 20 else 3


def leaderboard_plot(
    name: str, title: str, estimates: Mapping[str, Estimate], axis: Axis, level: float
) -> Figure:
    """Draw agents below each other, in the order given, each with its interval."""
    rows = [ForestRow(agent, found) for agent, found in estimates.items()]
    return forest(name, title, rows[:MAX_AGENTS_DRAWN], axis, level)


def difference_plot(found: Comparisons, measure: str, level: float) -> Figure:
    """Draw the difference of each pair, first minus second."""
    rows: list[ForestRow] = []
    for pair in found.made:
        # Two names seldom fit beside the numbers, so that they have a line of their own.
        rows.append(ForestRow(f"{pair.first} − {pair.second}"))
        rows.append(ForestRow("", pair.difference.mean))
    title = f"difference of {measure}"
    drawn = forest("differences", title, rows, difference_axis(found), level)
    said = "; ".join(
        f"{pair.first} − {pair.second}: {said_of(pair.difference.mean)}" for pair in found.made
    )
    alt = f"{title}, first minus second, with {percent(level)} intervals. {said}."
    return replace(drawn, alt=alt)


def shade(board: Board, axis: Axis, value: float) -> int:
    """Give the step of the heat map from 0 (worst) to `SHADES - 1` (best)."""
    share = axis.share(value) if board.higher_is_better else 1 - axis.share(value)
    return min(int(share * SHADES), SHADES - 1)


def heat_axis(board: Board) -> Axis:
    """Give the range of the cells' colours: the scale, or from the lowest cell to the highest."""
    low, high = board.scale
    means = [c.mean for cells in board.cells.values() for c in cells.values() if c.mean is not None]
    low = min(means, default=0.0) if low is None else low
    high = max(means, default=1.0) if high is None else high
    return Axis(float(low), float(high) if high > low else low + 1.0)


def heat_map(found: BoardNumbers) -> Figure:
    """Draw the mean of each agent on each task as a shade, with its number."""
    board, axis, places = found.board, heat_axis(found.board), max(digits(found.board) - 1, 0)
    agents = [one.agent for one in found.agents[:MAX_AGENTS_DRAWN]]
    tasks = board.tasks[:MAX_TASKS_DRAWN]
    step = 44.0
    head = 14 + 5.8 * min(max(len(agent) for agent in agents), 22)
    width = max(WIDTH, _LABELS + step * len(agents))
    marks = [
        _steep("label", _LABELS + step * (place + 0.5) + 4, head - 6, fitted_ends(agent, head))
        for place, agent in enumerate(agents)
    ]
    for row, task in enumerate(tasks):
        top = head + _ROW * row
        marks.append(words("label", 0, top + 13, fitted_ends(task, _LABELS - 6)))
        for column, agent in enumerate(agents):
            x = _LABELS + step * column
            cell = board.cells[agent].get(task)
            marks += _heat_cell(board, cell, axis, (x, top, step), places)
    bottom = head + _ROW * len(tasks)
    ends = (axis.low, axis.high) if board.higher_is_better else (axis.high, axis.low)
    said = f"{board.measure}, from {ends[0]:.4g} (light) to {ends[1]:.4g} (dark, better)"
    if len(tasks) < len(board.tasks):
        said += f"; the first {len(tasks)} of {len(board.tasks)} tasks"
    marks.append(words("small", 0, bottom + 16, said))
    return Figure(
        "heat-map", f"{board.title}. {_heat_words(found)}", bottom + 22, tuple(marks), width
    )


def _heat_cell(
    board: Board,
    cell: BoardCell | None,
    axis: Axis,
    place: tuple[float, float, float],
    places: int,
) -> list[Mark]:
    x, top, step = place
    middle = x + step / 2
    if cell is None:
        return [words("small", middle, top + 13, "–", "middle")]
    if cell.mean is None:
        return [
            rect("lack", x + 1.5, top + 1.5, step - 3, _ROW - 3),
            words("small", middle, top + 13, "none", "middle"),
        ]
    text = f"{cell.mean:.{places}f}".replace("-", "−")
    return [
        rect(f"heat-{shade(board, axis, cell.mean)}", x + 0.5, top + 0.5, step - 1, _ROW - 1),
        words("cell", middle, top + 13, text, "middle"),
    ]


def _heat_words(found: BoardNumbers) -> str:
    board = found.board
    said = [f"Mean {board.measure} of {len(board.agents)} agents on {len(board.tasks)} tasks."]
    said += [
        f"{one.agent}: best on {one.best_tasks}, unscored on {len(one.unscored_tasks)}."
        for one in found.agents
    ]
    return " ".join(said)


def _steep(role: str, x: float, y: float, text: str) -> Mark:
    turn = f"translate({x:.2f} {y:.2f}) rotate(-90)"
    return Mark("text", role, (("transform", turn), ("text-anchor", "start")), text)


def trials_plot(board: Board, one: AgentNumbers, name: str, axis: Axis) -> Figure:
    """Draw all trials of one agent: a line of dots a task, with the span and the mean."""
    left, right, top = _LABELS, WIDTH - 30, 36.0
    cells = [(task, board.cells[one.agent].get(task)) for task in board.tasks[:MAX_TASKS_DRAWN]]
    bottom = top + _LINE * len(cells)

    def x(value: float) -> float:
        return left + axis.share(value) * (right - left)

    spread = "n/a" if one.sd_runs is None else f"{one.sd_runs:.{digits(board)}f}"
    marks = [
        words("title", 0, 14, fitted(one.agent, WIDTH, 12)),
        words("soft", 0, 29, f"SD across runs {spread}, over {one.n_repeated} tasks"),
        *(line("grid", (x(tick), top), (x(tick), bottom)) for tick in axis.ticks),
    ]
    for row, (task, cell) in enumerate(cells):
        y = top + _LINE * (row + 0.5)
        marks.append(words("label", 0, y + 4, fitted_ends(task, left - 8)))
        marks += _trials(cell, y, {value: x(value) for value in cell.values} if cell else {})
        if cell is None or cell.unscored:
            said = "–" if cell is None else f"{len(cell.values)}/{cell.n_trials}"
            marks.append(words("small", WIDTH, y + 4, said, "end"))
    marks.append(line("axis", (left, bottom), (right, bottom)))
    for tick, text in zip(axis.ticks, numbers(axis.ticks), strict=True):
        marks.append(line("axis", (x(tick), bottom), (x(tick), bottom + 4)))
        marks.append(words("small", x(tick), bottom + 15, text, "middle"))
    marks.append(words("label", (left + right) / 2, bottom + 30, board.measure, "middle"))
    alt = (
        f"{board.measure} of each trial of {one.agent}, by task; "
        f"{one.n_scored} of {one.n_trials} trials scored. SD across runs {spread}."
    )
    return Figure(name, alt, bottom + 36, tuple(marks))


def _trials(cell: BoardCell | None, y: float, places: Mapping[float, float]) -> list[Mark]:
    if cell is None or cell.mean is None:
        return []
    xs = list(places.values())
    marks = [line("span", (min(xs), y), (max(xs), y))] if max(xs) > min(xs) else []
    return [*marks, *(dot("point", places[value], y, 3.2) for value in cell.values)]


def cost_plot(found: BoardNumbers) -> Figure | None:
    """Draw each agent's mean against what a trial costs; None where no cost is known.

    Filled: no other agent is as good for less, or better for as much.
    """
    board = found.board
    known = [one for one in found.agents if one.cost is not None and one.mean.value is not None]
    if not known:
        return None
    costs = [one.cost.per_trial for one in known if one.cost is not None]
    plane = Plane(
        across=Axis(0.0, _round_end(max(costs))),
        up=board_axis(board, [one.mean.value for one in known]),
        left=40.0,
    )
    title = f"mean cost of a trial ({board.cost_unit})"
    marks = plane.frame(title, board.measure)
    taken: list[tuple[float, bool]] = []
    for one in known:
        assert one.cost is not None and one.mean.value is not None
        x, y = plane.at(one.cost.per_trial, one.mean.value)
        marks.append(dot("dot" if on_front(board, one, known) else "hollow", x, y, 4.5))
        to_left = x > (plane.left + plane.right) / 2
        at = _free(y + 4, to_left, taken)
        room = (x - plane.left if to_left else plane.right - x) - 10
        name = fitted(one.agent, room)
        marks.append(
            words("label", x - 9 if to_left else x + 9, at, name, "end" if to_left else "start")
        )
    said = "; ".join(
        f"{one.agent}: {one.cost.per_trial:.3g} {board.cost_unit}, {one.mean.value:.3g}"
        for one in known
        if one.cost is not None
    )
    alt = f"Mean {board.measure} against {title}. {said}."
    return Figure("cost", alt, plane.height, tuple(marks))


def on_front(board: Board, one: AgentNumbers, others: Iterable[AgentNumbers]) -> bool:
    """Tell whether no other agent is at least as good at no higher cost, and better in one."""
    sign = 1 if board.higher_is_better else -1

    def place(agent: AgentNumbers) -> tuple[float, float]:
        assert agent.cost is not None and agent.mean.value is not None
        return sign * agent.mean.value, -agent.cost.per_trial

    mine = place(one)
    return not any(
        all(theirs >= ours for theirs, ours in zip(place(other), mine, strict=True))
        and place(other) != mine
        for other in others
    )


def _free(y: float, to_left: bool, taken: list[tuple[float, bool]]) -> float:
    """Move a label down until no other one on its side is within a line of it."""
    while any(side == to_left and abs(y - other) < 12 for other, side in taken):
        y += 2
    taken.append((y, to_left))
    return y


def _round_end(value: float) -> float:
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= value * (1 - 1e-9))
