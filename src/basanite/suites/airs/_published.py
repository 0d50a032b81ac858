"""The published figures of fourteen agents, and what can be checked of them."""

from __future__ import annotations

from functools import lru_cache

from ...schema import Model
from ._tasks import package_data


class PublishedAgent(Model):
    """One agent of the published study. Its runs were not published."""

    agent: str
    """Scaffold and model."""
    scaffold: str
    model: str
    seeds: int
    vsr: float
    """From 0 to 1, read from a figure that prints whole percents."""
    ns: float
    ns_plus_minus: float
    """As printed beside it; of which kind is not said."""
    ns_first: float
    """Ten days earlier, before the worst scores of eleven tasks were changed."""
    elo: float


class PublishedFigures(Model):
    """All of them, with their source."""

    source: str
    commit: str
    license: str
    sota_elo: float
    """Rating of the state of the art, which plays as one more player."""
    agents: tuple[PublishedAgent, ...]


@lru_cache(maxsize=1)
def published_figures() -> PublishedFigures:
    """Give the published leaderboard, from the lowest normalized score to the highest."""
    return PublishedFigures.model_validate(package_data("published.json"))
