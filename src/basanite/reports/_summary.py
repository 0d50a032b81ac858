"""The numbers of one run, as every command prints them and the page shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from ..errors import UnscoredReason
from ..judges import LexicalJudge
from ..schema import NOT_JUDGED, Usage
from ..stats import Estimate, clustered_mean
from ._agreement import LabelAgreement, agreements
from ._baseline import (
    BASELINE_FORM,
    BASELINE_JUDGE,
    BASELINE_PRIMARY,
    BaselineScores,
    baseline_scores,
)
from ._choice import ChoiceFigures, choice_figures
from ._tally import Column, Tally, tally
from ._view import RunView, manifest_json, text_at

_NO_FAILURE = frozenset(
    {
        NOT_JUDGED,
        UnscoredReason.EMPTY_ANSWER,
        UnscoredReason.INVALID_ROW,
        UnscoredReason.NO_CONTEXTS,
        UnscoredReason.NOT_REQUESTED,
    }
)


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """One score over all items of a run."""

    mean: Estimate
    """Mean over the scored items, its interval clustered by task."""
    n_total: int
    unscored: Mapping[str, int]
    """Reason to number of items without this score; they add up to `n_total - n_scored`."""

    @property
    def n_scored(self) -> int:
        """Number of items that the mean is over."""
        return self.mean.n

    @property
    def is_left_out(self) -> bool:
        """Whether no item has this score, and none could: no contexts, not asked for, no answer.

        Such a score may be left out of what people read; one that failed must not be.
        """
        return not self.n_scored and set(self.unscored) <= _NO_FAILURE


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The items of one agent, or of one task."""

    name: str
    n_total: int
    scores: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class BaselineSummary:
    """The lexical judge on the items that the judge scored."""

    judge: str
    form: str
    primary: str
    n_total: int
    """Items compared: those that have the judge's primary score."""
    scores: Mapping[str, Estimate]
    caveat: str


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of one run. `to_json` gives the envelope that is printed and stored."""

    run: str
    judge: str
    fingerprint: str
    """Digest of the judge's fingerprint; equal digests make runs comparable."""
    primary: str
    n_total: int
    """Rows of the input; those that are invalid or were never reached count."""
    scores: Mapping[str, ScoreSummary]
    """The primary score first."""
    usage: Usage
    seconds: float | None
    """Wall time of the run where the caller knows it."""
    agents: tuple[GroupSummary, ...]
    """Empty where no item names an agent."""
    baseline: BaselineSummary | None
    agreement: tuple[LabelAgreement, ...]
    is_baseline: bool = False
    """Whether the run's judge is the baseline itself, in its form."""
    choice: ChoiceFigures | None = None
    """Baselines and published figures of a run of multiple choice; None for other runs."""

    @property
    def n_scored(self) -> int:
        """Number of items that have the primary score."""
        return self.scores[self.primary].n_scored

    @property
    def share_unscored(self) -> float:
        """Share (0 to 1) of all rows that lack the primary score; 0 where there are no rows."""
        return (self.n_total - self.n_scored) / self.n_total if self.n_total else 0.0

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Prompt and completion tokens; None where no call's server reported any."""
        used = self.usage
        if used.calls and used.calls_without_usage >= used.calls:
            return None
        return used.prompt_tokens, used.completion_tokens

    def to_json(self) -> dict[str, JsonValue]:
        """Give the envelope `basanite.summary/1` as plain JSON values."""
        from ._envelope import envelope

        return envelope(self)


def summarise(view: RunView, *, seconds: float | None = None) -> Summary:
    """Read a run and give its numbers; memory holds a few numbers per item, no text.

    Args:
        view: the run, such as a `RunFolder`.
        seconds: wall time of the run, where the caller measured it.
    """
    return summary_of(tally(view), view, seconds=seconds)


def summary_of(numbers: Tally, view: RunView, *, seconds: float | None = None) -> Summary:
    """Give the summary of a run that was tallied before."""
    baseline = baseline_scores(view, numbers)
    names = [numbers.primary, *(name for name in numbers.scores if name != numbers.primary)]
    return Summary(
        run=numbers.run,
        judge=numbers.judge,
        fingerprint=numbers.fingerprint,
        primary=numbers.primary,
        n_total=numbers.n_total,
        scores={
            name: ScoreSummary(
                mean=_mean(numbers, numbers.scores[name], range(numbers.n_items)),
                n_total=numbers.n_total,
                unscored=dict(sorted(numbers.unscored[name].items())),
            )
            for name in names
        },
        usage=numbers.usage,
        seconds=seconds,
        agents=agent_groups(numbers, names),
        baseline=_baseline_summary(numbers, baseline),
        agreement=tuple(
            agreements(
                numbers, baseline.scores.get(BASELINE_PRIMARY), baseline_name=BASELINE_PRIMARY
            )
        ),
        is_baseline=numbers.judge == BASELINE_JUDGE
        and text_at(manifest_json(view), "judge", "options", "form") == BASELINE_FORM,
        choice=choice_figures(view, numbers),
    )


def agent_groups(numbers: Tally, names: Iterable[str]) -> tuple[GroupSummary, ...]:
    """Give the scores of each agent by name; nothing where no item names one."""
    if not any(numbers.agents.names):
        return ()
    agents = numbers.agents
    groups = _groups(numbers, names, agents.names, agents.of_item.__getitem__)
    return tuple(sorted(groups, key=lambda group: group.name))


def task_groups(numbers: Tally, names: Iterable[str]) -> tuple[GroupSummary, ...]:
    """Give the scores of each task, in the order of the run.

    A task is one cluster, so that its means have no interval.
    """
    tasks = numbers.tasks
    return tuple(_groups(numbers, names, tasks.names, tasks.of_item.__getitem__))


def _groups(
    numbers: Tally, names: Iterable[str], groups: list[str], of_item: Callable[[int], int]
) -> list[GroupSummary]:
    members: dict[int, list[int]] = defaultdict(list)
    for position in range(numbers.n_items):
        members[of_item(position)].append(position)
    names = list(names)
    return [
        GroupSummary(
            name=name,
            n_total=len(members[number]),
            scores={
                score: _mean(numbers, numbers.scores[score], members[number]) for score in names
            },
        )
        for number, name in enumerate(groups)
    ]


def _mean(numbers: Tally, column: Column, positions: Iterable[int]) -> Estimate:
    values: list[float] = []
    tasks: list[int] = []
    for position in positions:
        value = column.get(position)
        if value is not None:
            values.append(value)
            tasks.append(numbers.tasks.of_item[position])
    return clustered_mean(values, tasks)


def _baseline_summary(numbers: Tally, baseline: BaselineScores) -> BaselineSummary | None:
    if not baseline.scores:
        return None
    return BaselineSummary(
        judge=BASELINE_JUDGE,
        form=BASELINE_FORM,
        primary=BASELINE_PRIMARY,
        n_total=baseline.n_compared,
        scores={
            name: _mean(numbers, column, range(numbers.n_items))
            for name, column in baseline.scores.items()
        },
        caveat=LexicalJudge.caveat,
    )
