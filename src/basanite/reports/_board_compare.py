"""The agents of a board against each other, task by task."""

from __future__ import annotations

from itertools import combinations

from ..errors import InputError
from ..stats import PairedTest, paired_difference
from ._board import Board
from ._comparison import MAX_AGENTS, Comparison, Comparisons, NotCompared, corrected


def compare_board(
    board: Board, baseline: str | None = None, test: PairedTest | None = None
) -> Comparisons:
    """Compare each pair of agents, or each agent with a baseline, on the tasks that both have.

    The pairs are tasks: the mean over one agent's scored trials minus the mean over the other's.
    Tasks of one cluster (`BoardRow.cluster`) are taken together by interval and test.
    See `stats.paired_difference` for interval, sign-flip test and smallest detectable
    difference; p-values are adjusted over all pairs by Holm's procedure.

    Args:
        board: two agents or more.
        baseline: the agent that stands second in each pair; None for all pairs of agents.
        test: level, power, number of draws and their seed; left out, those of `PairedTest`.

    Raises:
        InputError: fewer than two agents, no agent of the baseline's name, or more than 12
            agents without a baseline: hardly any of their pairs would outlast the correction.
    """
    agents = board.agents
    if len(agents) < 2:
        raise InputError(
            f"{agents[0]!r} is the only agent", where=board.title, todo="Give another one's rows."
        )
    if baseline is not None:
        if baseline not in agents:
            raise InputError(
                f"there is no agent {baseline!r}",
                where=board.title,
                todo=f"Name one of {', '.join(agents[:MAX_AGENTS])}.",
            )
        pairs = [(agent, baseline) for agent in agents if agent != baseline]
    else:
        if len(agents) > MAX_AGENTS:
            raise InputError(
                f"{len(agents)} agents are too many for all pairs of them (at most {MAX_AGENTS})",
                where=board.title,
                todo="Name a baseline.",
            )
        pairs = list(combinations(agents, 2))
    test = test or PairedTest()
    return corrected([_pair(board, *names, test) for names in pairs])


def _pair(board: Board, first: str, second: str, test: PairedTest) -> Comparison | NotCompared:
    here, there = board.cells[first], board.cells[second]
    same = [task for task in here if task in there]
    xs: list[float] = []
    ys: list[float] = []
    clusters: list[tuple[bool, str]] = []
    for task in same:
        x, y = here[task].mean, there[task].mean
        if x is not None and y is not None:
            xs.append(x)
            ys.append(y)
            name = here[task].cluster
            clusters.append((name is None, name or task))
    if not xs:
        return NotCompared(first, second, "no task was scored for both")
    return Comparison(
        first, second, board.measure, paired_difference(xs, ys, clusters, test), len(same)
    )
