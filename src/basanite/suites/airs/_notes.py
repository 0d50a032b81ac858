"""What a reader should know before believing the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ._normalized import published_gap
from ._options import AirsOptions
from ._published_scores import Published
from ._scores import AgentScores
from ._study import Study, TaskRuns
from ._tasks import airs_tasks

_SCARCE = 3
"""Most names in one note."""


def notes_of(
    study: Study, options: AirsOptions, published: Published, agents: Mapping[str, AgentScores]
) -> Iterator[str]:
    """Give the notes, the gravest first."""
    yield from _subset(study)
    yield from _seeds(study, agents)
    if published.separated:
        with_prior = (
            f"elo has a prior of {options.prior:g} drawn games between each two players"
            if options.prior
            else "there is no elo"
        )
        yield (
            "Players separate: some never lost to some others, so that no finite ratings fit "
            f"best. elo_published is null; {with_prior}."
        )
    yield from _scales(study, published)
    yield from _perfect(study)
    unused = sum(not run.valid and run.score is not None for one in study.tasks for run in one.runs)
    if unused:
        yield f"{unused} runs are not valid and have a score, which is not used."
    changed = [one.task.task for one in study.tasks if one.task.evaluator_changed]
    if changed:
        yield (
            "Evaluators changed after the published leaderboard, so that figures on these tasks "
            f"don't compare with it: {', '.join(changed)}."
        )


def _subset(study: Study) -> Iterator[str]:
    missing = [name for name in airs_tasks() if name not in study.names]
    if missing:
        yield (
            f"A subset: {len(study.tasks)} of {len(airs_tasks())} tasks have runs; "
            f"none: {', '.join(missing)}."
        )


def _seeds(study: Study, agents: Mapping[str, AgentScores]) -> Iterator[str]:
    for number, agent in enumerate(study.agents):
        lacking = [one.task.task for one in study.tasks if number not in one.agents]
        if lacking:
            yield (
                f"{agent} has no runs on {', '.join(lacking)}: its means are over "
                f"{len(study.tasks) - len(lacking)} tasks, and don't compare with the others'."
            )
    spans = {agent: one.seeds for agent, one in agents.items()}
    if len({end for span in spans.values() for end in span}) > 1:
        told = ", ".join(
            f"{agent} {low}" if low == high else f"{agent} {low} to {high}"
            for agent, (low, high) in spans.items()
        )
        yield (
            f"Seeds differ: {told}. Games are weighted by seeds times seeds; "
            "elo_equal_weights is without that."
        )
    for agent, one in agents.items():
        if one.n_dropped_seeds:
            yield f"ns_published leaves {one.n_dropped_seeds} incomplete seeds of {agent} out."


def _scales(study: Study, published: Published) -> Iterator[str]:
    none, beyond = [], []
    for runs in study.tasks:
        worst = published.s_min.get(runs.task.task)
        if worst is None:
            none.append(runs.task.task)
        elif published_gap(worst, runs.task.s_opt) <= published_gap(
            runs.task.s_sota, runs.task.s_opt
        ):
            beyond.append(runs.task.task)
    if none:
        yield f"No valid run on {', '.join(none)}."
    if beyond:
        yield (
            f"On {', '.join(beyond)} the worst valid score is no worse than the state of the art: "
            "ns_published means nothing there."
        )


def _perfect(study: Study) -> Iterator[str]:
    found = [(one.task.task, _near(one)) for one in study.tasks]
    told = [f"{count} on {name}" for name, count in found if count]
    if told:
        more = len(told) - _SCARCE
        yield (
            f"Valid runs within the task's resolution of a perfect score: "
            f"{', '.join(told[:_SCARCE])}"
            + (f" and {more} more tasks" if more > 0 else "")
            + ". They count as being at that resolution."
        )


def _near(runs: TaskRuns) -> int:
    import numpy as np

    return int((np.abs(runs.scores - runs.task.s_opt) < runs.task.resolution).sum())
