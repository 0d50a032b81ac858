"""How many requests may be in flight: adapts to what the endpoint bears."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque


class AdaptiveLimiter:
    """A limit on requests in flight that all callers of one endpoint share.

    Additive increase, multiplicative decrease: the limit starts at its maximum, is halved when
    the endpoint says that it is overloaded, and grows back by a sixteenth of the maximum for each
    full round of successes. One overload halves it once, however many requests it refuses. A
    pause holds back every new request, not only the one that was refused.

    First come, first served. Belongs to one event loop.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._limit = float(maximum)
        self._step = max(1.0, maximum / 16)
        self._in_flight = 0
        self._epoch = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        """Most requests that may be in flight now."""
        return int(self._limit)

    @property
    def in_flight(self) -> int:
        """Requests in flight now."""
        return self._in_flight

    async def acquire(self) -> int:
        """Wait for a place; gives the epoch that `overloaded` takes."""
        if self._waiting or self._in_flight >= int(self._limit) or self._paused():
            await self._wait()
        else:
            self._in_flight += 1
        return self._epoch

    def release(self) -> None:
        """Give the place back."""
        self._in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        """A request was answered: let the limit grow towards its maximum."""
        if self._limit < self._maximum:
            self._limit = min(float(self._maximum), self._limit + self._step / self._limit)
            self._wake()

    def overloaded(self, epoch: int, pause_seconds: float) -> None:
        """The endpoint refused a request as one too many.

        Args:
            epoch: what `acquire` gave for that request; one that started before the last cut
                says nothing about the present limit.
            pause_seconds: how long no request at all is to be started.
        """
        if epoch == self._epoch:
            self._limit = max(1.0, self._limit / 2)
            self._epoch += 1
        loop = asyncio.get_running_loop()
        self._resume_at = max(self._resume_at, loop.time() + pause_seconds)

    def _paused(self) -> bool:
        return self._resume_at > 0.0 and asyncio.get_running_loop().time() < self._resume_at

    async def _wait(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.release()  # the place was given in the moment of the cancellation
            else:
                with contextlib.suppress(ValueError):
                    self._waiting.remove(place)
            raise

    def _wake(self) -> None:
        """Give free places to those who wait, or come back when the pause is over."""
        if not self._waiting:
            return
        if self._paused():
            if self._timer is None:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_at(self._resume_at, self._on_timer)
            return
        while self._waiting and self._in_flight < int(self._limit):
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)

    def _on_timer(self) -> None:
        self._timer = None
        self._resume_at = 0.0 if not self._paused() else self._resume_at
        self._wake()
