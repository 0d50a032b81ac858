"""The one loop over items."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import BasaniteError, ItemError, RowError, UnscoredReason
from ..schema import Judgment
from ..store import Ledger, Record
from ._limits import Limits
from ._outcome import Progress, RunOutcome, StopReason
from ._source import Source
from ._tally import Tally

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """What is done with each item, and under which run its result is kept."""

    run: str
    """Id of the run in the ledger."""
    judge: Callable[[T], Awaitable[Judgment]]
    """Judges one item; many calls run at once."""
    failed: Callable[[T, ItemError], Judgment]
    """Gives the unscored judgment of an item on which `judge` raised or ran out of time."""


async def run_items(
    work: Work[T],
    items: Iterable[tuple[str, T]],
    ledger: Ledger,
    limits: Limits,
    *,
    total: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunOutcome:
    """Judge all items that have no judgment yet, and commit each as it is done.

    Items are taken one by one as there is room for them, so memory does not grow with their
    number. A judgment that is final is kept as kind `judgment` under the item's key. One that
    failed for an outside cause is kept as kind `attempt` under `KEY#N`, so that calling this
    again tries the item again and nothing is overwritten.

    Whatever concerns one item never ends the run: an `ItemError`, the item's deadline, or a
    bug in `judge` (logged, `internal_error`) become unscored judgments through `failed`.

    Args:
        work: what to do.
        items: keys (unique) and items; read on another thread, a few ahead.
        ledger: where judgments are looked up and kept.
        limits: concurrency, deadlines and caps.
        total: how many items there are, for progress; None where that is not known.
        on_progress: called about ten times a second at most, and at the end.

    Returns:
        What was done, and why the run ended.

    Raises:
        SetupError: the model or the ledger can't work at all. What is in flight is cancelled;
            what was finished is committed.
        InputError: the judge or the items can't be used; likewise.
        asyncio.CancelledError: the run was cancelled (Ctrl-C under `asyncio.run`); likewise.
    """
    engine = _Engine(work, Source(items, ledger, work.run, limits.concurrency), ledger, limits)
    engine.tally = Tally(total, engine.source, on_progress)
    try:
        return await engine.run()
    finally:
        engine.source.stop()


class _Engine(Generic[T]):
    def __init__(self, work: Work[T], source: Source[T], ledger: Ledger, limits: Limits) -> None:
        self.work = work
        self.source = source
        self.ledger = ledger
        self.limits = limits
        self.tally = Tally(None, source, None)
        self.stop_reason: StopReason = "finished"
        self.workers: list[asyncio.Task[None]] = []
        self.broken: BaseException | None = None

    async def run(self) -> RunOutcome:
        self.tally.show(now=True)
        self.workers = [
            asyncio.create_task(self._worker(), name=f"basanite-item-{number}")
            for number in range(self.limits.concurrency)
        ]
        try:
            # Ends early if a worker raises: that is never about one item alone.
            done, _ = await asyncio.wait(self.workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self._stop()
        if self.broken is not None:
            raise self.broken
        for worker in done:
            worker.result()
        not_started = 0
        if self.stop_reason != "finished":
            not_started = await self.source.count_rest()
        self.tally.show(now=True)
        return self.tally.outcome(not_started, self.stop_reason)

    async def _stop(self) -> None:
        for worker in self.workers:
            worker.cancel()
        await asyncio.gather(*self.workers, return_exceptions=True)
        # What workers handed over before they were cancelled is not committed yet.
        await self.ledger.flush()

    async def _worker(self) -> None:
        commit: asyncio.Future[bool] | None = None
        while self._may_start():
            entry = await self.source.take()
            if entry is None:
                break
            if not self._may_start():  # a limit was met while waiting for the item
                self.source.give_back(entry)
                break
            key, item = entry
            self.tally.in_flight += 1
            try:
                judgment = await self._judge(key, item)
                self.tally.spend(judgment.usage)
                # The next item need not wait for this one's commit, only for the last one's:
                # so no more than one per worker is ever waiting.
                if commit is not None:
                    await commit
                commit = await self._keep(key, judgment)
            finally:
                self.tally.in_flight -= 1
        if commit is not None:
            await commit

    def _may_start(self) -> bool:
        limits = self.limits
        if self.tally.begun < limits.at_least:
            return True
        if limits.run_seconds is not None and self.tally.seconds >= limits.run_seconds:
            self.stop_reason = "run_seconds"
        elif limits.max_tokens is not None and self.tally.tokens >= limits.max_tokens:
            self.stop_reason = "max_tokens"
        else:
            return True
        return False

    async def _judge(self, key: str, item: T) -> Judgment:
        try:
            async with asyncio.timeout(self.limits.item_seconds):
                return await self.work.judge(item)
        except TimeoutError:
            seconds = self.limits.item_seconds
            error = ItemError(UnscoredReason.TIMEOUT, f"not done within {seconds} s", where=key)
        except ItemError as raised:
            error = raised
        except RowError as raised:
            error = ItemError(UnscoredReason.INVALID_ROW, str(raised))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled this item: something that it waited for was cancelled.
            error = _bug(key, "was cancelled from within")
        except BasaniteError:
            raise  # of the set-up or the usage: it would be the same for every item
        except Exception as raised:  # noqa: BLE001
            # The border to a judge's code: a bug in it must not cost the other items.
            error = _bug(key, f"{type(raised).__name__}: {raised}")
        return self.work.failed(item, error)

    async def _keep(self, key: str, judgment: Judgment) -> asyncio.Future[bool] | None:
        """Hand a judgment over to the ledger; give its commit if that is still going on."""
        body = judgment.model_dump(mode="json")
        if judgment.final:
            commit = self.ledger.submit(Record(self.work.run, "judgment", key, body))
            commit.add_done_callback(lambda done: self._committed(done, judgment))
            return commit
        number = 1
        while not await self.ledger.append(
            Record(self.work.run, "attempt", f"{key}#{number}", body)
        ):
            number += 1
        self.tally.add(judgment, retry=True)
        return None

    def _committed(self, commit: asyncio.Future[bool], judgment: Judgment) -> None:
        if commit.cancelled():  # its worker was; the ledger has the record all the same
            return
        error = commit.exception()
        if error is None:
            self.tally.add(judgment, retry=False)
            return
        # Items that are in flight could not be kept either: don't wait for them.
        self.broken = self.broken or error
        for worker in self.workers:
            worker.cancel()


def _bug(key: str, what: str) -> ItemError:
    _log.exception("item %s: the judge failed", key)
    return ItemError(UnscoredReason.INTERNAL_ERROR, what, where=key, todo="The log says more.")
