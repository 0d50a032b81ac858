"""Boards for tests: few rows whose numbers are known by hand, and one that shows everything."""

from __future__ import annotations

import random

from basanite.reports import Board, BoardRow

AGENTS = ("Agent A (large)", "Agent B", "Agent C", "[bold]D[/] <script>alert(1)</script>")
GROUPS = ("easy", "medium", "hard")


def board_of(values: dict[str, dict[str, list[float]]], **given: object) -> Board:
    """A board from agent to task to the values of its trials."""
    rows = tuple(
        BoardRow(agent, task, str(number), value)
        for agent, tasks in values.items()
        for task, found in tasks.items()
        for number, value in enumerate(found)
    )
    return Board("Some tasks", "F1", rows, **given)  # type: ignore[arg-type]


def full_board(tasks: int = 12, seed: int = 3) -> Board:
    """Four agents, three trials, groups, costs, a task that was not tried and one unscored."""
    draw = random.Random(seed)
    rows: list[BoardRow] = []
    for place, agent in enumerate(AGENTS):
        for task in range(tasks):
            group = GROUPS[task % 3]
            middle = 0.75 - 0.1 * place - 0.2 * (task % 3)
            name = f"task-{task}"
            if (place, task) == (1, 7):
                continue
            for trial in range(3):
                cost = round(0.2 * (place + 1) * draw.uniform(0.7, 1.3), 4)
                value = min(1.0, max(0.0, middle + draw.gauss(0, 0.1)))
                none = (place, task) == (3, 5) or (place, task, trial) == (0, 2, 1)
                reason = ("no_claims" if place else "timeout") if none else None
                rows.append(
                    BoardRow(agent, name, str(trial), None if none else value, reason, cost, group)
                )
    return Board("Every part", "F1", tuple(rows), (0, 1), notes=("A note on these numbers.",))
