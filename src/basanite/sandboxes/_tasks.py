"""Work that has to come to its end although its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


async def finished(
    work: Coroutine[object, object, T], *, undo: Callable[[T], None] | None = None
) -> T:
    """Await work to its end; a cancellation that comes meanwhile is passed on afterwards.

    A thread can't be cancelled: what it made would be lost with its result, and what it still
    writes would race with the removal of the sandbox.

    Args:
        work: what is to be done.
        undo: what to do with its result, in a thread, if the caller is not there to take it.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if task.cancelled():
            raise
        await asyncio.wait((task,))
        if task.exception() is None and undo is not None:
            await asyncio.to_thread(undo, task.result())
        raise


__all__ = ["finished"]
