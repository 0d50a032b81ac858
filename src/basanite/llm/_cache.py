"""A cache around any model: equal requests are asked once, in this run and in later ones."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from ..errors import CallError, ItemError, ReplyError
from ..schema import ModelIdentity, Usage, canonical_json
from ._config import CacheMode
from ._types import Capabilities, ChatModel, Completion, Request, TokenLogprob

_KEY_VERSION = "1"
_BODY_VERSION = 1


class ReplyStore(Protocol):
    """Where replies are kept; `store.ReplyCache` is one."""

    async def get(self, key: str) -> dict[str, object] | None:
        """Give the body of a key, or None."""
        ...

    async def put(self, key: str, body: dict[str, object]) -> None:
        """Keep a body; returns when it can't be lost any more."""
        ...


@runtime_checkable
class Wired(Protocol):
    """A model that can say what it would send, so that the key is made of that."""

    @property
    def address(self) -> str:
        """Where it sends it, without credentials."""
        ...

    @property
    def profile(self) -> object:
        """Another object whenever the way of sending requests has changed."""
        ...

    def wire(self, request: Request) -> bytes:
        """The bytes that it would send now."""
        ...


@dataclass(slots=True)
class _Flight:
    """One request in flight and how many wait for it."""

    task: asyncio.Task[Completion]
    waiters: int = 0
    claimed: bool = False
    """Whether a waiter has taken the reply's usage; the others must not count it again."""


class CachedModel:
    """A `ChatModel` that asks each distinct request once.

    The key is a hash of the request as it is sent (messages, schema, sampling, model name), the
    model's identity, the version of the code that reads the reply, and the replicate. While the
    hash of the model's weights is unknown, the address is part of it too: two servers may call
    different weights by one name. `Request.role` is no part of it.

    Equal requests in flight are joined, in every mode. A reply is stored before it is given
    back; a failure never is. Cancelling one of several waiters leaves the request running for the
    others; cancelling the last one cancels it.
    """

    def __init__(
        self, model: ChatModel, store: ReplyStore | None, *, mode: CacheMode = "use"
    ) -> None:
        """Wrap a model.

        Args:
            model: the model to ask.
            store: where replies are kept; None keeps none.
            mode: `use` reads and writes, `refresh` only writes, `off` does neither.
        """
        self._model = model
        self._wired = model if isinstance(model, Wired) else None
        self._store = None if mode == "off" else store
        self._reads = mode == "use"
        self._flights: dict[str, _Flight] = {}
        self._known_as: tuple[ModelIdentity, bytes] | None = None

    @property
    def identity(self) -> ModelIdentity:
        """That of the model."""
        return self._model.identity

    @property
    def capabilities(self) -> Capabilities:
        """Those of the model."""
        return self._model.capabilities

    @property
    def inner(self) -> ChatModel:
        """The model that is asked."""
        return self._model

    def key(self, request: Request) -> str:
        """The key of a request, 64 hex digits."""
        made = hashlib.sha256(self._identity_bytes())
        made.update(_generic(request) if self._wired is None else self._wired.wire(request))
        made.update(f"\x1f{request.parser_version}\x1f{request.replicate}".encode())
        return made.hexdigest()

    async def complete(self, request: Request) -> Completion:
        """Give the stored reply, join an equal request, or ask the model.

        Raises:
            CallError: as from the model.
            ReplyError: as from the model.
            StorageError: the cache can't be read or written.
        """
        key = self.key(request)
        flight = self._flights.get(key)
        if flight is None:
            task = asyncio.get_running_loop().create_task(self._fetch(key, request))
            flight = self._flights[key] = _Flight(task)
            task.add_done_callback(lambda done: self._land(key, done))
        flight.waiters += 1
        try:
            completion = await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            flight.waiters -= 1
            if flight.waiters == 0 and not flight.task.done():
                # Whoever asks the same from now on starts a new request.
                self._flights.pop(key, None)
                flight.task.cancel()
            raise
        except ItemError as error:
            if flight.claimed:
                raise _without_usage(error) from error
            flight.claimed = True
            raise
        if flight.claimed and not completion.cached:
            return replace(completion, cached=True, usage=Usage(cached_calls=1))
        flight.claimed = True
        return completion

    async def count_tokens(self, text: str) -> int:
        """As the model counts."""
        return await self._model.count_tokens(text)

    async def aclose(self) -> None:
        """Cancel what is in flight and close the model; the store stays open."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._model.aclose()

    async def _fetch(self, key: str, request: Request) -> Completion:
        store = self._store
        if store is not None and self._reads:
            kept = _from_body(await store.get(key))
            if kept is not None:
                return kept
        before = None if self._wired is None else self._wired.profile
        completion = await self._model.complete(request)
        if store is not None:
            body = _to_body(completion)
            await store.put(key, body)
            if self._wired is not None and self._wired.profile is not before:
                # The endpoint has taught the model another way to send requests. The next run
                # starts out with that way, so the reply must be found under it too.
                await store.put(self.key(request), body)
        return completion

    def _land(self, key: str, task: asyncio.Task[Completion]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()  # seen, even where every waiter was cancelled

    def _identity_bytes(self) -> bytes:
        identity = self._model.identity
        if self._known_as is None or self._known_as[0] is not identity:
            known = identity.model_dump(mode="json")
            if identity.weights_sha256 == "unknown" and self._wired is not None:
                known["address"] = self._wired.address
            text = f"{_KEY_VERSION}\x1f{canonical_json(known)}\x1f"
            self._known_as = (identity, text.encode("ascii"))
        return self._known_as[1]


def _generic(request: Request) -> bytes:
    """What stands for the wire where a model can't tell it."""
    material: dict[str, object] = {
        "messages": [[one.role, one.content] for one in request.messages],
        "sampling": request.sampling.model_dump(mode="json"),
        "schema": request.schema,
        "top_logprobs": request.top_logprobs,
    }
    return canonical_json(material).encode("ascii")


def _without_usage(error: ItemError) -> ItemError:
    """The same failure for another waiter, who has used nothing."""
    kind = ReplyError if isinstance(error, ReplyError) else CallError
    return kind(error.reason, error.what, where=error.where, todo=error.todo)


def _to_body(completion: Completion) -> dict[str, object]:
    body: dict[str, object] = {
        "v": _BODY_VERSION,
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "tokens": [completion.usage.prompt_tokens, completion.usage.completion_tokens],
    }
    if completion.reasoning is not None:
        body["reasoning"] = completion.reasoning
    if completion.logprobs is not None:
        body["logprobs"] = [
            # JSON has no infinity; None stands for "no probability at all".
            [one.token, _finite(one.logprob), [[t, _finite(p)] for t, p in one.top]]
            for one in completion.logprobs
        ]
    return body


def _finite(logprob: float) -> float | None:
    return None if logprob == float("-inf") else logprob


def _from_body(body: Mapping[str, object] | None) -> Completion | None:
    """A stored reply; None for none, or for one in a form of another version."""
    if body is None or body.get("v") != _BODY_VERSION:
        return None
    text, finish, reasoning = (body.get(name) for name in ("text", "finish_reason", "reasoning"))
    if not isinstance(text, str):
        return None
    logprobs = body.get("logprobs")
    return Completion(
        text=text,
        finish_reason=finish if isinstance(finish, str) else None,
        usage=Usage(cached_calls=1),
        reasoning=reasoning if isinstance(reasoning, str) else None,
        logprobs=tuple(_token(one) for one in logprobs) if isinstance(logprobs, list) else None,
        cached=True,
    )


def _token(one: list[object]) -> TokenLogprob:
    token, logprob, top = one
    pairs = top if isinstance(top, list) else []
    return TokenLogprob(str(token), _number(logprob), tuple((str(t), _number(p)) for t, p in pairs))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("-inf")
