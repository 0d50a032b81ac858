"""Bradley-Terry strengths: closed forms, another package, and a plain Newton fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from basanite.errors import InputError
from basanite.stats import bradley_terry, bradley_terry_many


def played(seed: int, players: int = 6, games: int = 400) -> np.ndarray:
    """Random games, ties among them, between players of random strength."""
    random = np.random.default_rng(seed)
    strengths = random.normal(0, 1, players)
    wins = np.zeros((players, players))
    for _ in range(games):
        i, j = random.choice(players, 2, replace=False)
        if random.random() < 0.15:
            wins[i, j] += 0.5
            wins[j, i] += 0.5
        elif random.random() < 1 / (1 + math.exp(strengths[j] - strengths[i])):
            wins[i, j] += 1
        else:
            wins[j, i] += 1
    return wins


def test_two_players_have_the_odds_of_their_games() -> None:
    fit = bradley_terry([[0, 10], [1, 0]])
    assert fit.strengths is not None
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(math.log(10), abs=1e-12)
    assert fit.elo() == pytest.approx((1200.0, 800.0), abs=1e-9)


def test_a_prior_adds_drawn_games() -> None:
    fit = bradley_terry([[0, 5], [0, 0]], prior=1.0)
    assert fit.strengths is not None
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(math.log(5.5 / 0.5), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_evalica(seed: int) -> None:
    evalica = pytest.importorskip("evalica", reason="evalica is missing")
    wins = played(seed)
    first, second, winner, weight = [], [], [], []
    for i in range(len(wins)):
        for j in range(len(wins)):
            if wins[i, j]:
                first.append(f"p{i}")
                second.append(f"p{j}")
                winner.append(evalica.Winner.X)
                weight.append(wins[i, j])
    found = evalica.bradley_terry(
        first, second, winner, weights=weight, tolerance=1e-14, limit=100_000
    )
    scores = np.log([found.scores[f"p{i}"] for i in range(len(wins))])
    fit = bradley_terry(wins.tolist())
    assert fit.strengths == pytest.approx(scores - scores.mean(), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_a_general_optimiser(seed: int) -> None:
    wins = played(seed)

    def loss(strengths: np.ndarray) -> float:
        apart = strengths[:, None] - strengths[None, :]
        return float((wins * np.logaddexp(0, -apart)).sum())

    best = minimize(loss, np.zeros(len(wins)), method="BFGS", options={"gtol": 1e-9}).x
    assert bradley_terry(wins.tolist()).strengths == pytest.approx(best - best.mean(), abs=1e-6)


def test_expected_wins_equal_the_wins() -> None:
    """The likelihood's own condition, in a lopsided table that plain Newton would overshoot."""
    wins = np.array([[0, 9000, 9999.0], [1, 0, 9000], [0.001, 1, 0]])
    fit = bradley_terry(wins.tolist())
    assert fit.strengths is not None
    strengths = np.array(fit.strengths)
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    expected = ((wins + wins.T) * chance).sum(axis=1) - np.diag((wins + wins.T) * chance)
    assert expected == pytest.approx(wins.sum(axis=1), rel=1e-7)
    assert sum(fit.strengths) == pytest.approx(0, abs=1e-9)


def test_players_who_separate_have_no_strengths() -> None:
    wins = [[0, 1, 3, 3], [1, 0, 3, 3], [0, 0, 0, 1], [0, 0, 1, 0]]
    fit = bradley_terry(wins)
    assert fit.strengths is None
    assert fit.elo() is None
    assert fit.separated
    assert fit.groups == ((0, 1), (2, 3))


def test_a_player_without_games_separates() -> None:
    assert bradley_terry([[0, 1, 0], [1, 0, 0], [0, 0, 0]]).groups == ((0, 1), (2,))


def test_many_tables_are_fitted_as_one_by_one() -> None:
    tables = np.stack([played(seed) for seed in range(4)])
    tables[2] = np.triu(np.ones((6, 6)), 1)
    found = bradley_terry_many(tables)
    assert np.isnan(found[2]).all()
    for row, table in zip(found[[0, 1, 3]], tables[[0, 1, 3]], strict=True):
        assert row == pytest.approx(bradley_terry(table.tolist()).strengths, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 50))
def test_weights_count_only_relative_to_each_other(seed: int, factor: float) -> None:
    wins = played(seed, players=4, games=60) + 0.1
    one, other = bradley_terry(wins.tolist()), bradley_terry((wins * factor).tolist())
    assert one.strengths == pytest.approx(other.strengths, abs=1e-8)


@pytest.mark.parametrize(
    ("wins", "prior"),
    [([[0.0]], 0), ([[0, 1]], 0), ([[0, -1], [1, 0]], 0), ([[0, math.nan], [1, 0]], 0),
     ([[0, 1], [1, 0]], -1), ([[0, 1], [1, 0]], math.inf)],
)  # fmt: skip
def test_bad_tables_are_refused(wins: list[list[float]], prior: float) -> None:
    with pytest.raises(InputError):
        bradley_terry(wins, prior)
