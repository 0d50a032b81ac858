"""An event loop on a thread of its own, for a command whose main thread waits for a person."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Background:
    """A running loop: what is open on it goes on while the main thread reads a line.

    So a sandbox's limits hold at the prompt as well. Leaving it cancels what still runs.
    """

    def __init__(self) -> None:
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        stop = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Let something run, and give what will hold its result."""
        return asyncio.run_coroutine_threadsafe(work, self._started.result()[0])

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let something run and wait for its result."""
        return self.start(work).result()

    def call(self, function: Callable[[], object]) -> None:
        """Have a plain function called on the loop's thread; safe in a signal handler."""
        self._started.result()[0].call_soon_threadsafe(function)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.call(self._started.result()[1].set)
        self._thread.join()


__all__ = ["Background"]
