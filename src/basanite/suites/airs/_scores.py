"""What scoring gives: figures with their intervals, and what a reader should know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ...stats import Estimate
from ._options import AirsOptions
from ._runs import AirsRun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TaskScores:
    """One agent on one task."""

    vsr: float
    ns: float | None
    """Mean over the runs; None where the task has no scale."""
    n_runs: int
    n_at_resolution: int
    """Valid runs that are within the task's resolution of a perfect score."""


@dataclass(frozen=True, slots=True)
class AgentScores:
    """One agent's figures: ours, and those as published."""

    agent: str
    vsr: Estimate
    """Share of valid runs, mean over tasks; the published figure is the same."""
    ns: Estimate
    """Normalized score by the resolution rule and `s_min` of the options."""
    elo: Estimate
    """Rating from all games; its interval draws tasks or seeds."""
    ns_published: Estimate
    elo_published: Estimate
    """Rating from all games without any prior; its interval draws battles."""
    elo_published_median: float | None
    """Median over the published interval's rounds."""
    elo_equal_weights: float | None
    """Rating if all games of two players on a task together count as one."""
    tasks: Mapping[str, TaskScores]
    """By name; only those with runs."""
    seeds: tuple[int, int]
    """Fewest and most runs on a task that has any."""
    n_runs: int
    n_valid: int
    n_dropped_seeds: int
    """Seeds that the published mean leaves out because a task of the study is missing."""


@dataclass(frozen=True, slots=True)
class SMinRow:
    """Normalized scores under one choice of worst scores."""

    name: str
    ns: Mapping[str, float | None]
    """By agent."""
    order: tuple[str, ...]
    """Agents from best to worst."""
    n_tasks: int
    """Tasks that have a scale with these worst scores; with fewer, rows don't compare."""


@dataclass(frozen=True, slots=True, eq=False)
class AirsScores:
    """Everything that was scored."""

    agents: Mapping[str, AgentScores]
    sota_elo: Estimate
    sota_elo_published: Estimate
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]
    """Tasks of the benchmark that have no runs."""
    no_scale: tuple[str, ...]
    """Tasks without our normalized score, since `s_min` is no worse than the state of the art."""
    s_min: Mapping[str, float]
    """What `ns` was computed with."""
    s_min_observed: Mapping[str, float]
    """What `ns_published` was computed with; tasks without a valid run are left out."""
    sensitivity: tuple[SMinRow, ...]
    elo_half_widths: Mapping[str, float | None]
    """Mean half width of the agents' Elo intervals by what is drawn: `battles` (as published),
    `members` (seeds), `clusters` (tasks), `both`."""
    n_games: int
    prior_used: bool
    """Whether `elo` has the prior, because players separate."""
    separated_draws: int
    """Draws of the intervals in which players separate: rated with the prior, or left out."""
    options: AirsOptions
    notes: tuple[str, ...]
    """What a reader should know before believing it."""
    runs: tuple[AirsRun, ...]
    run_ns: tuple[float | None, ...]
    """Normalized score of each run; None for a task without a scale."""
    elo_replicates: NDArray[np.float64]
    """(replicate, player): agents in their order, then the state of the art."""

    def to_json(self) -> dict[str, JsonValue]:
        """Give the figures as plain JSON, in the envelope `basanite.suite.airs.score/1`."""
        from ._json import score_envelope

        return score_envelope(self)
