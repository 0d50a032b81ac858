"""What WhatWorked's numbers cost: scoring, the published study, adaptive steps, memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

GOALS = {
    "whatworked: score 36 tables": (2e-3, "s"),
    "whatworked: 36 conditions x 4 methods x 4 budgets": (3.0, "s"),
    "whatworked: adaptive ARD step, 6 factors": (60e-3, "s"),
    "whatworked: adaptive ARD step, 10 factors": (1.0, "s"),
    "whatworked: peak memory, 12 factors": (500.0, "MB"),
}
"""What the figures should stay under on one core."""

_BUDGETS = (4, 8, 20, 32)


def best_of(work: Callable[[], object], repeats: int) -> float:
    """Give the least CPU time of some runs, in seconds: others may be at work on this machine."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def measure() -> dict[str, float]:
    """Measure all figures; each has its goal in `GOALS`."""
    names = list(GOALS)
    return {
        names[0]: _score_tables(),
        names[1]: best_of(_study, 2),
        names[2]: _step(6, 24),
        names[3]: _step(10, 24),
        names[4]: _memory(),
    }


def _score_tables() -> float:
    from basanite.suites.whatworked import published_references, score_table

    references = published_references()
    tables = [np.clip(one.values + 0.01, 0, 1) for one in references]

    def work() -> None:
        for one, table in zip(references, tables, strict=True):
            score_table(one.truth, table)

    work()
    return best_of(work, 50)


def _study() -> None:
    from basanite.suites.whatworked import (
        method_named,
        published_references,
        run_path,
        score_table,
    )

    for name in ("ridge-main", "ridge-pair", "gp-grid", "gp-effect"):
        method = method_named(name, published=True)
        for one in published_references():
            for step in run_path(method, one, _BUDGETS):
                score_table(one.truth, step.estimate.table)


def _step(k: int, n: int) -> float:
    from basanite.suites.whatworked import ModelAveragedDesign

    seen = _observations(k, n)
    design = ModelAveragedDesign()
    design.next(seen)
    return best_of(lambda: design.next(seen), 5)


def _observations(k: int, n: int):  # type: ignore[no-untyped-def]
    from basanite.suites.whatworked import Observations, space_of

    space = space_of((2,) * k)
    rng = np.random.default_rng(0)
    cells = np.array(
        [0, space.n_cells - 1, *rng.choice(np.arange(1, space.n_cells - 1), n - 2, False)]
    )
    on = 2.0 * space.codes - 1
    values = (
        0.5 + 0.1 * on[:, 0] + 0.05 * on[:, 1] * on[:, 0] + 0.02 * on[:, 2] * on[:, 3] * on[:, 4]
    )
    return Observations(space, cells, values[cells] + rng.normal(0, 0.01, n))


def _memory() -> float:
    """Peak of a process that fits, steps and scores with twelve factors, in MB."""
    command = [sys.executable, __file__, "--twelve"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _twelve() -> None:
    from basanite.suites.whatworked import (
        HammingGP,
        ModelAveragedDesign,
        ModelAveragedGP,
        Truth,
        method_named,
        score_table,
    )

    seen = _observations(12, 34)
    ModelAveragedDesign().next(seen)
    method_named("gp-effect").design.next(seen)
    HammingGP().complete(seen)
    table = ModelAveragedGP().complete(seen).table
    score_table(Truth.of(seen.space, table), table)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    if sys.argv[1:] == ["--twelve"]:
        _twelve()
    else:
        for name, value in measure().items():
            print(f"{name}: {value:.4g} {GOALS[name][1]} (goal {GOALS[name][0]:g})")
