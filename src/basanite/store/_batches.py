"""Group commit: one thread takes all that is queued, does it at once, and answers everybody.

A commit costs the same for one row as for fifty, and a round trip to a server too. So callers
queue what they want; while one batch is being done the next one gathers.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from ..errors import BasaniteError, StorageError

_MOST = 512
"""Most questions of one batch, so that the first of a long queue need not wait for the last."""

_GATHER_S = 0.002
"""How long a batch gathers before it is begun: a commit, and waking two threads for it, take
more time of the processor than a row does."""
_AT_ONCE_S = 0.0002
"""Who asks again this soon after an answer asks one by one; gathering would only slow it."""

_log = logging.getLogger(__name__)

Q = TypeVar("Q")
A = TypeVar("A")

_Loop = asyncio.AbstractEventLoop
_Outcome = tuple["asyncio.Future[A]", "A | Exception"]


@dataclass(frozen=True, slots=True)
class _Asked(Generic[Q, A]):
    """One caller's question and where its answer goes; a barrier asks nothing."""

    question: Q
    reply: Future[A] | asyncio.Future[A]


@dataclass(frozen=True, slots=True)
class _Barrier:
    """Answered once all that was queued before it is done."""

    reply: Future[None]


class Batches(Generic[Q, A]):
    """Does questions in batches on a thread of its own, in the order in which they came.

    Args:
        do: does a batch and gives one answer per question, in their order. What it raises
            goes to all who asked in that batch.
        name: the thread's name.
    """

    def __init__(self, do: Callable[[Sequence[Q]], Sequence[A]], *, name: str) -> None:
        self._do = do
        self._name = name
        self._queue: SimpleQueue[_Asked[Q, A] | _Barrier | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def ask(self, question: Q) -> asyncio.Future[A]:
        """Queue a question; a caller that stops waiting does not take it back."""
        reply: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._put(_Asked(question, reply))
        return reply

    def ask_now(self, question: Q) -> A:
        """Queue a question and block until it is answered."""
        reply: Future[A] = Future()
        self._put(_Asked(question, reply))
        return reply.result()

    async def flush(self) -> None:
        """Return once all that was queued before is done."""
        reply: Future[None] = Future()
        self._put(_Barrier(reply))
        await asyncio.wrap_future(reply)

    def close(self) -> None:
        """Do what is queued and end the thread; nothing can be asked afterwards."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
            # Under the lock, so that nothing can be queued behind the end mark.
            self._queue.put(None)
        if thread is not None:
            thread.join()

    def _put(self, item: _Asked[Q, A] | _Barrier) -> None:
        with self._lock:
            if self._closed:
                raise StorageError("is closed", where=self._name)
            if self._thread is None:
                # A daemon: a program that forgets to close must still be able to end.
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._queue.put(item)

    def _work(self) -> None:
        answered = 0.0
        while True:
            items = [self._queue.get()]
            if time.monotonic() - answered > _AT_ONCE_S:
                time.sleep(_GATHER_S)
            self._gather(items)
            batch = [item for item in items if isinstance(item, _Asked)]
            if batch:
                self._answer(batch)
            for item in items:
                if isinstance(item, _Barrier):
                    item.reply.set_result(None)
            if items[-1] is None:
                return
            answered = time.monotonic()

    def _gather(self, items: list[_Asked[Q, A] | _Barrier | None]) -> None:
        """Take what else is queued, up to the end mark."""
        while items[-1] is not None and len(items) < _MOST:
            try:
                items.append(self._queue.get_nowait())
            except Empty:
                return

    def _answer(self, batch: Sequence[_Asked[Q, A]]) -> None:
        outcomes: Sequence[A | Exception]
        try:
            outcomes = self._do([asked.question for asked in batch])
        except BasaniteError as error:
            # One object each: tasks that raise the same one would share its traceback.
            outcomes = [_copy(error) for _ in batch]
        except Exception as error:  # noqa: BLE001
            # The border of a thread: unless they get this, everybody waits for ever.
            _log.exception("%s failed", self._name)
            outcomes = [error] * len(batch)
        by_loop: dict[_Loop, list[_Outcome[A]]] = {}
        for asked, outcome in zip(batch, outcomes, strict=True):
            if isinstance(asked.reply, Future):
                _settle(asked.reply, outcome)
            else:
                loop = asked.reply.get_loop()
                by_loop.setdefault(loop, []).append((asked.reply, outcome))
        for loop, settled in by_loop.items():
            try:
                # One wake-up of the loop for the whole batch.
                loop.call_soon_threadsafe(_settle_all, settled)
            except RuntimeError:
                _log.debug("%s: the event loop closed before its answer came", self._name)


def _settle_all(settled: Sequence[_Outcome[A]]) -> None:
    for reply, outcome in settled:
        _settle(reply, outcome)


def _settle(reply: Future[A] | asyncio.Future[A], outcome: A | Exception) -> None:
    if reply.done():  # its task was cancelled meanwhile
        return
    if isinstance(outcome, Exception):
        reply.set_exception(outcome)
    else:
        reply.set_result(outcome)


def _copy(error: BasaniteError) -> BasaniteError:
    twin = type(error)(error.what, where=error.where, todo=error.todo)
    twin.__cause__ = error.__cause__
    return twin
