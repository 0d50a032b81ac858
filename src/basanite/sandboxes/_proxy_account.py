"""What a sandbox has sent to its model endpoints, and how much it still may."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field

from ._proxy_rules import Refused
from ._result import NetworkRequest
from ._spec import MIB, Network

_KEPT = 10_000
"""Entries of a log: code inside decides how many requests there are."""
_SHOWN = 200


@dataclass(slots=True)
class Entry:
    """A request that is under way."""

    endpoint: str
    method: str = ""
    path: str = ""
    status: int | None = None
    why: str = ""
    request_bytes: int = 0
    reply_bytes: int = 0
    complete: bool = False
    began: float = field(default_factory=time.monotonic)


class Account:
    """Counts, caps and logs the requests of one sandbox to all its endpoints."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.hit: dict[str, None] = {}
        self.ended = 0
        """How many requests have ended, those that are no longer in the log included."""
        self._log: list[NetworkRequest] = []
        self._open: set[int] = set()
        self._quiet = asyncio.Event()
        self._requests = 0
        self._traffic = 0

    def begin(self, endpoint: str, method: bytes = b"", target: bytes = b"") -> Entry:
        """Note that a request has come in. Its query is not kept."""
        path = target.partition(b"?")[0][:_SHOWN].decode("ascii", "backslashreplace")
        entry = Entry(endpoint, method[:_SHOWN].decode("ascii", "backslashreplace"), path)
        self._open.add(id(entry))
        return entry

    def admit(self) -> None:
        """Count a request that is to be passed on.

        Raises:
            Refused: there were enough.
        """
        # 403, not 429: clients try again after that.
        if self.network.requests is not None and self._requests >= self.network.requests:
            self.hit["network_requests"] = None
            raise Refused(403, f"all {self.network.requests} requests of this sandbox are used up")
        self._spend(0)
        self._requests += 1

    def sent(self, entry: Entry, size: int) -> None:
        """Count bytes of a request's body.

        Raises:
            Refused: the sandbox has used up what it may send and receive.
        """
        entry.request_bytes += size
        self._spend(size)

    def received(self, entry: Entry, size: int) -> None:
        """Count bytes of a reply's body.

        Raises:
            Refused: too long, or the sandbox has used up what it may send and receive.
        """
        entry.reply_bytes += size
        if entry.reply_bytes > self.network.reply_mb * MIB:
            raise Refused(502, f"the endpoint's reply is larger than {self.network.reply_mb} MB")
        self._spend(size)

    def _spend(self, size: int) -> None:
        self._traffic += size
        limit = self.network.traffic_mb
        if limit is not None and self._traffic > limit * MIB:
            self.hit["network_traffic"] = None
            raise Refused(403, f"the {limit} MB that this sandbox may exchange are used up")

    def end(self, entry: Entry) -> None:
        """Write a request into the log."""
        self._open.discard(id(entry))
        if not self._open:
            self._quiet.set()
        self.ended += 1
        if len(self._log) < _KEPT:
            self._log.append(
                NetworkRequest(
                    endpoint=entry.endpoint,
                    method=entry.method,
                    path=entry.path,
                    status=entry.status,
                    why=entry.why,
                    request_bytes=entry.request_bytes,
                    reply_bytes=entry.reply_bytes,
                    complete=entry.complete,
                    wall_s=time.monotonic() - entry.began,
                )
            )

    async def settled(self, seconds: float) -> None:
        """Wait, but not for long, until no request is under way."""
        self._quiet.clear()
        if self._open:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._quiet.wait(), seconds)

    def since(self, ended: int) -> tuple[NetworkRequest, ...]:
        """Give the requests that ended after as many as `ended` had."""
        return tuple(self._log[ended:])

    @property
    def complete(self) -> bool:
        """Whether the log holds all requests."""
        return self.ended == len(self._log)


__all__ = ["Account", "Entry"]
