"""Runs in, figures out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...stats import Bootstrap, Estimate, Resample, percentile_estimate
from ._games import count_games
from ._normalized import normalized
from ._notes import notes_of
from ._options import AirsOptions
from ._published_scores import Published, score_as_published
from ._resampling import Replicates, ratings, resampled
from ._runs import AirsRun, check_runs
from ._scores import AgentScores, AirsScores, TaskScores
from ._sensitivity import sensitivity
from ._study import Study, TaskRuns, lay_out
from ._tasks import airs_tasks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FOR_WIDTHS = 300
"""Most replicates of the resampling that is only shown beside the chosen one."""
_MIN_TASKS = 5
"""Fewer drawn tasks say nothing."""


def score_runs(runs: Iterable[AirsRun], options: AirsOptions | None = None) -> AirsScores:
    """Score runs: share of valid ones, normalized score and Elo rating, ours and as published.

    Each run is transformed, then runs are averaged by agent and task, and tasks by agent; a run
    that is not valid is 0. Ratings are a Bradley-Terry fit to all games between runs of two
    agents on a task, with the state of the art as one more player, centred on 1000. What ours
    does differently: the least distance to the optimum is the task's resolution, the worst score
    is given and does not depend on who else is in the study, intervals draw whole tasks (or
    seeds) instead of single games, and a prior of drawn games rates players who separate.

    Intervals that draw seeds take `s_min` as it is; those that draw tasks need five of them.

    Raises:
        InputError: no runs, or two of the same agent, task and seed.
    """
    options = options or AirsOptions()
    checked = check_runs(runs)
    study = lay_out(checked)
    published = score_as_published(study, options)
    s_min = _s_min(study, options, published)
    run_ns = [_normal(one, s_min) for one in study.tasks]
    chosen = resampled(study, run_ns, options.plan, options.resample, options.prior)
    points = count_games(study).points
    total = points.sum(axis=0)
    point = ratings(total[None], options.prior)[0]
    estimator = _Estimator(study, run_ns, chosen, point, options)
    equal = ratings(_equal_weights(points)[None], options.prior)[0]
    agents = {
        agent: estimator.agent(number, published, float(equal[number]))
        for number, agent in enumerate(study.agents)
    }
    widths = {"battles": _half_width([one.elo_published for one in agents.values()])}
    for how in (Resample.MEMBERS, Resample.CLUSTERS, Resample.BOTH):
        widths[how.value] = estimator.half_width(how)
    return AirsScores(
        agents=agents,
        sota_elo=estimator.elo(len(study.agents)),
        sota_elo_published=published.elo[-1],
        tasks=study.names,
        left_out=tuple(name for name in airs_tasks() if name not in study.names),
        no_scale=tuple(
            one.task.task for one, ns in zip(study.tasks, run_ns, strict=True) if ns is None
        ),
        s_min=s_min,
        s_min_observed=published.s_min,
        sensitivity=sensitivity(study, options),
        elo_half_widths=widths,
        n_games=published.n_games,
        prior_used=bool(options.prior) and published.separated,
        separated_draws=chosen.separated,
        options=options,
        notes=tuple(notes_of(study, options, published, agents)),
        runs=tuple(run for one in study.tasks for run in one.runs),
        run_ns=tuple(
            ns
            for one, found in zip(study.tasks, run_ns, strict=True)
            for ns in (found or (None,) * len(one.runs))
        ),
        elo_replicates=chosen.elo,
    )


def _s_min(study: Study, options: AirsOptions, published: Published) -> dict[str, float]:
    given = options.given(one.task for one in study.tasks)
    return given | dict(published.s_min) if options.s_min == "observed" else given


def _normal(runs: TaskRuns, s_min: dict[str, float]) -> tuple[float, ...] | None:
    return normalized(runs.scores.tolist(), runs.valid.tolist(), runs.task, s_min[runs.task.task])


def _equal_weights(points: Floats) -> Floats:
    import numpy as np

    games = points + points.swapaxes(1, 2)
    shares = np.divide(points, games, out=np.zeros_like(points), where=games > 0)
    summed: Floats = shares.sum(axis=0)
    return summed


class _Estimator:
    """Puts values and replicates together."""

    def __init__(
        self,
        study: Study,
        run_ns: Sequence[tuple[float, ...] | None],
        drawn: Replicates,
        point: Floats,
        options: AirsOptions,
    ) -> None:
        self._study, self._run_ns, self._options = study, run_ns, options
        self._drawn, self._point = drawn, point

    def agent(self, number: int, published: Published, equal: float) -> AgentScores:
        tasks = dict(self._tasks(number))
        vsr = [one.vsr for one in tasks.values()]
        normal = [one.ns for one in tasks.values() if one.ns is not None]
        n_runs = [one.n_runs for one in tasks.values()]
        return AgentScores(
            agent=self._study.agents[number],
            vsr=self._mean(vsr, self._drawn.vsr[:, number], sum(n_runs)),
            ns=self._mean(normal, self._drawn.ns[:, number], sum(n_runs)),
            elo=self.elo(number),
            ns_published=published.ns[number],
            elo_published=published.elo[number],
            elo_published_median=published.elo_median[number],
            elo_equal_weights=None if math.isnan(equal) else equal,
            tasks=tasks,
            seeds=(min(n_runs), max(n_runs)),
            n_runs=sum(n_runs),
            n_valid=round(sum(one.vsr * one.n_runs for one in tasks.values())),
            n_dropped_seeds=published.dropped[number],
        )

    def elo(self, player: int) -> Estimate:
        value = float(self._point[player])
        drawn = self._drawn.elo[:, player]
        if math.isnan(value):
            return Estimate(None, None, None, 0, len(self._study.tasks), "players separate")
        return self._limited(value, drawn, 0, len(self._study.tasks))

    def half_width(self, how: Resample) -> float | None:
        """Give the mean half width of the agents' Elo intervals when this is drawn."""
        plan, level = self._options.plan, self._options.plan.level
        drawn = self._drawn.elo
        if how is not self._options.resample:
            few = Bootstrap(min(plan.replicates, _FOR_WIDTHS), plan.seed, level)
            drawn = resampled(self._study, self._run_ns, few, how, self._options.prior).elo
        if how is not Resample.MEMBERS and len(self._study.tasks) < _MIN_TASKS:
            return None
        counts = (0, len(self._study.tasks))
        values = self._point[:-1]
        return _half_width(
            [
                percentile_estimate(float(value), drawn[:, player], level, counts)
                for player, value in enumerate(values)
                if not math.isnan(value)
            ]
        )

    def _tasks(self, number: int) -> Iterable[tuple[str, TaskScores]]:
        import numpy as np

        for runs, normal in zip(self._study.tasks, self._run_ns, strict=True):
            if number in runs.agents:
                place = runs.agents.index(number)
                start = int(runs.starts[place])
                mine = slice(start, start + runs.sizes[place])
                gaps = np.abs(runs.scores[mine] - runs.task.s_opt)
                yield (
                    runs.task.task,
                    TaskScores(
                        vsr=float(runs.valid[mine].mean()),
                        ns=None if normal is None else float(np.mean(normal[mine])),
                        n_runs=runs.sizes[place],
                        n_at_resolution=int((gaps < runs.task.resolution).sum()),
                    ),
                )

    def _mean(self, of_tasks: Sequence[float], drawn: Floats, n: int) -> Estimate:
        if not of_tasks:
            return Estimate(None, None, None, n, 0, "no task has a scale")
        return self._limited(sum(of_tasks) / len(of_tasks), drawn, n, len(of_tasks))

    def _limited(self, value: float, drawn: Floats, n: int, n_tasks: int) -> Estimate:
        if self._options.resample is not Resample.MEMBERS and n_tasks < _MIN_TASKS:
            few = f"fewer than {_MIN_TASKS} tasks"
            return Estimate(value, None, None, n, n_tasks, few)
        return percentile_estimate(value, drawn, self._options.plan.level, (n, n_tasks))


def _half_width(estimates: Sequence[Estimate]) -> float | None:
    widths = [
        (one.high - one.low) / 2
        for one in estimates
        if one.low is not None and one.high is not None
    ]
    return sum(widths) / len(widths) if widths else None
