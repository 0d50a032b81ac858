"""Games and ratings: counted by hand, and equal to other packages' fits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from basanite.stats import Bootstrap
from basanite.suites.airs import AirsOptions, AirsRun, elo_differences, score_runs
from basanite.suites.airs._games import count_games, outcomes
from basanite.suites.airs._study import lay_out
from support.airs import FIVE, RIDESHARE, SVAMP, ZINC, run, synthetic_runs

QUICK = AirsOptions(plan=Bootstrap(200), published_draws=200)


def by_definition(runs: list[AirsRun], names: list[str]) -> np.ndarray:
    """Points of the first against the second, game by game."""
    from basanite.suites.airs import airs_tasks

    points = np.zeros((len(names), len(names)))
    played: dict[str, dict[str, list[tuple[float, bool]]]] = {}
    for one in runs:
        mine = played.setdefault(one.task, {}).setdefault(one.agent, [])
        mine.append((0.0 if one.score is None else one.score, one.valid))
    for name, players in played.items():
        task = airs_tasks()[name]
        players["SOTA"] = [(task.s_sota, True)] * 10
        for i, first in enumerate(names):
            for j, second in enumerate(names):
                if i >= j:
                    continue
                for a, a_valid in players.get(first, []):
                    for b, b_valid in players.get(second, []):
                        if a_valid and b_valid:
                            tie = bool(np.isclose(a, b, atol=1e-6))
                            won = 0.5 if tie else float((a < b) == task.lower_is_better)
                        else:
                            won = 0.5 if a_valid == b_valid else float(a_valid)
                        points[i, j] += won
                        points[j, i] += 1 - won
    return points


def fitted(points: np.ndarray) -> np.ndarray:
    """Newton steps on the likelihood of all but one strength, written down plainly."""
    n = len(points)
    theta = np.zeros(n)
    games = points + points.T
    for _ in range(100):
        p = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
        gradient = (points - games * p).sum(axis=1) + 0.0
        hessian = games * p * (1 - p)
        hessian = np.diag(hessian.sum(axis=1)) - hessian
        step = np.zeros(n)
        step[1:] = np.linalg.solve(hessian[1:, 1:], gradient[1:])
        theta += step
    theta -= theta.mean()
    return 1000 + 400 / math.log(10) * theta


def test_games_by_hand() -> None:
    runs = [
        run("A", SVAMP, 0, 0.5), run("A", SVAMP, 1, None),
        run("B", SVAMP, 0, 0.5), run("B", SVAMP, 1, 0.4), run("B", SVAMP, 2, None),
    ]  # fmt: skip
    games = count_games(lay_out(runs))
    # A's 0.5 ties one, beats one and beats an invalid run; its invalid run loses two, ties one.
    assert games.won[0, 0, 1] == 2
    assert games.won[0, 1, 0] == 2
    assert games.tied[0, 0, 1] == games.tied[0, 1, 0] == 2
    # The state of the art counts as ten runs on each task.
    assert games.won[0, 2, 0] == 20
    assert games.won[0, 2, 1] == 30
    assert games.n_games == 6 + 20 + 30


def test_lower_is_better_where_it_is_an_error() -> None:
    runs = [run("A", ZINC, 0, 0.1), run("B", ZINC, 0, 0.2), run("B", ZINC, 1, 0.01)]
    assert count_games(lay_out(runs)).won[0].tolist() == [[0, 1, 0], [1, 0, 10], [10, 10, 0]]


def test_ties_are_relative_to_the_second() -> None:
    tied = [run("A", RIDESHARE, 0, 20.0001), run("B", RIDESHARE, 0, 20.0)]
    apart = [run("A", RIDESHARE, 0, 20.0003), run("B", RIDESHARE, 0, 20.0)]
    assert outcomes(lay_out(tied).tasks[0])[0, 1] == 0.5
    assert outcomes(lay_out(apart).tasks[0])[0, 1] == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_ratings_are_the_fit_to_the_games(seed: int) -> None:
    runs = synthetic_runs(seed, seeds=4, n_agents=6)
    found = score_runs(runs, QUICK)
    names = [*found.agents, "SOTA"]
    points = by_definition(runs, names)
    assert found.n_games == points.sum()
    expected = fitted(points)
    ratings = [one.elo_published.value for one in found.agents.values()]
    ratings.append(found.sota_elo_published.value)
    assert ratings == pytest.approx(expected.tolist(), abs=1e-6)
    assert sum(filter(None, ratings)) / len(ratings) == pytest.approx(1000, abs=1e-9)
    assert [one.elo.value for one in found.agents.values()] == pytest.approx(ratings[:-1])


def test_ratings_are_evalicas() -> None:
    evalica = pytest.importorskip("evalica", reason="evalica is missing")
    runs = synthetic_runs(1, seeds=2, n_agents=5)
    found = score_runs(runs, QUICK)
    names = [*found.agents, "SOTA"]
    points = by_definition(runs, names)
    rows = [(a, b, points[i, j]) for i, a in enumerate(names) for j, b in enumerate(names)
            if points[i, j]]  # fmt: skip
    fit = evalica.bradley_terry(
        [a for a, _, _ in rows], [b for _, b, _ in rows], [evalica.Winner.X] * len(rows),
        weights=[weight for _, _, weight in rows], tolerance=1e-14, limit=100_000,
    )  # fmt: skip
    theta = np.log([fit.scores[name] for name in names])
    expected = 1000 + 400 / math.log(10) * (theta - theta.mean())
    ratings = [*(one.elo_published.value for one in found.agents.values()),
               found.sota_elo_published.value]  # fmt: skip
    assert ratings == pytest.approx(expected.tolist(), abs=1e-6)


def test_drawing_battles_gives_far_too_narrow_intervals() -> None:
    """Seed pairs are no independent games: battles 7, seeds 32, tasks 35 in the specification."""
    widths = score_runs(synthetic_runs(0), QUICK).elo_half_widths
    battles, seeds, tasks, both = (
        widths[name] for name in ("battles", "members", "clusters", "both")
    )
    assert battles is not None
    assert seeds is not None
    assert tasks is not None
    assert both is not None
    assert 3 * battles < seeds
    assert 5 * battles < tasks
    assert max(seeds, tasks) < both < math.hypot(seeds, tasks) * 1.15


def test_players_who_separate() -> None:
    """C never beats anyone: no rating as published, one with the prior, none without."""
    runs = [run("A", task, seed, 0.3 + 0.01 * seed) for task in FIVE for seed in range(3)]
    runs += [run("B", task, seed, 0.31 + 0.01 * seed) for task in FIVE for seed in range(3)]
    runs += [run("C", task, seed, None) for task in FIVE for seed in range(3)]
    found = score_runs(runs, QUICK)
    assert found.prior_used
    assert found.agents["A"].elo_published.value is None
    assert found.agents["A"].elo_published.reason == "players separate"
    assert found.separated_draws == QUICK.plan.replicates
    ratings = [found.agents[name].elo.value for name in "ABC"]
    assert None not in ratings
    assert ratings[2] == min(value for value in ratings if value is not None)
    assert any("separate" in note for note in found.notes)
    without = score_runs(runs, replace(QUICK, prior=0.0))
    assert without.agents["A"].elo.value is None
    assert without.to_json()["agents"]["A"]["elo_reason"] == "players separate"  # type: ignore[index,call-overload]


def test_the_prior_is_not_used_where_nobody_separates() -> None:
    runs = synthetic_runs(0, seeds=6, n_agents=6)
    one, other = (score_runs(runs, replace(QUICK, prior=prior)) for prior in (0.0, 5.0))
    assert not other.prior_used
    for name in one.agents:
        assert one.agents[name].elo.value == other.agents[name].elo.value


def test_differences_are_paired() -> None:
    """What is hard for all cancels: narrower than two intervals that are put together."""
    found = score_runs(synthetic_runs(0, n_agents=3), QUICK)
    (pair, *rest) = elo_differences(found)
    assert len(rest) == 2
    first, second = (found.agents[name].elo for name in (pair.first, pair.second))
    assert first.value is not None
    assert second.value is not None
    assert pair.difference.value == pytest.approx(first.value - second.value)
    assert pair.share_above is not None
    assert (pair.share_above > 0.5) == (first.value > second.value)
    assert len(elo_differences(found, baseline=pair.second)) == 2
