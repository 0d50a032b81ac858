"""How much normalized scores depend on the choice of the worst score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ._normalized import normalized
from ._options import AirsOptions
from ._scores import SMinRow
from ._study import Study

_TIMES = (0.1, 10.0)
"""Factors of the worst errors."""


def sensitivity(study: Study, options: AirsOptions) -> tuple[SMinRow, ...]:
    """Score the study with other worst scores: given, observed, observed without each agent.

    `given, errors * 10` and `* 0.1` move the worst scores of those metrics that have no largest
    value by a factor of ten: these are the ones that one bad run decides.
    """
    given = options.given(one.task for one in study.tasks)
    return tuple(_row(study, name, s_min) for name, s_min in _choices(study, given))


def _choices(study: Study, given: dict[str, float]) -> Iterator[tuple[str, Mapping[str, float]]]:
    yield ("given", given)
    observed = _observed(study, given, None)
    yield ("observed", observed)
    if len(study.agents) > 1:
        for number, agent in enumerate(study.agents):
            yield (f"observed without {agent}", _observed(study, given, number))
    for factor in _TIMES:
        yield (f"given, errors * {factor:g}", given | dict(_moved(study, given, factor)))


def _observed(study: Study, given: Mapping[str, float], without: int | None) -> dict[str, float]:
    """The worst valid scores; where there are none, the given ones."""
    found = dict(given)
    for runs in study.tasks:
        worst = runs.worst(without)
        if worst is not None:
            found[runs.task.task] = worst
    return found


def _moved(study: Study, given: Mapping[str, float], factor: float) -> Iterator[tuple[str, float]]:
    for runs in study.tasks:
        task = runs.task
        if task.high is None:
            yield task.task, factor * given[task.task]


def _row(study: Study, name: str, s_min: Mapping[str, float]) -> SMinRow:
    sums: dict[int, list[float]] = {}
    n_tasks = 0
    for runs in study.tasks:
        found = normalized(
            runs.scores.tolist(), runs.valid.tolist(), runs.task, s_min[runs.task.task]
        )
        if found is not None:
            n_tasks += 1
            for agent, start, size in zip(runs.agents, runs.starts, runs.sizes, strict=True):
                mine = found[int(start) : int(start) + size]
                sums.setdefault(agent, []).append(sum(mine) / size)
    scores = {
        agent: (sum(sums[number]) / len(sums[number]) if number in sums else None)
        for number, agent in enumerate(study.agents)
    }
    order = sorted(scores, key=lambda agent: -(scores[agent] or 0.0))
    return SMinRow(name, scores, tuple(order), n_tasks)
