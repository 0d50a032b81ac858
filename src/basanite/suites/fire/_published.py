"""The published figures of four agents, as printed and as their table of tasks gives them."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from ...errors import InputError
from ...schema import Model
from .._rows import spelt
from ._tasks import package_data


class PrintedMean(Model):
    """A mean of table 1, in percent."""

    mean: float
    plus_minus: float
    """Printed beside it. It is the sample standard deviation across the tasks' means (not
    between runs), but for Claude Code's, which no standard deviation of its table gives."""


class PublishedCost(Model):
    """US dollars, of table 3. Total by mean gives 15 tasks, not 30."""

    total: float
    per_task: float
    lowest: float
    highest: float


class PublishedStratum(Model):
    """Mean F1 (percent), standard deviation and number of tasks on both sides of a cutoff."""

    before: tuple[float, float, int]
    after: tuple[float, float, int]


class PublishedContamination(Model):
    """Table 4, whose strata are of other sizes than those of the table of difficulties."""

    cutoff: date
    easy: PublishedStratum
    medium: PublishedStratum
    hard: PublishedStratum


class PublishedAgent(Model):
    """One agent. Its single runs were not published."""

    agent: str
    scaffold: str
    model: str
    runs: int
    """Runs of each task."""
    printed: dict[str, PrintedMean]
    f1: dict[str, tuple[float, float]]
    """Task to mean and standard deviation over its runs, in percent. The latter is that of a
    population: 19 of them are the square root of 2 times their mean, as runs of 0, 0 and x
    give it, and none is that of 3 times."""
    cost_usd: PublishedCost
    false_positives: dict[str, float]
    """Percent of wrong claims by type."""
    false_negatives: dict[str, float]
    """Percent of missed findings by type; `other` is what the figure leaves."""
    contamination: PublishedContamination | None = None


class PublishedFigures(Model):
    """All of them, with their source."""

    source: str
    license: str
    agents: tuple[PublishedAgent, ...]

    def find(self, name: str) -> PublishedAgent:
        """Give one agent's figures.

        Raises:
            InputError: there is none of this name.
        """
        for one in self.agents:
            if one.agent == name:
                return one
        names = ", ".join(one.agent for one in self.agents)
        raise InputError(f"there is no published agent {spelt(name)}", todo=f"There are {names}.")


@lru_cache(maxsize=1)
def published_figures() -> PublishedFigures:
    """Give the published figures, best agent first."""
    return PublishedFigures.model_validate(package_data("published.json"))
