"""One judge over one file of answers: the run behind `basanite judge`.

The rows are copied into the run's ledger first, so that a run folder stands by itself: a
report needs neither the input file nor the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from ..errors import InputError, ItemError, UnscoredReason
from ..judges import Judge
from ..reports import Summary, summarise
from ..runs import Limits, Progress, RunOutcome, Work, run_items
from ..schema import Answer, Fingerprint, InvalidRow, Judgment, Score
from ..store import (
    InputFile,
    InputInfo,
    Ledger,
    Manifest,
    Record,
    RunFolder,
    answer_record,
    collect_environment,
)

_ROWS_AT_ONCE = 500

Row = Answer | InvalidRow


class Recipe(Protocol):
    """A judge to be made: known before the run is there, made inside of it."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    def judge_in(self, folder: RunFolder) -> Judge:
        """Give the judge, which may keep what it freezes in the run's ledger."""
        ...


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """What to judge, and how the run is kept."""

    input: InputFile
    out: Path
    """Folder of the run."""
    command: tuple[str, ...] = ()
    """The command line, for the manifest."""
    limits: Limits = field(default_factory=Limits)
    resume: bool = False
    cache: str = "off"
    """Cache mode of the model, for the manifest."""
    endpoint: str | None = None
    """Of the model whose labels make the scores."""
    capabilities: Mapping[str, JsonValue] = field(default_factory=dict)
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Role of each model to its endpoint."""
    ledger_url: str | None = None
    fsync: bool = False


@dataclass(frozen=True, slots=True)
class JudgeRun:
    """A run that has ended, by itself or by a limit."""

    path: Path
    outcome: RunOutcome
    summary: Summary


async def judge_file(
    job: JudgeJob,
    recipe: Recipe,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    on_invalid: Callable[[InvalidRow], None] | None = None,
) -> JudgeRun:
    """Judge each answer of a file and keep everything in a run folder.

    Args:
        job: the input, the folder and the limits.
        recipe: the judge.
        on_progress: told now and then where the run stands.
        on_invalid: told of each row that can't be judged.

    Returns:
        What was done. Whatever could not be scored is in the summary, with its reason.

    Raises:
        InputError: the folder holds something else, or a run made with another judge or input.
        SetupError: the endpoint or the storage failed; what was finished is kept.
    """
    manifest = _manifest(job, recipe.fingerprint)
    make = RunFolder.resume if job.resume else RunFolder.create
    with make(job.out, manifest, job.ledger_url, job.fsync) as folder:
        async for row in _keep_rows(folder, job.input):
            if isinstance(row, InvalidRow) and on_invalid is not None:
                on_invalid(row)
        outcome = await _judge_rows(job, recipe, folder, on_progress)
        # Off the event loop: a summary of many items would keep timers and servers waiting.
        summary = await asyncio.to_thread(summarise, folder)
        folder.write_summary(summary.to_json())
    return JudgeRun(job.out, outcome, summary)


async def _judge_rows(
    job: JudgeJob,
    recipe: Recipe,
    folder: RunFolder,
    on_progress: Callable[[Progress], None] | None,
) -> RunOutcome:
    judge = recipe.judge_in(folder)
    fingerprint = recipe.fingerprint.digest

    async def work(row: Row) -> Judgment:
        if isinstance(row, InvalidRow):
            return unscored(row, judge, fingerprint, UnscoredReason.INVALID_ROW, row.message)
        return await judge.judge(row)

    def failed(row: Row, error: ItemError) -> Judgment:
        return unscored(row, judge, fingerprint, error.reason, str(error))

    return await run_items(
        Work(folder.run, work, failed),
        ((f"{judge.name}/{row.id}", row) for row in folder.answers()),
        folder.ledger,
        job.limits,
        total=job.input.rows,
        on_progress=on_progress,
    )


def unscored(
    row: Row, judge: Judge, fingerprint: str, reason: UnscoredReason, message: str
) -> Judgment:
    """Make the judgment of an item that could not be scored at all."""
    answer = row if isinstance(row, Answer) else None
    return Judgment(
        subject_id=row.id,
        subject_digest=answer.digest if answer else "",
        task=row.task,
        agent=row.agent,
        trial=row.trial,
        judge=judge.name,
        primary=judge.score_names[0],
        scores=dict.fromkeys(judge.score_names, Score(unscored_reason=reason)),
        score_mode="none",
        fingerprint=fingerprint,
        message=message,
        human=answer.human if answer else {},
    )


async def _keep_rows(folder: RunFolder, source: InputFile) -> AsyncIterator[Row]:
    """Copy the input into the ledger; what is there from a first try stays as it is."""
    rows = (row for _, row in source.answers())
    for batch in _batches(rows, _ROWS_AT_ONCE):
        records = [answer_record(folder.run, row) for row in batch]
        there = folder.ledger.existing(folder.run, "answer", [r.key for r in records])
        new = [record for record in records if record.key not in there]
        await _append_all(folder.ledger, new)
        for row in batch:
            yield row


async def _append_all(ledger: Ledger, records: Iterable[Record]) -> None:
    await asyncio.gather(*(ledger.append(record) for record in records))


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def _manifest(job: JudgeJob, fingerprint: Fingerprint) -> Manifest:
    if not job.input.rows:
        raise InputError("the file holds no rows", where=str(job.input.path))
    return Manifest(
        **dict(collect_environment()),
        command=list(job.command),
        judge=fingerprint,
        fingerprint_digest=fingerprint.digest,
        endpoint=job.endpoint,
        capabilities=dict(job.capabilities),
        endpoints=dict(job.endpoints),
        input=InputInfo(path=str(job.input.path), sha256=job.input.sha256, rows=job.input.rows),
        limits=asdict(job.limits),
        cache=job.cache,
    )
