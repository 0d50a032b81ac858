"""Runs, and agents within a run, against each other on what they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pydantic import JsonValue

from ..stats import PairedDifference, holm, paired_difference
from ._run import ReadRun, score_ranges
from ._scale import Range

MAX_AGENTS = 12
"""With more agents than this (66 pairs), hardly any pair would outlast the correction."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two runs (or agents), first minus second, on what both have."""

    first: str
    second: str
    score: str
    difference: PairedDifference
    n_same: int
    """Items (or tasks) that both judged, scored or not; those of the difference are scored."""
    p_holm: float | None = None
    """Adjusted for all comparisons beside this one; None where there is no p-value."""


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Two runs that can't be held against each other, and why."""

    first: str
    second: str
    why: str


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs, in the order of the runs."""

    made: tuple[Comparison, ...] = ()
    left_out: tuple[NotCompared, ...] = ()

    def to_json(self) -> list[JsonValue]:
        """Give all pairs as plain JSON values; differences are first minus second.

        A pair that was not compared has the two names and `not_compared`, the reason.
        """
        left_out: list[JsonValue] = [
            {"first": pair.first, "second": pair.second, "not_compared": pair.why}
            for pair in self.left_out
        ]
        return [*(_plain(found) for found in self.made), *left_out]


def compare_runs(runs: Sequence[ReadRun]) -> Comparisons:
    """Compare the primary scores of each pair of runs on the items that both scored.

    An item is the same where its id and the digest of all that a judge sees are equal. Runs
    whose primary scores differ in name or scale are not compared: the difference of a share and
    a rating says nothing.
    """
    found = [_pair(first, second) for first, second in combinations(runs, 2)]
    return corrected(found)


def _pair(first: ReadRun, second: ReadRun) -> Comparison | NotCompared:
    names = first.letter, second.letter
    score = first.summary.primary
    if score != second.summary.primary:
        why = f"their primary scores differ: {score} and {second.summary.primary}"
        return NotCompared(*names, why)
    both = [score_ranges(run, score) for run in (first, second)]
    scored = all(run.summary.n_scored for run in (first, second))
    if scored and not both[0] & both[1]:
        scales = " and ".join(" or ".join(sorted(map(_words, possible))) for possible in both)
        return NotCompared(*names, f"their values of {score} lie on different scales: {scales}")
    return _on_shared_items(first, second)


def _words(found: Range | None) -> str:
    return "their own" if found is None else f"{found[0]:g} to {found[1]:g}"


def _on_shared_items(first: ReadRun, second: ReadRun) -> Comparison | NotCompared:
    score = first.summary.primary
    xs: list[float] = []
    ys: list[float] = []
    tasks: list[int] = []
    same = changed = 0
    for item, here in first.tally.positions.items():
        there = second.tally.positions.get(item)
        if there is None or not first.tally.digests[here] or not second.tally.digests[there]:
            continue
        if first.tally.digests[here] != second.tally.digests[there]:
            changed += 1
            continue
        same += 1
        x, y = first.tally.score(here, score), second.tally.score(there, score)
        if x is not None and y is not None:
            xs.append(x)
            ys.append(y)
            tasks.append(first.tally.tasks.of_item[here])
    if not xs:
        why = "no item was scored by both"
        if changed:
            why += f" ({changed:,} ids are equal, but what was judged differs)"
        return NotCompared(first.letter, second.letter, why)
    difference = paired_difference(xs, ys, tasks)
    return Comparison(first.letter, second.letter, score, difference, same)


def compare_agents(run: ReadRun) -> Comparisons | None:
    """Compare the agents of one run on the tasks that they share.

    Each agent's items of a task are averaged first; tasks are the pairs. None where there are
    fewer than two agents, or more than `MAX_AGENTS`.
    """
    numbers = run.tally
    names = [name for name in sorted(set(numbers.agents.names)) if name]
    if not 2 <= len(names) <= MAX_AGENTS:
        return None
    values: dict[str, dict[int, list[float]]] = {name: defaultdict(list) for name in names}
    seen: dict[str, set[int]] = {name: set() for name in names}
    for position in range(numbers.n_items):
        name = numbers.agents.names[numbers.agents.of_item[position]]
        if not name:
            continue
        task = numbers.tasks.of_item[position]
        seen[name].add(task)
        value = numbers.score(position, run.summary.primary)
        if value is not None:
            values[name][task].append(value)
    means = {
        name: {task: sum(found) / len(found) for task, found in of_task.items()}
        for name, of_task in values.items()
    }
    found: list[Comparison | NotCompared] = []
    for first, second in combinations(names, 2):
        tasks = [task for task in means[first] if task in means[second]]
        if not tasks:
            found.append(NotCompared(first, second, "no task was scored for both"))
            continue
        difference = paired_difference(
            [means[first][task] for task in tasks], [means[second][task] for task in tasks], tasks
        )
        same = len(seen[first] & seen[second])
        found.append(Comparison(first, second, run.summary.primary, difference, same))
    return corrected(found)


def corrected(found: Iterable[Comparison | NotCompared]) -> Comparisons:
    """Adjust the p-values of all pairs together, by Holm's procedure."""
    pairs = list(found)
    made = [pair for pair in pairs if isinstance(pair, Comparison)]
    tested = [pair for pair in made if pair.difference.p_value is not None]
    adjusted = holm([pair.difference.p_value or 0.0 for pair in tested])
    of_pair = dict(zip(map(id, tested), adjusted, strict=True))
    return Comparisons(
        made=tuple(replace(pair, p_holm=of_pair.get(id(pair))) for pair in made),
        left_out=tuple(pair for pair in pairs if isinstance(pair, NotCompared)),
    )


def _plain(found: Comparison) -> dict[str, JsonValue]:
    difference = found.difference
    mean = difference.mean
    bounds: JsonValue = None
    if mean.low is not None and mean.high is not None:
        bounds = [mean.low, mean.high]
    return {
        "first": found.first,
        "second": found.second,
        "score": found.score,
        "difference": mean.value,
        "difference_interval": bounds,
        "n": difference.n,
        "n_same": found.n_same,
        "n_tasks": difference.n_clusters,
        "share_higher": difference.share_higher,
        "share_lower": difference.share_lower,
        "share_equal": difference.share_equal,
        "p": difference.p_value,
        "p_holm": found.p_holm,
        "smallest_detectable": difference.detectable,
    }
