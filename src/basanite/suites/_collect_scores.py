"""Scores of agents that are Python callables: each arm on each task, kept in a ledger."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..errors import InputError, ItemError, UnscoredReason
from ..runs import Limits, RunOutcome, Work, run_items
from ..schema import Judgment, RawReply, Score, digest
from ..store import Ledger
from ._rows import number_of
from ._study_rows import StudyRow

Agent = Callable[[str], str | Awaitable[str]]
"""Takes a task's text and gives an answer, at once or by `await`."""
Scorer = Callable[[str, str], float | Awaitable[float | None] | None]
"""Takes a task's name and an answer; None where the answer can't be scored."""

_JUDGE = "critic-study"


@dataclass(frozen=True, slots=True)
class StudyRun:
    """Where the scores of a study are kept, and what bounds their making."""

    ledger: Ledger
    run: str
    """Id of the run in the ledger. Give a new one after any change of an agent or of the scorer:
    callables can't be told apart, and what is kept under an id is not made again."""
    agent: str | None = None
    """Name of the agent behind all arms, where several are studied."""
    trials: int = 1
    """How often each arm works on each task."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class CollectedScores:
    """The rows of a study and how their making ended."""

    rows: list[StudyRow]
    """Of all that was begun; what a limit left over has no row."""
    outcome: RunOutcome


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One trial of one arm on one task."""

    row: StudyRow
    text: str

    @property
    def key(self) -> str:
        # The text is part of it, so that a task that was changed is not taken for done.
        name = digest([self.row.agent, self.row.task, self.text])
        return f"{_JUDGE}/{self.row.arm}/{self.row.trial}/{name}"


async def collect_scores(
    tasks: Mapping[str, str], arms: Mapping[str, Agent], score: Scorer, keep: StudyRun
) -> CollectedScores:
    """Let each arm work on each task, score the answers, and keep both.

    A finished trial is in the ledger, as a judgment with the answer as its reply: a call that
    was killed is called again and goes on. Where an agent or the scorer raises an `ItemError`,
    the trial is unscored with its reason; any other exception is logged and the trial tried
    again by the next call. An empty answer is `empty_answer`; one that the scorer gives None
    for is `undefined`. Callables that are not coroutine functions run on a thread each.

    Args:
        tasks: name to text.
        arms: arm (`none`, `end`, `plan`, `again`, `baseline`) to the agent as that arm runs it.
            The baseline is the same agent as `none`; it is run by itself.
        score: scores an answer; higher is better.
        keep: ledger, run and limits.

    Raises:
        InputError: an unknown arm, an empty task, no tasks or arms, or fewer than one trial.
        SetupError: the ledger or a model fails altogether; what was finished is kept.
    """
    if not tasks or not arms or keep.trials < 1:
        raise InputError(
            f"{len(tasks)} tasks, {len(arms)} arms and {keep.trials} trials leave nothing to do",
            todo="Give at least one of each.",
        )
    attempts = [
        _Attempt(StudyRow(task, arm, None, keep.agent, str(trial)), text)
        for trial in range(1, keep.trials + 1)
        for task, text in tasks.items()
        for arm in arms
    ]

    async def work(attempt: _Attempt) -> Judgment:
        answer = await answer_of(arms[attempt.row.arm], attempt.text)
        if not answer.strip():
            return _judgment(attempt, keep, UnscoredReason.EMPTY_ANSWER, answer)
        value = await _call(score, attempt.row.task, answer)
        return _judgment(attempt, keep, _checked(value), answer)

    def failed(attempt: _Attempt, error: ItemError) -> Judgment:
        return _judgment(attempt, keep, error.reason, None, str(error))

    outcome = await run_items(
        Work(keep.run, work, failed),
        ((attempt.key, attempt) for attempt in attempts),
        keep.ledger,
        keep.limits,
        total=len(attempts),
    )
    rows = await asyncio.to_thread(lambda: list(_rows(attempts, keep)))
    return CollectedScores(rows, outcome)


async def answer_of(agent: Agent, text: str) -> str:
    """Call an agent of either kind.

    Raises:
        TypeError: it gives something else than a text.
    """
    answer = await _call(agent, text)
    if not isinstance(answer, str):
        raise TypeError(f"the agent gave a {type(answer).__name__} and not a text")
    return answer


async def _call(function: Callable[..., object], *arguments: str) -> object:
    # An object may be awaitable by its own `async def __call__`, which its class has.
    own = getattr(type(function), "__call__", None)  # noqa: B004
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own)
    if is_async:
        found = function(*arguments)
    else:
        found = await asyncio.to_thread(_on_thread, function, *arguments)
    return await found if inspect.isawaitable(found) else found


def _on_thread(function: Callable[..., object], *arguments: str) -> object:
    try:
        return function(*arguments)
    except StopIteration as error:
        # No future can hold it: whoever awaits the thread would wait for ever.
        raise RuntimeError("StopIteration was raised") from error


def _checked(value: object) -> float | UnscoredReason:
    if value is None:
        return UnscoredReason.UNDEFINED
    try:
        return number_of(value, "the score")
    except InputError as error:
        # The scorer's fault on this answer, and no reason to end the run.
        raise TypeError(f"of the scorer: {error.what}") from None


def _judgment(
    attempt: _Attempt,
    keep: StudyRun,
    found: float | UnscoredReason,
    answer: str | None,
    message: str | None = None,
) -> Judgment:
    missing = isinstance(found, UnscoredReason)
    score = Score(unscored_reason=found) if missing else Score(value=found)
    return Judgment(
        subject_id=attempt.key,
        subject_digest=digest(attempt.text),
        task=attempt.row.task,
        agent=attempt.row.agent,
        trial=attempt.row.trial,
        judge=_JUDGE,
        primary="score",
        scores={"score": score},
        score_mode="callable",
        fingerprint=digest({"critic_study": keep.run}),
        replies=() if answer is None else (RawReply(role=attempt.row.arm, text=answer),),
        message=message,
    )


def _rows(attempts: list[_Attempt], keep: StudyRun) -> Iterator[StudyRow]:
    found: dict[str, Judgment] = {}
    # A judgment is final and overtakes attempts; of several attempts the latest counts.
    for kind in ("attempt", "judgment"):
        for record in keep.ledger.records(keep.run, kind):
            found[record.key.partition("#")[0]] = Judgment.model_validate(record.body)
    for attempt in attempts:
        judgment = found.get(attempt.key)
        if judgment is not None:
            score = judgment.scores["score"]
            yield replace(attempt.row, score=score.value, unscored_reason=score.unscored_reason)
