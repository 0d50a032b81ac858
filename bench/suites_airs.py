"""AIRS-Bench's figures: games to ratings, and a thousand cluster-bootstrap rounds.

    python bench/suites_airs.py [--coverage]

Runs are drawn at the size of the published study: 14 agents with 10 or 20 seeds on 20 tasks, which
makes 408,000 games with the state of the art. With `--coverage` it is counted instead how often
nominal 95 % intervals of a mean hold the truth, for 20 tasks of 10 seeds each.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from collections.abc import Callable

from basanite.stats import Bootstrap, Resample, bootstrap_mean, bradley_terry
from basanite.suites.airs import (
    AirsOptions,
    AirsRun,
    airs_tasks,
    normalized,
    published_figures,
    score_runs,
)
from basanite.suites.airs._games import count_games
from basanite.suites.airs._resampling import resampled
from basanite.suites.airs._study import lay_out

GOALS: dict[str, tuple[float | None, str]] = {
    "airs: 408,000 games to ratings": (0.3, "s"),
    "airs: 1,000 cluster-bootstrap rounds": (3.0, "s"),
    "airs: all figures of the study": (None, "s"),
}
"""What the figures should stay under on one core."""

GAMES = 408_000
_REPEATS = 5


def measure() -> dict[str, float]:
    """Measure all figures (medians of five, the last one once); each has its goal in `GOALS`."""
    study = lay_out(_runs())
    games = count_games(study).n_games
    assert games == GAMES, f"{games} games"
    scores = [
        normalized(one.scores.tolist(), one.valid.tolist(), one.task, one.task.s_min)
        for one in study.tasks
    ]

    def ratings() -> object:
        return bradley_terry(count_games(study).points.sum(axis=0).tolist()).elo()

    def rounds() -> object:
        return resampled(study, scores, Bootstrap(1000), Resample.BOTH, prior=1.0)

    runs = _runs()
    games_name, rounds_name, study_name = GOALS
    return {
        games_name: _median(ratings),
        rounds_name: _median(rounds),
        study_name: _median(lambda: score_runs(runs, AirsOptions()), 1),
    }


def _runs() -> list[AirsRun]:
    """Runs around the published levels."""
    draw = random.Random(0)
    runs = []
    for agent in published_figures().agents:
        for task in airs_tasks().values():
            level = agent.ns / agent.vsr + draw.gauss(0, 0.25)
            worst, best = (-math.log10(abs(one - task.s_opt)) for one in (task.s_min, task.s_sota))
            for seed in range(agent.seeds):
                ns = min(1.2, max(0.0, level + draw.gauss(0, 0.1)))
                gap = 10 ** -(worst + ns * (best - worst))
                score = gap if task.lower_is_better else 1 - gap
                valid = draw.random() < agent.vsr
                row = (score, True) if valid else (None, False)
                runs.append(AirsRun(agent.agent, task.task, str(seed), *row))
    return runs


def _median(work: Callable[[], object], repeats: int = _REPEATS) -> float:
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def coverage(studies: int = 300) -> None:
    """Print the shares of studies in which the interval holds the true mean."""
    import numpy as np

    tasks = np.repeat(np.arange(20), 10).tolist()
    for between, within in ((0.25, 0.1), (0.25, 0.5), (0.15, 0.5), (0.05, 0.5)):
        draw = np.random.default_rng(1)
        held = dict.fromkeys(Resample, 0)
        for number in range(studies):
            levels = draw.normal(0, between, 20)[:, None]
            values = (levels + draw.normal(0, within, (20, 10))).ravel().tolist()
            for how in Resample:
                found = bootstrap_mean(values, tasks, Bootstrap(300, number), how)
                held[how] += (found.low or 0.0) <= 0 <= (found.high or 0.0)
        shares = ", ".join(f"{how.value} {count / studies:.3f}" for how, count in held.items())
        print(f"sd between tasks {between}, between seeds {within}: {shares}")


def main() -> None:
    if "--coverage" in sys.argv[1:]:
        coverage()
        return
    for name, value in measure().items():
        goal, unit = GOALS[name]
        print(f"{name}: {value:.3f} {unit}" + ("" if goal is None else f" (goal {goal:g})"))


if __name__ == "__main__":
    main()
